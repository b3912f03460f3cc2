import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { good, home, machineFile, projectBad, projectDir, projectFile, root } from '../../test/runs/config-files.ts';
import { configAt } from './load.ts';

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
        'P:1:16: handoff.dir: "/etc" is not allowed in a project file: a path inside the project (relative, without .., through no link that leads out)',
      ],
    ],
    [
      'a path in the home directory',
      '',
      'handoff: {dir: ~/x}',
      [
        'P:1:16: handoff.dir: "~/x" is not allowed in a project file: a path inside the project (relative, without .., through no link that leads out)',
      ],
    ],
    [
      'a way out',
      '',
      'handoff: {dir: ../x}',
      [
        'P:1:16: handoff.dir: "../x" is not allowed in a project file: a path inside the project (relative, without .., through no link that leads out)',
      ],
    ],
    [
      'another back-off',
      '',
      'health: {rate_limit_backoff_seconds: 59}',
      ['P:1:38: health.rate_limit_backoff_seconds: 59 is not allowed in a project file: leave it to the machine file'],
    ],
    [
      'more prompts',
      '',
      'prompt: {minIntervalMinutes: 4}',
      ['P:1:30: prompt.minIntervalMinutes: 4 is not allowed in a project file: leave it to the machine file'],
    ],
    [
      'less quiet',
      'prompt: {humanQuietSeconds: 60}',
      'prompt: {humanQuietSeconds: 59}',
      ['P:1:29: prompt.humanQuietSeconds: 59 is not allowed in a project file: leave it to the machine file'],
    ],
    [
      'a start of its own, also a longer one',
      '',
      'start: {firstQuietSeconds: 0, quietSeconds: 60}',
      [
        'P:1:28: start.firstQuietSeconds: 0 is not allowed in a project file: leave it to the machine file',
        'P:1:45: start.quietSeconds: 60 is not allowed in a project file: leave it to the machine file',
      ],
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
      ['P:1:24: handoff.maxParallel: 3 is not allowed in a project file: leave it to the machine file'],
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
        'P:1:30: handoff.waitForBackground: false is not allowed in a project file: leave it to the machine file',
        'P:1:49: handoff.compaction: "forestall" is not allowed in a project file: leave, the machine\'s value',
      ],
    ],
    [
      'more repeated messages',
      '',
      'waiting: {repeatMinutes: 1}',
      ['P:1:26: waiting.repeatMinutes: 1 is not allowed in a project file: leave it to the machine file'],
    ],
  ])('not: %s', (_name, machine, project, lines) => {
    expect(projectBad(machine, project)).toEqual(lines);
  });

  it('not: a directory behind a link that leads out', () => {
    symlinkSync('/', path.join(projectDir, 'docs'));
    symlinkSync('nowhere', path.join(projectDir, 'later'));
    mkdirSync(path.join(projectDir, 'real'));
    symlinkSync('/', path.join(projectDir, 'real', 'out'));
    for (const dir of ['docs/handoffs', 'later/handoffs', 'later', 'real/out/new/handoffs'])
      expect(projectBad('', `handoff: {dir: ${dir}}`)).toEqual([
        expect.stringContaining('through no link that leads out'),
      ]);
  });

  it.each<[string, string, string, object]>([
    [
      'mode down to watch',
      'mode: act',
      'mode: watch',
      { mode: 'act', projectAgents: [{ match: '*', authority: 'observe' }] },
    ],
    ['mode as it is', 'mode: act', 'mode: act', { mode: 'act', projectAgents: null }],
    ['fewer questions', '', 'spawn: {progressMinutes: 60}', { spawn: { progressMinutes: 60, stallMinutes: 15 } }],
    ['no questions', 'spawn: {progress: always}', 'spawn: {progress: never}', { spawn: { progress: 'never' } }],
    [
      'a later handoff',
      '',
      'handoff: {atPercent: 90, compaction: leave}',
      { handoff: { atPercent: 90, compaction: 'leave' } },
    ],
    [
      'the value of the machine',
      'handoff: {atPercent: 70}',
      'handoff: {atPercent: 70}',
      { handoff: { atPercent: 70 } },
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
  ])('but, for its own agents: %s', (_name, machine, project, expected) => {
    writeFileSync(machineFile, machine);
    writeFileSync(projectFile, project);
    expect(configAt(good(), [projectDir])).toMatchObject(expected);
    expect(configAt(good(), [path.join(projectDir, 'packages/app'), null])).toMatchObject(expected);
  });

  it('is for the agents in its directory only, whichever way their directory is called', () => {
    writeFileSync(projectFile, 'handoff: {atPercent: 90}\n');
    symlinkSync(projectDir, path.join(root, 'other-name'));
    const loaded = good();
    const at = (...places: (string | null)[]) => configAt(loaded, places).handoff.atPercent;
    expect([at(projectDir), at(path.join(root, 'other-name')), at('/', projectDir)]).toEqual([90, 90, 90]);
    expect([at(root), at(`${projectDir}-two`), at(home), at('/'), at(null), at()]).toEqual([85, 85, 85, 85, 85, 85]);
  });

  it('is not measured against a machine file that is bad itself', () => {
    expect(projectBad('handoff: {atPercent: 0}', 'handoff: {atPercent: 9}\nnotify: []')).toEqual([
      expect.stringContaining('config.yaml:1:22: handoff.atPercent: 0 is not allowed'),
      'P:2:9: notify: [] is not allowed in a project file: leave it to the machine file',
    ]);
  });
});
