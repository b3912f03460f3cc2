import { writeFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { load, machineBad, machineFile, projectBad } from '../../test/runs/config-files.ts';

const topKeys =
  'mode, tickSeconds, healthIntervalMinutes, retentionDays, start, agents, prompt, spawn, stall, waiting, health, judging, bands, handoff, notify, templates, clients';

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
      'a start that is quiet for less than no time',
      'start: {quietSeconds: -1, firstQuietSeconds: 86401}',
      [
        'F:1:23: start.quietSeconds: -1 is not allowed: a number from 0 to 86400',
        'F:1:46: start.firstQuietSeconds: 86401 is not allowed: a number from 0 to 86400',
      ],
    ],
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
        'F:1:1: spawn: an empty value is not allowed: a mapping with the keys: abandonMinutes, stallMinutes, progressMinutes, progress',
      ],
    ],
    [
      'a number for a section',
      'spawn: 3',
      [
        'F:1:8: spawn: 3 is not allowed: a mapping with the keys: abandonMinutes, stallMinutes, progressMinutes, progress',
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
