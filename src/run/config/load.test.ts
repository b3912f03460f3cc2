import { execFileSync } from 'node:child_process';
import { chmodSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { recipeFor } from '../../decide/handoff/recipe.ts';
import { defaultTemplates } from '../../decide/templates.ts';
import { checkConfigFile, loadConfig } from './load.ts';
import { formatProblem } from './problem.ts';
import { configBytesMax } from './read.ts';
import { defaultConfig } from './schema.ts';

let root = '';
let home = '';
let projectDir = '';
let machineFile = '';
let projectFile = '';

beforeEach(() => {
  root = mkdtempSync(path.join(tmpdir(), 'wk-config-'));
  home = path.join(root, 'home');
  projectDir = path.join(root, 'project');
  machineFile = path.join(home, '.config/watchkeeper/config.yaml');
  projectFile = path.join(projectDir, 'watchkeeper.yaml');
  mkdirSync(path.dirname(machineFile), { recursive: true });
  mkdirSync(projectDir);
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

const load = (file: string | null = null) => loadConfig({ file, home, projectDir });

function good(file: string | null = null) {
  const loaded = load(file);
  if (!loaded.ok) throw new Error(loaded.problems.map(formatProblem).join('\n'));
  return loaded.value;
}

/** The problems as lines, with the directory taken out. */
function bad(file: string | null = null): string[] {
  const loaded = load(file);
  if (loaded.ok) throw new Error('expected problems');
  return loaded.problems.map((problem) => formatProblem(problem).replaceAll(`${root}/`, ''));
}

const machineBad = (yaml: string | Buffer) => {
  writeFileSync(machineFile, yaml);
  return bad().map((line) => line.replace('home/.config/watchkeeper/config.yaml', 'F'));
};
const projectBad = (machine: string, project: string) => {
  writeFileSync(machineFile, machine);
  writeFileSync(projectFile, project);
  return bad().map((line) => line.replace('project/watchkeeper.yaml', 'P'));
};

const topKeys =
  'mode, tickSeconds, healthIntervalMinutes, retentionDays, agents, prompt, spawn, stall, waiting, judging, bands, handoff, notify, templates, clients';

describe('where the configuration comes from', () => {
  it('has the pinned defaults without any file', () => {
    const { config, origins, files } = good();
    expect(config).toEqual({
      mode: 'act',
      tickSeconds: 2,
      healthIntervalMinutes: 10,
      retentionDays: 30,
      agents: [{ match: '*-ps', authority: 'manage' }],
      projectAgents: null,
      prompt: { minIntervalMinutes: 5, humanQuietSeconds: 30, answerSeconds: 30 },
      spawn: { stallMinutes: 15, abandonMinutes: 30, progressMinutes: 10, progress: 'auto' },
      stall: { thinkingMinutes: 5, toolMinutes: 10, mcpMinutes: 15, subagentMinutes: 15 },
      waiting: { notifyMinutes: 2, repeatMinutes: 30 },
      judging: {
        startMinutes: 5,
        completion: [],
        completionMinutes: 1,
        massCount: 3,
        massPercent: 30,
        massMinutes: 5,
        sameFile: 5,
        errorFactor: 3,
        burnTokens: 150_000,
        costFactor: 4,
        cachePercent: 30,
        efficiencyFactor: 4,
        decayTokens: 80_000,
        entropyPercent: 50,
      },
      bands: [30, 50, 70, 85],
      handoff: {
        atPercent: 85,
        deadlineMinutes: 5,
        dir: '.watchkeeper/handoffs',
        maxParallel: 2,
        compaction: 'forestall',
        waitForBackground: true,
        recipe: 'document',
        recipes: [],
      },
      notify: [],
      templates: defaultTemplates(),
      clients: { claudeCode: { configDirs: [] } },
    });
    expect(new Set(Object.values(origins))).toEqual(new Set(['default']));
    expect(files.map((file) => [file.role, file.found])).toEqual([
      ['machine', false],
      ['project', false],
    ]);
  });

  it("takes seed 002's checkpoint, clear and rehydrate at 50 % as a second recipe", () => {
    writeFileSync(
      machineFile,
      [
        'handoff:',
        '  recipes:',
        '    - name: tina',
        '      match: "*-team-lead"',
        '      atPercent: 50',
        '      ask: /tina:checkpoint',
        '      file: .tina/phase-*/handoff.md',
        '      resume: /tina:rehydrate',
        '  waitForBackground: 2.5',
      ].join('\n'),
    );
    const { handoff } = good().config;
    expect(handoff).toMatchObject({ recipe: 'document', atPercent: 85, waitForBackground: 2.5 });
    expect(recipeFor('demo-team-lead', handoff)).toEqual({
      name: 'tina',
      match: '*-team-lead',
      atPercent: 50,
      ask: '/tina:checkpoint',
      file: '.tina/phase-*/handoff.md',
      resume: '/tina:rehydrate',
    });
    expect(recipeFor('demo-ps', handoff)).toBeNull();
  });

  it.each([
    ['an empty file', ''],
    ['only comments', '# nothing yet\n'],
    ['only a document start', '---\n'],
    ['an empty mapping', '{}\n'],
    ['a byte order mark', '\ufeff# nothing\n'],
  ])('takes %s as defaults', (_name, yaml) => {
    writeFileSync(machineFile, yaml);
    expect(good().config).toEqual(defaultConfig());
  });

  it('names file and line of every value that is not a default', () => {
    writeFileSync(machineFile, 'mode: watch\nprompt:\n  # slower\n  minIntervalMinutes: 7.5\n');
    writeFileSync(projectFile, '\ntickSeconds: 0.5\n');
    const { config, origins } = good();
    expect(config).toMatchObject({
      mode: 'watch',
      tickSeconds: 0.5,
      prompt: { minIntervalMinutes: 7.5, answerSeconds: 30 },
    });
    expect(origins.mode).toBe(`${machineFile}:1`);
    expect(origins['prompt.minIntervalMinutes']).toBe(`${machineFile}:4`);
    expect(origins.tickSeconds).toBe(`${projectFile}:2`);
    expect(origins['prompt.answerSeconds']).toBe('default');
  });

  it('reads the named file instead of the one in the home directory', () => {
    writeFileSync(machineFile, 'mode: watch\n');
    const named = path.join(root, 'other.yaml');
    writeFileSync(named, 'tickSeconds: 9\n');
    expect(good(named).config).toMatchObject({ mode: 'act', tickSeconds: 9 });
  });

  it('refuses a named file that does not exist', () => {
    expect(bad('nowhere.yaml')).toEqual([
      'project/nowhere.yaml: no such file: a configuration file that is named has to exist',
    ]);
  });

  it('takes an empty WATCHKEEPER_CONFIG as none', () => {
    expect(good('').config).toEqual(defaultConfig());
  });

  it("takes the project's file as the machine's when it is named, and only once", () => {
    writeFileSync(projectFile, 'notify: [{channel: ops, type: desktop}]\n');
    expect(good('watchkeeper.yaml').config.notify).toEqual([{ channel: 'ops', type: 'desktop' }]);
    symlinkSync(projectFile, path.join(root, 'link.yaml'));
    expect(good(path.join(root, 'link.yaml')).files).toHaveLength(1);
  });

  it('follows a symlink to a file kept elsewhere', () => {
    writeFileSync(path.join(root, 'dotfiles.yaml'), 'mode: watch\n');
    symlinkSync(path.join(root, 'dotfiles.yaml'), machineFile);
    expect(good().config.mode).toBe('watch');
  });

  it('puts the home directory for ~', () => {
    writeFileSync(
      machineFile,
      'clients: {claudeCode: {configDirs: [~/.claude-two, /srv/c]}}\nhandoff: {dir: ~/handoffs}\n',
    );
    const { config } = good();
    expect(config.clients.claudeCode.configDirs).toEqual([path.join(home, '.claude-two'), '/srv/c']);
    expect(config.handoff.dir).toBe(path.join(home, 'handoffs'));
  });

  it('takes other words for one prompt and leaves the rest', () => {
    writeFileSync(machineFile, 'templates:\n  continue: "Weiter nach {error}, bitte."\n');
    const { config, origins } = good();
    expect(config.templates).toEqual({ ...defaultTemplates(), continue: 'Weiter nach {error}, bitte.' });
    expect(origins['templates.continue']).toBe(`${machineFile}:2`);
    expect(origins['templates.stalled']).toBe('default');
  });

  it('takes every kind of receiver', () => {
    const notify = [
      { channel: 'ops', type: 'command', command: ['/usr/bin/tell', '--now'] },
      { channel: 'ops', type: 'webhook', url: 'http://127.0.0.1:9/x' },
      { channel: 'ops', type: 'webhook', urlEnv: 'HOOK_URL', tokenEnv: 'HOOK_TOKEN' },
      { channel: 'phone', type: 'ntfy', url: 'https://ntfy.sh/topic', tokenEnv: 'NTFY' },
      { channel: 'team', type: 'slack', urlEnv: 'SLACK_URL' },
      { channel: 'team', type: 'discord', urlEnv: 'DISCORD_URL' },
      { channel: 'me', type: 'desktop' },
    ];
    writeFileSync(machineFile, JSON.stringify({ notify }));
    expect(good().config.notify).toEqual(notify);
  });
});

describe('a bad value is named with file, line, column, key, what was found and what is allowed', () => {
  const minutes = 'a number greater than 0 and at most 525600';
  it.each<[string, string, string[]]>([
    [
      'a negative time',
      'prompt:\n  minIntervalMinutes: -1\n',
      [`F:2:23: prompt.minIntervalMinutes: -1 is not allowed: ${minutes}`],
    ],
    ['zero minutes', 'stall: {toolMinutes: 0}', [`F:1:22: stall.toolMinutes: 0 is not allowed: ${minutes}`]],
    ['a number as text', 'tickSeconds: "2"', ['F:1:14: tickSeconds: "2" is not allowed: a number from 0.1 to 60']],
    ['a tick too short', 'tickSeconds: 0.09', ['F:1:14: tickSeconds: 0.09 is not allowed: a number from 0.1 to 60']],
    ['an endless tick', 'tickSeconds: .inf', ['F:1:14: tickSeconds: Infinity is not allowed: a number from 0.1 to 60']],
    [
      'no number',
      'retentionDays: .nan',
      ['F:1:16: retentionDays: NaN is not allowed: a number greater than 0 and at most 3650'],
    ],
    ['an unknown mode', 'mode: acts', ['F:1:7: mode: "acts" is not allowed: one of: act, watch']],
    [
      'an empty section',
      'spawn:\n',
      [
        'F:1:1: spawn: an empty value is not allowed: a mapping with the keys: stallMinutes, abandonMinutes, progressMinutes, progress',
      ],
    ],
    [
      'a number for a section',
      'spawn: 3',
      [
        'F:1:8: spawn: 3 is not allowed: a mapping with the keys: stallMinutes, abandonMinutes, progressMinutes, progress',
      ],
    ],
    [
      'bands out of order',
      'bands: [30, 50, 50, 85]',
      ['F:1:8: bands: [30,50,50,85] is not allowed: four ascending numbers greater than 0 and less than 100'],
    ],
    [
      'three bands',
      'bands: [30, 50, 70]',
      ['F:1:8: bands: [30,50,70] is not allowed: four ascending numbers greater than 0 and less than 100'],
    ],
    [
      'a band at the end',
      'bands: [30, 50, 70, 100]',
      ['F:1:21: bands[3]: 100 is not allowed: a number greater than 0 and less than 100'],
    ],
    [
      'half a handoff',
      'handoff: {maxParallel: 1.5}',
      ['F:1:24: handoff.maxParallel: 1.5 is not allowed: a whole number from 1 to 100'],
    ],
    [
      'a way out of the project',
      'handoff: {dir: a/../../b}',
      [
        'F:1:16: handoff.dir: "a/../../b" is not allowed: a path inside the project (relative, without ..), an absolute path or one that starts with ~/',
      ],
    ],
    [
      'a relative config directory',
      'clients: {claudeCode: {configDirs: [x]}}',
      ['F:1:37: clients.claudeCode.configDirs[0]: "x" is not allowed: an absolute path or one that starts with ~/'],
    ],
    [
      'a rule without authority',
      'agents:\n  - match: a\n',
      ['F:2:5: agents[0].authority: missing: one of: observe, nudge, manage'],
    ],
    [
      'an unknown authority',
      'agents: [{match: a, authority: root}]',
      ['F:1:32: agents[0].authority: "root" is not allowed: one of: observe, nudge, manage'],
    ],
    [
      'an unknown receiver',
      'notify: [{channel: a, type: fax}]',
      ['F:1:29: notify[0].type: "fax" is not allowed: one of: command, webhook, ntfy, slack, discord, desktop'],
    ],
    [
      'a receiver that is a word',
      'notify: [slack]',
      ['F:1:10: notify[0]: "slack" is not allowed: a mapping with channel, type and what that type needs'],
    ],
    [
      'no command',
      'notify: [{channel: a, type: command, command: []}]',
      ['F:1:47: notify[0].command: [] is not allowed: a list of words, the program first'],
    ],
    [
      'neither url nor urlEnv',
      'notify: [{channel: a, type: webhook}]',
      ['F:1:10: notify[0]: this mapping is not allowed: exactly one of url and urlEnv'],
    ],
    [
      'both url and urlEnv',
      'notify: [{channel: a, type: ntfy, url: "https://a", urlEnv: B}]',
      ['F:1:10: notify[0]: this mapping is not allowed: exactly one of url and urlEnv'],
    ],
    [
      'a slot of another template',
      'templates:\n  continue: "go on after {minutes}"\n',
      [
        'F:2:13: templates.continue: "go on after {minutes}" is not allowed: it has no slot {minutes}; allowed is one line of at most 1000 characters with the slots {error}',
      ],
    ],
    [
      'a slot where there is none',
      'templates: {contextCheck: "how full, {task}?"}',
      [
        'F:1:27: templates.contextCheck: "how full, {task}?" is not allowed: it has no slot {task}; allowed is one line of at most 1000 characters without slots',
      ],
    ],
    [
      'two bad templates',
      'templates:\n  stalled: "/clear"\n  handoff: "hand off, {why}"\n',
      [
        'F:2:12: templates.stalled: "/clear" is not allowed: a leading `/` would make it a command of the client; allowed is one line of at most 1000 characters with the slots {minutes}, {activity}',
        'F:3:12: templates.handoff: "hand off, {why}" is not allowed: it lacks {file}; allowed is one line of at most 1000 characters with the slots {why}, {file}, {nonce}, {background}',
      ],
    ],
    [
      'a template that is no text',
      'templates: {stalled: 3}',
      ['F:1:22: templates.stalled: 3 is not allowed: one line of text'],
    ],
    [
      'an unknown template',
      'templates: {spawn-update: hello}',
      [
        'F:1:13: templates: unknown key `spawn-update`: did you mean `spawnUpdate`? Allowed: spawnUpdate, spawnStalled, spawnFailed, spawnAbandoned, contextCheck, highContext, handoff, handoffAgain, handoffResume, continue, stalled',
      ],
    ],
    [
      "a recipe that says the client's own commands",
      'handoff:\n  recipes:\n    - {name: x, ask: /clear, file: a.md, resume: /resu}\n',
      [
        'F:3:22: handoff.recipes[0].ask: "/clear" is not allowed: /clear is a command of the client itself',
        'F:3:50: handoff.recipes[0].resume: "/resu" is not allowed: /resume is a command of the client itself',
      ],
    ],
    [
      'a recipe that is half, called like ours, or looks elsewhere',
      'handoff: {recipes: [{name: document, ask: Save it., file: ../a.md}]}',
      [
        'F:1:21: handoff.recipes[0].resume: missing: one line: a prompt, or a command of your own that starts with /',
        'F:1:28: handoff.recipes[0].name: "document" is not allowed: another name than document, which is built in',
        'F:1:59: handoff.recipes[0].file: "../a.md" is not allowed: a path inside the project (relative, without ..), where * stands for any characters of one name',
      ],
    ],
    [
      'a recipe that there is not',
      'handoff: {recipe: tina}',
      ['F:1:19: handoff.recipe: "tina" is not allowed: one of: document'],
    ],
    [
      'two recipes of one name',
      'handoff:\n  recipes:\n    - {name: a, ask: Save it., file: a.md, resume: Go on.}\n    - {name: a, ask: Save it., file: a.md, resume: Go on.}\n',
      ['F:4:14: handoff.recipes[1].name: "a" is not allowed: a name no other recipe has'],
    ],
    [
      'a wait that is none',
      'handoff: {waitForBackground: long, compaction: never}',
      [
        'F:1:30: handoff.waitForBackground: "long" is not allowed: true, false or a number of minutes greater than 0 and at most 525600',
        'F:1:48: handoff.compaction: "never" is not allowed: one of: forestall, leave',
      ],
    ],
    [
      'a list at the top',
      '- mode: act\n',
      [`F:1:1: a list at the top is not allowed: a mapping with the keys: ${topKeys}`],
    ],
    ['a word at the top', 'act\n', [`F:1:1: "act" is not allowed: a mapping with the keys: ${topKeys}`]],
  ])('%s', (_name, yaml, lines) => {
    expect(machineBad(yaml)).toEqual(lines);
  });

  it.each([
    ['ftp', 'ftp://a/b'],
    ['a file', 'file:///etc/passwd'],
    ['a script', 'javascript:alert(1)'],
    ['no host', 'https://'],
    ['a password in it', 'https://me:hunter2@a/'],
  ])('refuses %s as a URL, once and without repeating it', (_name, url) => {
    expect(machineBad(JSON.stringify({ notify: [{ channel: 'a', type: 'webhook', url }] }))).toEqual([
      expect.stringMatching(/^F:1:\d+: notify\[0\]\.url: this value is not allowed: an http or https URL/),
    ]);
  });

  it('does not repeat a secret put where the name of a variable belongs', () => {
    const lines = machineBad('notify: [{channel: a, type: slack, urlEnv: "https://hooks.slack.com/T0/s3cret"}]');
    expect(lines).toHaveLength(1);
    expect(lines.join()).not.toContain('s3cret');
  });

  it('reports all problems, of both files, in the order of the lines', () => {
    expect(
      projectBad('mode: no\ntickSeconds: 99\n', 'bands: 3\nwaitin: {}\n').map((line) => line.split(' ')[0]),
    ).toEqual([
      'home/.config/watchkeeper/config.yaml:1:7:',
      'home/.config/watchkeeper/config.yaml:2:14:',
      'P:1:8:',
      'P:2:1:',
    ]);
  });

  it('stops listing after a hundred', () => {
    const lines = machineBad(Array.from({ length: 5_000 }, (_, index) => `k${index}: 1\n`).join(''));
    expect(lines).toHaveLength(101);
    expect(lines.at(-1)).toBe('F: and 4900 more problems');
  });

  it('keeps the result usable as one message', () => {
    writeFileSync(machineFile, 'mode: no\ntickSeconds: 99\n');
    const loaded = load();
    expect(loaded).toMatchObject({ ok: false, reason: 'bad-config' });
    expect(!loaded.ok && loaded.message).toMatch(/config\.yaml:1:7: mode: "no" is not allowed: .* \(and 1 more\)$/);
  });
});

describe('an unknown key is an error that says what was meant', () => {
  it.each([
    [
      'a letter short',
      'tickSecond: 2',
      `F:1:1: unknown key \`tickSecond\`: did you mean \`tickSeconds\`? Allowed: ${topKeys}`,
    ],
    [
      'snake case',
      'tick_seconds: 2',
      `F:1:1: unknown key \`tick_seconds\`: did you mean \`tickSeconds\`? Allowed: ${topKeys}`,
    ],
    ['nothing like it', 'colour: red', `F:1:1: unknown key \`colour\`: allowed: ${topKeys}`],
    ['a prototype', '__proto__: {mode: watch}', `F:1:1: unknown key \`__proto__\`: allowed: ${topKeys}`],
    ['a merge key', '<<: {mode: watch}', `F:1:1: unknown key \`<<\`: allowed: ${topKeys}`],
    [
      'the unit left out',
      'prompt:\n  minInterval: 3\n',
      'F:2:3: prompt: unknown key `minInterval`: did you mean `minIntervalMinutes`? Allowed: minIntervalMinutes, humanQuietSeconds, answerSeconds',
    ],
    ['another client', 'clients: {codex: {}}', 'F:1:11: clients: unknown key `codex`: allowed: claudeCode'],
  ])('%s', (_name, yaml, line) => {
    expect(machineBad(yaml)).toEqual([line]);
  });
});

describe('a file that cannot be taken is one line', () => {
  it.each<[string, string | Buffer, RegExp]>([
    ['an open list', 'mode: act\nbands: [1, 2\n', /^F:3:1: not valid YAML: Flow sequence /],
    [
      'a tab as indentation',
      'prompt:\n\tanswerSeconds: 3\n',
      /^F:2:1: not valid YAML: a tab as indentation: use spaces$/,
    ],
    ['a key given twice', 'mode: act\nmode: watch\n', /^F:2:1: mode: given twice: a key may stand once$/],
    [
      'a key given twice further in',
      'stall: {toolMinutes: 1, toolMinutes: 2}',
      /^F:1:25: stall\.toolMinutes: given twice/,
    ],
    ['a list as key', '? [a]\n: 1\n', /^F:1:3: not valid YAML: a key has to be plain text$/],
    ['a second document', 'mode: act\n---\nmode: watch\n', /^F:2:1: a second YAML document: one file holds one$/],
    ['an unknown tag', 'mode: !run act\n', /^F:1:7: not valid YAML: Unresolved tag: !run$/],
    ['an unknown directive', '%RUN x\n---\nmode: act\n', /^F:1:1: not valid YAML: Unknown directive %RUN$/],
    ['a byte that is no UTF-8', Buffer.from('mode: act\n# \xe9t\xe9\n', 'latin1'), /^F:2:1: is not UTF-8: /],
    ['UTF-16', Buffer.from('\ufeffmode: act\n', 'utf16le'), /^F:1:1: is not UTF-8: /],
    ['a zero byte', 'mode: act\n\0\n', /^F:2:1: holds a control character: /],
    ['an escape character', 'mode: \x1b[31mact\n', /^F:1:1: holds a control character: /],
    ['more than 1 MB', `#${'x'.repeat(configBytesMax)}`, /^F: is larger than 1048576 bytes: /],
    ['nesting without end', '['.repeat(20_000), /^F:1:\d+: is nested deeper than 32 levels: /],
    ['nested mappings without end', '{a: '.repeat(10_000), /^F:1:\d+: is nested deeper than 32 levels: /],
    ['a million brackets', '['.repeat(1_000_000), /^F:1:1: has more than 100000 YAML tokens: /],
  ])('%s', (_name, content, pattern) => {
    const lines = machineBad(content);
    expect(lines).toHaveLength(1);
    expect(lines[0]).toMatch(pattern);
  });

  it('an alias, and so an alias bomb, is refused and not expanded', () => {
    const bomb = ['a0: &a0 [x, x]'];
    for (let level = 1; level < 30; level += 1) bomb.push(`a${level}: &a${level} [*a${level - 1}, *a${level - 1}]`);
    const lines = machineBad(bomb.join('\n'));
    expect(lines[0]).toMatch(/^F:2:10: a1\[0\]: an alias \(\*\) is not supported: write the value out$/);
    expect(lines).toHaveLength(58);
  });

  it('a directory', () => {
    mkdirSync(machineFile);
    expect(bad()).toEqual(['home/.config/watchkeeper/config.yaml: is a directory: a YAML file is needed']);
  });

  it('a named pipe, without waiting for a writer', () => {
    execFileSync('mkfifo', [projectFile]);
    expect(bad()).toEqual(['project/watchkeeper.yaml: is not a regular file: a YAML file is needed']);
  });

  it('a circle of links', () => {
    symlinkSync(machineFile, machineFile);
    expect(bad()).toEqual([expect.stringMatching(/config\.yaml: cannot be opened \(ELOOP\): /)]);
  });

  it.skipIf(process.getuid?.() === 0)('a file without permission', () => {
    writeFileSync(machineFile, 'mode: act\n');
    chmodSync(machineFile, 0);
    expect(bad()).toEqual([expect.stringMatching(/config\.yaml: cannot be read \(permission denied\): /)]);
  });

  it.each([
    ['a value', 'mode: "\\e[2J\\u202eact\\n\\ud800"', '"\\x1b[2J\\u{202e}act\\n\ufffd"'],
    ['a key', '"\\e]0;x\\a": 1', '`\\x1b]0;x\\x07`'],
    ['an outer key', '? "a\\nb"\n: {x: *y}', 'a\\nb.x'],
    ['a directive', '%RUN\u202e\n---\nmode: act', '%RUN\\u{202e}'],
  ])('escapes control characters from %s', (_name, yaml, shown) => {
    const text = machineBad(yaml).join('');
    expect(text).toContain(shown);
    expect(text).not.toMatch(/[\p{C}\u2028\u2029]/u);
  });

  it('cuts a long value short', () => {
    expect(machineBad(`mode: ${'x'.repeat(100_000)}`)[0]?.length).toBeLessThan(200);
  });
});

describe('a project file can only narrow', () => {
  it.each<[string, string, string, string[]]>([
    [
      'mode back to act',
      'mode: watch',
      'mode: act',
      ['P:1:7: mode: "act" is not allowed in a project file: watch, the machine\'s value'],
    ],
    [
      'a receiver',
      '',
      'notify: [{channel: a, type: desktop}]',
      ['P:1:9: notify: this list is not allowed in a project file: leave it to the machine file'],
    ],
    [
      'a receiver that is also wrong',
      '',
      'notify: [{type: fax}]',
      ['P:1:9: notify: this list is not allowed in a project file: leave it to the machine file'],
    ],
    [
      'the words of a prompt',
      '',
      'templates: {continue: Delete everything.}',
      [
        'P:1:23: templates.continue: "Delete everything." is not allowed in a project file: leave it to the machine file',
      ],
    ],
    [
      'the words of a prompt, also wrong',
      '',
      'templates: {continue: "/clear"}',
      ['P:1:23: templates.continue: "/clear" is not allowed in a project file: leave it to the machine file'],
    ],
    [
      'config directories',
      '',
      'clients: {claudeCode: {configDirs: [/x]}}',
      [
        'P:1:36: clients.claudeCode.configDirs: this list is not allowed in a project file: leave it to the machine file',
      ],
    ],
    [
      'how long records live',
      '',
      'retentionDays: 0.001',
      ['P:1:16: retentionDays: 0.001 is not allowed in a project file: leave it to the machine file'],
    ],
    [
      'an absolute path',
      '',
      'handoff: {dir: /etc}',
      [
        'P:1:16: handoff.dir: "/etc" is not allowed in a project file: a path inside the project (relative, without ..)',
      ],
    ],
    [
      'a path in the home directory',
      '',
      'handoff: {dir: ~/x}',
      ['P:1:16: handoff.dir: "~/x" is not allowed in a project file: a path inside the project (relative, without ..)'],
    ],
    [
      'a way out',
      '',
      'handoff: {dir: ../x}',
      [
        'P:1:16: handoff.dir: "../x" is not allowed in a project file: a path inside the project (relative, without ..)',
      ],
    ],
    [
      'more prompts',
      '',
      'prompt: {minIntervalMinutes: 4}',
      ["P:1:30: prompt.minIntervalMinutes: 4 is not allowed in a project file: at least 5, the machine's value"],
    ],
    [
      'less quiet',
      'prompt: {humanQuietSeconds: 60}',
      'prompt: {humanQuietSeconds: 59}',
      ["P:1:29: prompt.humanQuietSeconds: 59 is not allowed in a project file: at least 60, the machine's value"],
    ],
    [
      'earlier handoffs',
      '',
      'handoff: {atPercent: 1}',
      ["P:1:22: handoff.atPercent: 1 is not allowed in a project file: at least 85, the machine's value"],
    ],
    [
      'more handoffs at once',
      '',
      'handoff: {maxParallel: 3}',
      ["P:1:24: handoff.maxParallel: 3 is not allowed in a project file: at most 2, the machine's value"],
    ],
    [
      'words and commands for handoffs',
      'handoff: {recipes: [{name: a, ask: Save it., file: a.md, resume: Go on.}]}',
      'handoff:\n  recipe: a\n  recipes: [{name: b, ask: /b, file: b.md, resume: /b}]\n',
      [
        'P:2:11: handoff.recipe: "a" is not allowed in a project file: leave it to the machine file',
        'P:3:12: handoff.recipes: this list is not allowed in a project file: leave it to the machine file',
      ],
    ],
    [
      'handoffs that do not wait, or come before a compaction that is left to the client',
      'handoff: {compaction: leave}',
      'handoff: {waitForBackground: false, compaction: forestall}',
      [
        "P:1:30: handoff.waitForBackground: false is not allowed in a project file: true, or the machine's value",
        'P:1:49: handoff.compaction: "forestall" is not allowed in a project file: leave, or the machine\'s value',
      ],
    ],
    [
      'more repeated messages',
      '',
      'waiting: {repeatMinutes: 1}',
      ["P:1:26: waiting.repeatMinutes: 1 is not allowed in a project file: at least 30, the machine's value"],
    ],
  ])('not: %s', (_name, machine, project, lines) => {
    expect(projectBad(machine, project)).toEqual(lines);
  });

  it.each<[string, string, string, object]>([
    ['mode down to watch', 'mode: act', 'mode: watch', { mode: 'watch' }],
    ['mode as it is', 'mode: watch', 'mode: watch', { mode: 'watch' }],
    ['fewer prompts', '', 'prompt: {minIntervalMinutes: 6}', { prompt: { minIntervalMinutes: 6, answerSeconds: 30 } }],
    [
      'the value of the machine',
      'handoff: {maxParallel: 5}',
      'handoff: {maxParallel: 5}',
      { handoff: { maxParallel: 5 } },
    ],
    [
      'when a stall is noticed',
      '',
      'stall: {toolMinutes: 0.05}\ntickSeconds: 0.2',
      { stall: { toolMinutes: 0.05 }, tickSeconds: 0.2 },
    ],
    [
      'a directory inside the project',
      '',
      'handoff: {dir: docs/handoffs}',
      { handoff: { dir: 'docs/handoffs', atPercent: 85 } },
    ],
    [
      'its own rules, beside those of the machine',
      'agents: [{match: "*", authority: nudge}]',
      'agents: [{match: "*", authority: manage}]',
      { agents: [{ match: '*', authority: 'nudge' }], projectAgents: [{ match: '*', authority: 'manage' }] },
    ],
    ['an empty list of rules', '', 'agents: []', { projectAgents: [] }],
    ['an empty section', '', 'clients: {claudeCode: {}}', { clients: { claudeCode: { configDirs: [] } } }],
  ])('but: %s', (_name, machine, project, expected) => {
    writeFileSync(machineFile, machine);
    writeFileSync(projectFile, project);
    expect(good().config).toMatchObject(expected);
  });

  it('is not measured against a machine file that is bad itself', () => {
    expect(projectBad('handoff: {maxParallel: 0}', 'handoff: {maxParallel: 9}\nnotify: []')).toEqual([
      expect.stringContaining('config.yaml:1:24: handoff.maxParallel: 0 is not allowed'),
      'P:2:9: notify: [] is not allowed in a project file: leave it to the machine file',
    ]);
  });
});

describe('checking one file', () => {
  const check = (file: string) => checkConfigFile(file, { file: null, home, projectDir });

  it("checks the project's own file as a project file", () => {
    writeFileSync(projectFile, 'notify: []\n');
    expect(check('watchkeeper.yaml').ok).toBe(false);
  });

  it('checks any other file alone, as a machine file', () => {
    writeFileSync(projectFile, 'nonsense: 1\n');
    writeFileSync(path.join(root, 'new.yaml'), 'notify: []\n');
    expect(check('../new.yaml').ok).toBe(true);
  });

  it('refuses a file that does not exist, also where a project file would be', () => {
    expect(check('watchkeeper.yaml').ok).toBe(false);
  });
});
