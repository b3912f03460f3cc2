// Whatever a project's file says and is accepted: nothing happens earlier or more often than without it, and nobody is
// told less. One line for every key there is; a key without one does not compile.
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import fc from 'fast-check';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { backgroundMs } from '../decide/handoff/recipe.ts';
import { defaultTemplates } from '../decide/templates.ts';
import { type ThresholdKey, thresholds } from '../detect/checks.ts';
import type { Authority } from '../model/agent.ts';
import { configAt, loadConfig } from './load.ts';
import { authorityFor } from './match.ts';
import { type ConfigKey, configKeys, getKey } from './narrow.ts';
import type { Config } from './schema.ts';

const rank: Record<Authority, number> = { observe: 0, nudge: 1, manage: 2 };
const names = ['shop-ps', 'docs-ps', 'shop', 'x'];

type Order = (project: Config, machine: Config) => boolean;

/** No accepted value may differ from the machine's. */
const same =
  (key: ConfigKey): Order =>
  (project, machine) => {
    expect(getKey(project, key)).toEqual(getKey(machine, key));
    return true;
  };
const mayDoNoMore: Order = (project, machine) =>
  names.every((name) => rank[authorityFor(project, name, true)] <= rank[authorityFor(machine, name, true)]);

const minutes = fc.double({ min: 0.01, max: 600, noNaN: true });
const percent = fc.integer({ min: 1, max: 99 });
const count = fc.integer({ min: 2, max: 100 });
const words = fc.constantFrom('Go on.', 'Stop.');
const template = (key: keyof ReturnType<typeof defaultTemplates>) => fc.constantFrom(defaultTemplates()[key], 'Go on.');
const rules = fc.array(
  fc.record({
    match: fc.constantFrom('*', '*-ps', 'shop*', 'x'),
    authority: fc.constantFrom('observe', 'nudge', 'manage'),
  }),
  { maxLength: 3 },
);

/** A time after which a check speaks is the machine's own, whatever the check. */
const ofChecks = Object.fromEntries(
  Object.entries(thresholds).map(([key, { unit }]) => [
    key,
    [{ minutes, percent, factor: count, count, tokens: count }[unit], same(key as ThresholdKey)],
  ]),
) as Record<ThresholdKey, [value: fc.Arbitrary<unknown>, order: Order]>;

/** What any file may say there, and what has to hold of what is then in force. */
const keys: Record<ConfigKey, [value: fc.Arbitrary<unknown>, order: Order]> = {
  // Held back by authority: by the mode people would be told nothing.
  mode: [fc.constantFrom('act', 'watch'), (p, m) => p.mode === m.mode && mayDoNoMore(p, m)],
  tickSeconds: [fc.integer({ min: 1, max: 60 }), same('tickSeconds')],
  healthIntervalMinutes: [minutes, same('healthIntervalMinutes')],
  retentionDays: [count, same('retentionDays')],
  'start.firstQuietSeconds': [fc.integer({ min: 0, max: 600 }), same('start.firstQuietSeconds')],
  'start.quietSeconds': [fc.integer({ min: 0, max: 600 }), same('start.quietSeconds')],
  agents: [rules, (p, m) => same('agents')(p, m) && mayDoNoMore(p, m)],
  'prompt.minIntervalMinutes': [minutes, same('prompt.minIntervalMinutes')],
  'prompt.humanQuietSeconds': [minutes, same('prompt.humanQuietSeconds')],
  'prompt.answerSeconds': [minutes, same('prompt.answerSeconds')],
  ...ofChecks,
  'spawn.progressMinutes': [minutes, (p, m) => p.spawn.progressMinutes >= m.spawn.progressMinutes],
  'spawn.progress': [
    fc.constantFrom('auto', 'always', 'never'),
    (p, m) => p.spawn.progress === 'never' || p.spawn.progress === m.spawn.progress,
  ],
  'waiting.repeatMinutes': [minutes, same('waiting.repeatMinutes')],
  'health.rate_limit_backoff_seconds': [minutes, same('health.rate_limit_backoff_seconds')],
  'judging.completion': [fc.constantFrom([], [{ match: '*', signal: 'done' }]), same('judging.completion')],
  bands: [
    fc.uniqueArray(percent, { minLength: 4, maxLength: 4 }).map((edges) => edges.toSorted((a, b) => a - b)),
    same('bands'),
  ],
  'handoff.atPercent': [percent, (p, m) => p.handoff.atPercent >= m.handoff.atPercent],
  'handoff.deadlineMinutes': [minutes, same('handoff.deadlineMinutes')],
  'handoff.dir': [
    fc.constantFrom('a', 'a/b', '.', '/etc', '~/x', '.watchkeeper/handoffs', '..'),
    (p, m) =>
      p.handoff.dir === m.handoff.dir || !path.relative('/p', path.resolve('/p', p.handoff.dir)).startsWith('..'),
  ],
  'handoff.maxParallel': [fc.integer({ min: 1, max: 9 }), same('handoff.maxParallel')],
  'handoff.compaction': [
    fc.constantFrom('forestall', 'leave'),
    (p, m) => p.handoff.compaction === 'leave' || p.handoff.compaction === m.handoff.compaction,
  ],
  'handoff.waitForBackground': [
    fc.oneof(fc.boolean(), minutes),
    (p, m) => backgroundMs(p.handoff) === backgroundMs(m.handoff),
  ],
  'handoff.recipe': [fc.constantFrom('document', 'a'), same('handoff.recipe')],
  'handoff.recipes': [
    fc.constantFrom([], [{ name: 'a', ask: 'Save it.', file: 'a.md', resume: 'Go on.', atPercent: 1 }]),
    same('handoff.recipes'),
  ],
  notify: [fc.constantFrom([], [{ channel: 'a', type: 'desktop' }]), same('notify')],
  'templates.spawnUpdate': [words, same('templates.spawnUpdate')],
  'templates.spawnStalled': [template('spawnStalled'), same('templates.spawnStalled')],
  'templates.spawnFailed': [template('spawnFailed'), same('templates.spawnFailed')],
  'templates.spawnAbandoned': [template('spawnAbandoned'), same('templates.spawnAbandoned')],
  'templates.contextCheck': [words, same('templates.contextCheck')],
  'templates.highContext': [template('highContext'), same('templates.highContext')],
  'templates.handoff': [template('handoff'), same('templates.handoff')],
  'templates.handoffAgain': [template('handoffAgain'), same('templates.handoffAgain')],
  'templates.handoffResume': [template('handoffResume'), same('templates.handoffResume')],
  'templates.continue': [template('continue'), same('templates.continue')],
  'templates.stalled': [template('stalled'), same('templates.stalled')],
  'clients.claudeCode.configDirs': [fc.constantFrom([], ['/x']), same('clients.claudeCode.configDirs')],
};

let root = '';
beforeAll(() => {
  root = mkdtempSync(path.join(tmpdir(), 'wk-narrow-'));
  for (const folder of ['home/.config/watchkeeper', 'project/sub', 'elsewhere'])
    mkdirSync(path.join(root, folder), { recursive: true });
});
afterAll(() => rmSync(root, { recursive: true, force: true }));

/** JSON is YAML. */
function write(file: string, values: Partial<Record<ConfigKey, unknown>>): void {
  const document: Record<string, unknown> = {};
  for (const [key, value] of Object.entries(values)) {
    const parts = key.split('.');
    const last = parts.pop() ?? key;
    let owner = document;
    for (const part of parts) {
      owner[part] ??= {};
      owner = owner[part] as Record<string, unknown>;
    }
    owner[last] = value;
  }
  writeFileSync(path.join(root, file), JSON.stringify(document));
}

const load = () => loadConfig({ file: null, home: path.join(root, 'home'), projectDir: path.join(root, 'project') });
const machineFile = 'home/.config/watchkeeper/config.yaml';
const projectFile = 'project/watchkeeper.yaml';

/** How many of the accepted files changed anything. */
function holds(machine: Partial<Record<ConfigKey, unknown>>, project: Partial<Record<ConfigKey, unknown>>): boolean {
  rmSync(path.join(root, projectFile), { force: true });
  write(machineFile, machine);
  const without = load();
  if (!without.ok) return false;
  write(projectFile, project);
  const loaded = load();
  if (!loaded.ok) return false;
  for (const place of ['elsewhere', 'home', 'project-two', ''])
    expect(configAt(loaded.value, [path.join(root, place)])).toEqual(without.value.config);
  for (const place of ['project', 'project/sub']) {
    const inside = configAt(loaded.value, [path.join(root, place)]);
    for (const key of configKeys) expect(keys[key][1](inside, without.value.config), key).toBe(true);
  }
  return true;
}

it.each(configKeys)('%s: no accepted value does more, sooner, or tells less', (key) => {
  const [value] = keys[key];
  const other = fc.constantFrom(...configKeys).chain((name) => fc.tuple(fc.constant(name), keys[name][0]));
  fc.assert(
    fc.property(
      fc.option(value, { nil: undefined }),
      value,
      fc.option(other, { nil: undefined }),
      (machine, project, more) => {
        const also = more === undefined ? {} : { [more[0]]: more[1] };
        holds({ ...also, ...(machine === undefined ? {} : { [key]: machine }) }, { [key]: project });
      },
    ),
    { numRuns: 10 },
  );
});

it('what a project may say is accepted', () => {
  const machine = { 'handoff.atPercent': 60 };
  const project = {
    mode: 'watch',
    agents: [],
    'spawn.progress': 'never',
    'spawn.progressMinutes': 11,
    'handoff.atPercent': 70,
    'handoff.dir': 'docs',
    'handoff.compaction': 'leave',
  };
  expect(holds(machine, project)).toBe(true);
});
