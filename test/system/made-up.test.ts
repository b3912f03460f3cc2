// A check, a client and an action are each one file or folder and one line: by exactly the steps of CONTRIBUTING.md made-up ones
// are added to a copy of the tree, and work. The client is seen at work in `stand-in-client.test.ts`.
import { spawnSync } from 'node:child_process';
import { appendFileSync, cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { agentView, viewNowMs } from '../runs/agent-view.ts';
import { watchkeeperWithParrots } from '../stand-in-client/parrots.ts';

const root = path.resolve(import.meta.dirname, '../..');
let copy: string;

const definition = `import { healthCheck, onRecord, tells } from '../check.ts';
import { minuteMs, minutes } from '../thresholds.ts';

declare module '../../model/check.ts' {
  interface CheckNames {
    'naps-long': true;
  }
}

export const napsLong = healthCheck({
  name: 'naps-long',
  title: 'naps for long',
  evidence: 'how long it is at its prompt',
  why: 'Made up for a test.',
  thresholds: { 'judging.napMinutes': minutes(7, 'How long an agent may nap.') },
  ladder: tells('once'),
  worth: onRecord('the nap itself', 'It napped.'),
  look({ view, nowMs }, limits) {
    const { state, sinceMs } = view.reading;
    if (state !== 'idle') return { fine: \`it is \${state}\` };
    if (nowMs - sinceMs < limits['judging.napMinutes'] * minuteMs) return { fine: 'a short nap', coming: true };
    const evidence = [{ source: 'registry' as const, atMs: sinceMs, text: 'it naps' }];
    return { found: { severity: 'warning', confidence: 1, sinceMs, evidence, action: null } };
  },
});
`;

const knock = `import type { Proof } from '../../act/deliver.ts';
import type { Action } from '../../model/action.ts';
import { type Deed, type DeedWorld, type Doing, type Done, type OpenDeed, type Heard, type Order, proofMs } from './deed.ts';

declare module '../../model/action.ts' {
  interface DeedNames {
    knock: true;
  }
}

/** Made up for a test: proved by whatever the agent does then. */
export class Knock implements Deed<Order, 'confirmed'> {
  readonly needs = 'nudge';
  readonly points = ['knocked'];
  readonly #world: DeedWorld;

  constructor(world: DeedWorld) {
    this.#world = world;
  }

  intent() {
    return { loud: true };
  }

  async do({ agent }: Order, _action: Action, doing: Doing): Promise<Done<'confirmed'>> {
    this.#world.notice(\`knock \${agent}\`);
    await doing.at('knocked');
    const proof = await doing.prove(proofMs);
    if (proof === null) return { outcome: 'uncertain', reason: 'no-proof', proof, proofMs: null };
    return { outcome: 'confirmed', reason: null, proof, proofMs: 1 };
  }

  proves(_open: OpenDeed, heard: Heard): Proof | null {
    if (!('event' in heard) || heard.event.fact.kind !== 'progress') return null;
    return { queued: false, source: 'transcript', nameless: false, atMs: heard.event.atMs };
  }
}
`;
const file = (name: string) => path.join(copy, name);
const read = (name: string) => readFileSync(file(name), 'utf8');

beforeAll(() => {
  copy = mkdtempSync(path.join(tmpdir(), 'wk-made-up-'));
  watchkeeperWithParrots(copy, () => {
    writeFileSync(file('src/detect/checks/naps-long.ts'), definition);
    appendFileSync(file('src/detect/checks/all.ts'), "export { napsLong } from './naps-long.ts';\n");
    writeFileSync(file('src/actions/deeds/knock.ts'), knock);
    appendFileSync(file('src/actions/deeds/all.ts'), "export { Knock as knock } from './knock.ts';\n");
  });
  cpSync(path.join(root, 'scripts'), file('scripts'), { recursive: true });
}, 120_000);
afterAll(() => rmSync(copy, { recursive: true, force: true }));

function run(...argv: string[]) {
  const env = { PATH: process.env.PATH ?? '', HOME: copy, WATCHKEEPER_HOME: path.join(copy, 'data') };
  return spawnSync(process.execPath, argv, { cwd: copy, encoding: 'utf8', env });
}

it('what is built of them keeps the import rules', () => {
  expect(run('scripts/check-imports.mjs')).toMatchObject({ status: 0, stderr: '' });
});

it('the check is known to everybody', async () => {
  expect(run('bin/watchkeeper', 'accuracy', '--markdown').stdout).toMatch(
    /^\| `naps-long` \| naps for long \| .* \| `judging\.napMinutes` \| tells \| record: the nap itself \| It napped\. \|$/m,
  );
  const schema = JSON.parse(run('bin/watchkeeper', 'config', 'schema').stdout);
  expect(schema.properties.judging.properties.napMinutes).toMatchObject({ default: 7, type: 'number' });
  const { examine } = await import(pathToFileURL(path.join(copy, 'dist/detect/health.js')).href);
  const { valuesOf } = await import(pathToFileURL(path.join(copy, 'dist/detect/checks.js')).href);
  const found = (config: object) =>
    examine(
      {
        ...{ view: agentView('idle', null, 5), nowMs: viewNowMs, answerMs: 1, unansweredSinceMs: null },
        ...{ loops: [], completion: null, missedSince: () => 0 },
      },
      valuesOf(config),
    ).findings.map(({ check }: { check: string }) => check);
  expect(found({})).toEqual([]);
  expect(found({ judging: { napMinutes: 4 } })).toEqual(['naps-long']);
});

it('the client is known to everybody, and nobody else says a word of it', async () => {
  const { clients, ownCommandFor } = await import(pathToFileURL(file('dist/clients/clients.js')).href);
  expect(clients.map(({ name }: { name: string }) => name)).toContain('parrot');
  expect(ownCommandFor('quit')).toBe('quit');
  expect(run('bin/watchkeeper', '--help').stdout).toContain('Agents are found by themselves: Claude Code or Parrot');
  const other = 'src/watch/names.ts';
  const text = read(other);
  writeFileSync(file(other), `// As Parrot has it.\n${text}`);
  const said = run('scripts/check-imports.mjs');
  writeFileSync(file(other), text);
  expect(said).toMatchObject({ status: 1, stderr: expect.stringContaining(`${other}:1: says 'Parrot'`) });
});

it('the action has a row before it is done, is proved by the record, and is settled after a kill', async () => {
  const { Actions } = await import(pathToFileURL(file('dist/actions/actions.js')).href);
  const rows: string[] = [];
  const left: { action: { kind: string }; delivered: boolean }[] = [];
  const daemon = () =>
    new Actions({
      ...{ host: 'h', hostName: 'h', environment: {}, config: () => ({ mode: 'act' }), paused: () => false },
      ...{ hold: () => 'ours', holdNumber: () => 1, flush: async () => true, lookSoon: () => {} },
      agent: () => ({ view: agentView('idle', null, 5) }),
      clock: { nowMs: Date.now, monotonicMs: () => performance.now() },
      notice: (line: string) => rows.push(line),
      store: {
        intend: async (action: { kind: string; intent: object }) => {
          left.push({ action, delivered: false });
          rows.push(`intent ${action.kind} ${JSON.stringify(action.intent)}`);
          return { ok: true };
        },
        conclude: async ({ outcome }: { outcome: string }) => {
          rows.push(outcome);
          return { ok: true };
        },
        openActions: async () => ({ ok: true, value: left }),
      },
    });
  const order = { agent: 'a-ps', trigger: 'human', finding: null };
  const answer = (actions: InstanceType<typeof Actions>) =>
    actions.told('a-ps', { atMs: Date.now(), key: 'k', fact: { kind: 'progress' } });
  const first = daemon();
  const did = first.do('knock', order);
  await expect.poll(() => rows.at(-1)).toBe('knock a-ps');
  answer(first);
  expect(await did).toMatchObject({ outcome: 'confirmed' });
  const done = ['intent knock {"loud":true,"hold":1}', 'knock a-ps', 'confirmed'];
  expect(rows).toEqual(done);
  // The same row without its outcome, as a killed daemon leaves it.
  const next = daemon();
  await next.recover();
  answer(next);
  await expect.poll(() => rows).toEqual([...done, 'confirmed']);
});

it('a name of a check or an action without a definition does not compile', () => {
  const lines = { 'src/detect/checks/all.ts': 'naps-long', 'src/actions/deeds/all.ts': 'knock' };
  for (const [list, name] of Object.entries(lines))
    writeFileSync(file(list), read(list).replace(new RegExp(`.*${name}.*\\n`), ''));
  const built = run('scripts/build.mjs');
  expect(built.status).not.toBe(0);
  for (const name of Object.values(lines)) expect(built.stderr + built.stdout).toContain(name);
});
