import { execFileSync } from 'node:child_process';
import { chmodSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import {
  bad,
  good,
  home,
  machineBad,
  machineFile,
  projectDir,
  projectFile,
  root,
} from '../../test/runs/config-files.ts';
import { recipeFor } from '../decide/handoff/recipe.ts';
import { defaultTemplates } from '../decide/templates.ts';
import { checkConfigFile } from './load.ts';
import { configBytesMax } from './read.ts';
import { defaultConfig } from './schema.ts';

describe('where the configuration comes from', () => {
  it('has the pinned defaults without any file', () => {
    const { config, origins, files } = good();
    expect(config).toEqual({
      mode: 'act',
      tickSeconds: 2,
      start: { firstQuietSeconds: 120, quietSeconds: 10 },
      healthIntervalMinutes: 10,
      retentionDays: 30,
      agents: [{ match: '*-ps', authority: 'manage' }],
      projectAgents: null,
      prompt: { minIntervalMinutes: 5, humanQuietSeconds: 30, answerSeconds: 30 },
      spawn: { stallMinutes: 15, abandonMinutes: 30, progressMinutes: 10, progress: 'auto' },
      stall: { thinkingMinutes: 5, toolMinutes: 10, mcpMinutes: 15, subagentMinutes: 15 },
      waiting: { notifyMinutes: 2, repeatMinutes: 30 },
      health: { rate_limit_backoff_seconds: 60 },
      // Whoever adds a check with a threshold has its default in the check's own file.
      judging: expect.objectContaining({
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
      }),
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
    writeFileSync(projectFile, '\nhandoff: {atPercent: 90}\n');
    const { config, origins, project } = good();
    expect(config).toMatchObject({ mode: 'watch', prompt: { minIntervalMinutes: 7.5, answerSeconds: 30 } });
    expect(origins.mode).toBe(`${machineFile}:1`);
    expect(origins['prompt.minIntervalMinutes']).toBe(`${machineFile}:4`);
    expect(project?.said).toEqual([{ key: 'handoff.atPercent', value: 90, origin: `${projectFile}:2` }]);
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
