import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { stripVTControlCharacters } from 'node:util';
import { describe, expect, it } from 'vitest';
import { lookInto, untrusted } from '../../model/text.ts';
import type { ScreenReading } from '../client.ts';
import { readScreen } from './screen-state.ts';

type Shows = ScreenReading['shows'];

const folder = path.join(path.dirname(fileURLToPath(import.meta.url)), '../../../test/fixtures/screens');

function screensIn(name: string): Map<string, string> {
  const files = readdirSync(path.join(folder, name));
  return new Map(
    files.map((file) => [file.replace(/(\.ansi)?\.txt$/, ''), readFileSync(path.join(folder, name, file), 'utf8')]),
  );
}

/** The same walk through the real client (test/clients/screens) in several kinds of terminal. */
const walks = ['120x40', '80x24-status-line', '50x20-screen', '100x30-inline'];

const walked: Record<string, Shows> = table({
  idle: `fresh draft stashed slash-menu file-menu shortcuts ctrl-c-once finished finished-queued interrupted taken-back
    own-shell-command-done scrolled cleared unfocused hooks-over permission-refused question-declined plan-mode api-error
    pink renamed context-low compacted context-low-no-auto context-limit background-shell background-agent-done
    limit-row-cancelled limit-dialog-left fake-said fake-printed fake-in-own-shell fake-drafted`,
  busy: `thinking streaming-first streaming streaming-quiet streaming-draft streaming-queued streaming-long
    tool after-tool two-tools own-shell-command scrolled-busy hook-before-prompt hook-before-tool hook-after-turn
    command-config-busy-left background-agent background-agent-later background-agent-draft background-agents
    fake-being-said fake-being-printed`,
  permission: `permission-bash permission-bash-long permission-write permission-webfetch permission-mcp permission-edit
    permission-edit-amend fake-in-permission`,
  question: `question question-own-words question-several question-two question-submit question-with-fake-box
    question-of-rules question-with-previews plan-empty plan`,
  setup: 'setup-trust setup-key setup-key-ctrl-c setup-bypass setup-tool-server setup-theme setup-security',
  dialog: `shell-mode history-search transcript-view-busy transcript-view command-help command-config command-model
    command-resume command-permissions command-hooks command-memory command-theme command-status command-tasks
    command-effort command-export command-skills command-add-dir rewind command-config-busy background-chosen
    background-agents-chosen subagent-view subagent-view-escaped subagent-view-over fake-in-transcript-view`,
  retrying: 'retrying-500 retrying-500-later retrying-429 retrying-refused',
  compacting: 'compacting compacting-by-itself',
  limited: 'limit-row limit-dialog',
  left: 'exited killed-bash killed-sh setup-key-left',
});

const recorded: Record<string, Shows> = table({
  idle: `05-idle-fresh 06-idle-statusline 07-idle-after-reply 10-idle-after-stream 11-nosl-streaming-end
    13-after-esc-interrupt 16-permission-after-enter 18-permission-esc 20-tool-done 21-bg-shell 24-529-retry 26-500-esc
    28-prompt-too-long 29-401 31-subagent-after 32-err-hook 33-stop-block 34-compacting 35-after-compact 36-after-clear
    41-after-queue 52-root-skip-settings 53-context-low 54-context-lower 55-autocompact 56-after-autocompact
    58-context-low-noautocompact 59-prompt-too-long-noautocompact 60-usage-limit-apikey 61-resumed 62-stash-restored 64-x
    65-context-cmd l2-01-start l2-02-allowed l2-03-warning l2-05-autocontinue-cancelled l2-07-autocontinued
    l2-10b-plain429-after l2-11-401 l2-12-403 l2-13-credit l2-14-model404 l2-15-toolong l2-16c-network-recovered
    l2-18-prompt-during-wait l2-20-limit-stop-and-wait l2-21-prompt-before-reset`,
  busy: '08-busy-1s 09-busy-streaming 12-busy-waiting-nosl 19-tool-running 30-subagent-running 40-queued-while-busy',
  permission: '14-permission-bash 15-permission-text-typed 17-permission-paste 23-permission-write',
  question: '22-askuserquestion',
  setup: '02-onb-only-completed 04-onb-trust 51-root-skip-sandbox',
  dialog: '44-escesc-idle',
  retrying: '25-500-retry 27-429-retry l2-10-plain429-retry l2-16-network l2-16b-network-later',
  compacting: '63-compact-in-progress',
  limited: `l2-04-limit-5h l2-06-limit-short l2-08-limit-seven_day l2-08-limit-seven_day_opus l2-08-limit-seven_day_sonnet
    l2-09-limit-out-of-credits l2-17-limit-midturn l2-19-limit-autocontinue-off`,
  left: '01-first-run-theme 03-trust-enter-exits 50-root-skip-perms 57-after-exit',
});

function table(names: Partial<Record<Shows, string>>): Record<string, Shows> {
  const rows = Object.entries(names).flatMap(([shows, list]) =>
    list.split(/\s+/).map((name): [string, Shows] => [name, shows as Shows]),
  );
  return Object.fromEntries(rows);
}

interface Golden {
  name: string;
  screen: string;
  truth: Shows;
}

const goldens: Golden[] = [
  ...walks.flatMap((walk) => truths(walk, (name) => walked[name])),
  ...truths('recorded', (name) => recorded[name]),
  ...truths('themes', (name) => (name.endsWith('-streaming') ? 'busy' : 'idle')),
  ...truths('api-stall', () => 'api-stall'),
];

function truths(set: string, truthOf: (name: string) => Shows | undefined): Golden[] {
  return [...screensIn(set)].map(([name, screen]) => {
    const truth = truthOf(name);
    if (truth === undefined) throw new Error(`nobody says what ${set}/${name} shows`);
    return { name: `${set}/${name}`, screen, truth };
  });
}

/** What cannot be told: the captures are without styles, the person scrolled back, or a shell wrote over the rest. */
const unsure: Record<string, 'box' | null> = {
  ...Object.fromEntries(walks.map((walk) => [`${walk}/scrolled`, 'box'])),
  ...Object.fromEntries(walks.flatMap((walk) => ['bash', 'sh'].map((shell) => [`${walk}/killed-${shell}`, null]))),
  ...Object.fromEntries(walks.map((walk) => [`${walk}/setup-key-left`, null])),
  // Its menu is longer than anything that is taken for a footer.
  '100x30-inline/slash-menu': null,
  'recorded/l2-01-start': 'box',
  'recorded/l2-05-autocontinue-cancelled': 'box',
};

const noTyping: Shows[] = ['permission', 'question', 'setup', 'dialog', 'left'];
const working: Shows[] = ['busy', 'retrying', 'api-stall', 'compacting', 'limited'];

function isDangerous(truth: Shows, reading: ScreenReading | null): boolean {
  if (reading === null) return false;
  if (noTyping.includes(truth)) return reading.takesPrompts || !noTyping.includes(reading.shows);
  return working.includes(truth) && reading.shows === 'idle';
}

describe('what a screen shows', () => {
  it.each(goldens)('$name: $truth', ({ name, screen, truth }) => {
    const reading = readScreen(screen);
    expect(reading?.shows ?? null).toBe(name in unsure ? unsure[name] : truth);
  });

  it('all told, nothing dangerous', () => {
    const told: Partial<Record<Shows, string>> = {};
    for (const truth of new Set(goldens.map((golden) => golden.truth))) {
      const readings = goldens.filter((golden) => golden.truth === truth).map(({ screen }) => readScreen(screen));
      const count = (is: (reading: ScreenReading | null) => boolean) => readings.filter(is).length;
      const right = count((reading) => reading?.shows === truth);
      const box = count((reading) => reading?.shows === 'box');
      const dangerous = count((reading) => isDangerous(truth, reading));
      told[truth] =
        `${readings.length}: ${right} right, ${box} box, ${count((one) => one === null)} null, ${dangerous} dangerous`;
    }
    expect(told).toMatchInlineSnapshot(`
      {
        "api-stall": "3: 3 right, 0 box, 0 null, 0 dangerous",
        "busy": "101: 101 right, 0 box, 0 null, 0 dangerous",
        "compacting": "9: 9 right, 0 box, 0 null, 0 dangerous",
        "dialog": "104: 104 right, 0 box, 0 null, 0 dangerous",
        "idle": "193: 187 right, 5 box, 1 null, 0 dangerous",
        "left": "20: 8 right, 0 box, 12 null, 0 dangerous",
        "limited": "16: 16 right, 0 box, 0 null, 0 dangerous",
        "permission": "36: 36 right, 0 box, 0 null, 0 dangerous",
        "question": "41: 41 right, 0 box, 0 null, 0 dangerous",
        "retrying": "21: 21 right, 0 box, 0 null, 0 dangerous",
        "setup": "31: 31 right, 0 box, 0 null, 0 dangerous",
      }
    `);
  });

  it('never more without styles than with them', () => {
    const wrong = goldens.filter(({ screen, truth }) => {
      const plain = readScreen(stripVTControlCharacters(screen));
      if (plain === null || plain.shows === 'box' || !plain.takesPrompts) return isDangerous(truth, plain);
      return isDangerous(truth, plain) || plain.shows !== readScreen(screen)?.shows;
    });
    expect(wrong.map(({ name }) => name)).toEqual([]);
  });

  it('the same with every row filled up to the edge', () => {
    const filled = (screen: string) =>
      screen
        .split('\n')
        .map((line) => `${line}${' '.repeat(20)}`)
        .join('\n');
    for (const { name, screen } of goldens) expect(readScreen(filled(screen)), name).toEqual(readScreen(screen));
  });

  it('nothing on the screens of other clients', () => {
    const read = [...screensIn('other-clients')].map(([name, screen]): [string, unknown] => [name, readScreen(screen)]);
    expect(read.filter(([, reading]) => reading !== null)).toEqual([]);
  });
});

describe('what else a screen tells', () => {
  const cases: [string, Partial<ScreenReading>][] = [
    ['recorded/14-permission-bash', { tool: 'Bash', takesPrompts: false }],
    ['recorded/23-permission-write', { tool: 'Write' }],
    ['120x40/permission-edit', { tool: 'Edit' }],
    ['120x40/permission-webfetch', { tool: 'WebFetch' }],
    ['120x40/permission-mcp', { tool: null }],
    ['recorded/19-tool-running', { tool: 'Bash', takesPrompts: true }],
    ['120x40/fake-being-said', { tool: null }],
    ['recorded/30-subagent-running', { subagents: 1 }],
    ['50x20-screen/background-agents', { subagents: 2 }],
    ['120x40/background-agent-done', { subagents: null }],
    ['recorded/53-context-low', { contextLeft: { percent: 1, of: 'usable' } }],
    ['recorded/58-context-low-noautocompact', { contextLeft: { percent: 1, of: 'usable' } }],
    ['50x20-screen/context-low', { contextLeft: { percent: 7, of: 'usable' } }],
    ['50x20-screen/context-low-no-auto', { contextLeft: { percent: 6, of: 'usable' } }],
    ['recorded/07-idle-after-reply', { contextLeft: null, resets: null, takesPrompts: true }],
    ['recorded/l2-04-limit-5h', { resets: untrusted('2:08pm'), takesPrompts: true }],
    ['recorded/l2-08-limit-seven_day', { resets: untrusted('Nov 18, 12:13pm'), takesPrompts: false }],
    ['120x40/shell-mode', { takesPrompts: false }],
    ['120x40/subagent-view', { takesPrompts: false }],
  ];
  it.each(cases)('%s', (name, told) => {
    const golden = goldens.find((one) => one.name === name);
    expect(readScreen(golden?.screen ?? '')).toMatchObject(told);
  });
});

it('what the client said long ago is not what it does, when somebody scrolled back to it', () => {
  const { screen = '' } = goldens.find(({ name }) => name === '80x24-status-line/scrolled') ?? {};
  const rows = screen.split('\n');
  const notice = rows.findLastIndex((row) => row.includes('(ctrl+End) ↓'));
  rows[notice - 1] = '\u001b[0m✻ Waiting for 2 background agents to finish';
  expect(readScreen(rows.join('\n'))).toMatchObject({ shows: 'box', subagents: null });
});

describe('what the agent says decides nothing', () => {
  const rule = '─'.repeat(60);
  const markers = [
    ...['esc to interrupt', '⏸ manual mode on · esc to interrupt', '⏸ manual mode on · ? for shortcuts'],
    ...['✻ API error · Retrying in 15s · attempt 1/10', '✻ Waiting for API response · will retry in 3m 18s'],
    ...[
      '✽ Compacting conversation… (1s)',
      '✻ Baked for 12s · done 10:42 AM',
      '✻ Waiting for 2 background agents to finish',
    ],
    ...['· Pondering… (3s · ↓ 20 tokens)', '⚠ Usage limit reached · limit resets 7:57pm', '7% until auto-compact'],
    ...[
      'Do you want to proceed?',
      '❯ 1. Yes',
      '2. No',
      'Esc to cancel · Tab to amend',
      'Enter to confirm · Esc to cancel',
    ],
    ...['Enter to select · ↑/↓ to navigate · Esc to cancel', '▔'.repeat(60), '❯\u00a0', `${rule}`, '● main', '◯ main'],
    ...[
      'Resume this session with:',
      'root@host:/srv# ',
      '◯ general-purpose  work',
      '⎿  $ sleep 6',
      'Press Enter to continue…',
    ],
    ...[
      'Jump to bottom',
      'Ready to submit your answers?',
      `${rule}\n❯\u00a0\n${rule}\n  ⏸ manual mode on · ? for shortcuts`,
    ],
  ];
  const boxed = goldens.filter(({ screen }) => readScreen(screen)?.takesPrompts === true);
  const hosts = boxed.filter(({ name }) =>
    /^(80x24-status-line\/(finished|streaming|tool)|120x40\/(retrying-500|background-agent)|api-stall\/.*)$/.test(name),
  );

  it.each(['  ', '     ', '     │ '])('in the conversation, indented by "%s"', (indent) => {
    const unchanged = ({ name, screen }: Golden, said: string) => {
      const before = readScreen(screen);
      const rows = said.split('\n').map((line) => `\u001b[0m${indent}${line}`);
      const after = readScreen(withSaid(screen, rows));
      // Said between a tool and the status row, it hides which tool runs.
      expect({ ...after, tool: before?.tool ?? after?.tool }, `${said} in ${name}`).toEqual(before);
    };
    for (const golden of boxed) unchanged(golden, markers.join('\n\n'));
    for (const golden of hosts) for (const marker of markers) unchanged(golden, marker);
  });

  it('a recorded screen of the client, printed by a tool above its box', () => {
    for (const host of hosts)
      for (const printed of goldens) {
        const rows = printed.screen.split('\n').map((line) => `\u001b[0m     ${line}\u001b[0m`);
        const { tool: _, ...before } = readScreen(host.screen) ?? {};
        expect(readScreen(withSaid(host.screen, rows)), `${printed.name} in ${host.name}`).toMatchObject(before);
      }
  }, 60_000);

  it('a recorded screen of the client, printed in a shell', () => {
    const fooled = goldens.filter(({ screen, truth }) => {
      const reading = readScreen(`${screen.trimEnd()}\u001b[0m\nroot@host:/srv# `);
      return reading !== null && reading.shows !== 'left' && truth !== 'left';
    });
    expect(fooled.map(({ name }) => name)).toEqual([]);
  });

  it.each(markers)('as a draft: %s', (marker) => {
    const { screen = '' } = goldens.find(({ name }) => name === '80x24-status-line/finished') ?? {};
    const drafted = screen.replace(/❯\u00a0.*/, () => `❯\u00a0${marker.split('\n').join('\n  ')}`);
    expect(readScreen(drafted)?.shows).toMatch(/^(idle|box)$/);
  });
});

/** Into the conversation, above the last block that the client itself wrote there. */
function withSaid(screen: string, said: string[]): string {
  const rows = screen.split('\n');
  const plain = rows.map((row) => stripVTControlCharacters(row));
  const bottom = plain.findLastIndex((row) => row.startsWith('────'));
  const top = plain.slice(0, bottom).findLastIndex((row) => row.startsWith('────'));
  const last = Math.max(
    0,
    plain.slice(0, top).findLastIndex((row) => /^\S/.test(row)),
  );
  // Its own words go on below their first row; a row of the client's may be wrapped.
  const isSpeech = plain[last]?.startsWith('●') === true;
  let at = isSpeech ? last + 1 : last;
  while (!isSpeech && at > 0 && /^\S/.test(plain[at - 1] ?? '')) at -= 1;
  return [...rows.slice(0, at), ...said, '', ...rows.slice(at)].join('\n');
}

describe('the row of a turn at work', () => {
  const tool = readFileSync(path.join(folder, '120x40/tool.ansi.txt'), 'utf8');
  const row = (inside: string, after = '') =>
    readScreen(tool.replace(/\(0s .*10 tokens\)/, `(${inside})`).replace('echo slept', `echo slept${after}`))?.turn;

  it('counts the tokens that came in', () => {
    expect(row('4s · ↓ 10 tokens')).toEqual({
      text: '✽ Cascading… (4s · ↓ 10 tokens)',
      counts: '10 ',
      heardWithinMs: null,
    });
    expect(row('4m 2s · ↓ 1.2k tokens · thought for 9s')).toMatchObject({ counts: '1.2k ', heardWithinMs: null });
  });

  it('and the lines of a command', () => {
    expect(row('9s · ↓ 10 tokens', ' (9s · 1 line)')?.counts).toBe('10 1');
    expect(row('11m 9s · ↓ 10 tokens', ' (11m 9s · 1,234 lines)')?.counts).toBe('10 1,234');
    // Seconds that go by are no sign of life.
    expect(row('12m 9s · ↓ 10 tokens', ' (12m 9s · 1,234 lines)')?.counts).toBe('10 1,234');
    expect(row('9s · ↓ 10 tokens', '; echo 5 lines')?.counts).toBe('10 ');
    const apart = tool
      .replace(/\n(?=[^\n]*Cascading)/, '\n'.repeat(20))
      .replace('echo slept', 'echo slept (9s · 7 lines)');
    expect(readScreen(apart)).toMatchObject({ tool: 'Bash', turn: { counts: '10 7' } });
  });

  it.each(['thinking', 'still thinking', 'thinking some more', 'deep in thought', 'picking the thought back up'])(
    'that the model is %s',
    (words) => expect(row(`4m 2s · ${words}`)).toMatchObject({ counts: ' ', heardWithinMs: 50_000 }),
  );

  it('nothing where there is none, or where it tells of trouble', () => {
    const turnOf = (name: string) => readScreen(readFileSync(path.join(folder, `${name}.ansi.txt`), 'utf8'))?.turn;
    expect(turnOf('120x40/finished')).toBeNull();
    expect(turnOf('120x40/retrying-500')).toBeNull();
    expect(turnOf('120x40/compacting')).toBeNull();
    for (const [name, screen] of screensIn('api-stall')) expect(readScreen(screen)?.turn, name).toBeNull();
  });
});

describe('what a dialog asks, where nobody else knows', () => {
  const asks = (name: string) => {
    const text = readScreen(readFileSync(path.join(folder, '80x24-status-line', `${name}.ansi.txt`), 'utf8'))?.asks;
    return text === undefined ? null : lookInto(text);
  };

  it.each([
    ['permission-bash', 'Bash command Make a file touch made Do you want to proceed?'],
    ['permission-write', 'Create file new.txt 1 hello 2 there Do you want to create new.txt?'],
    [
      'permission-mcp',
      'Tool use desk — Ring Tool: (MCP) times: 3 About the desk — Ring Tool: Rings Do you want to proceed?',
    ],
  ])('%s', (name, expected) => expect(asks(name)).toBe(expected));

  it('a secret that goes on in the next row is none for the reader', () => {
    const screen = readFileSync(path.join(folder, '80x24-status-line', 'permission-bash.ansi.txt'), 'utf8');
    const token = `sk-ant-api03-${'Ab1'.repeat(32)}`;
    const wrapped = screen.replaceAll('touch made', `${token.slice(0, 40)}\n   ${token.slice(40)}`);
    const text = lookInto(readScreen(wrapped)?.asks ?? untrusted(''));
    expect(text).toContain('[redacted]');
    expect(text).not.toContain('Ab1Ab1');
  });

  it('of a screen for the start, too', () => {
    expect(asks('setup-trust')).toMatch(/^Accessing workspace: \S+ Quick safety check: Is this a project you created/);
  });
});
