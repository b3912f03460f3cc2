// A signal that a conformance run found broken in a version of the client counts for nothing with agents of that version.
import { randomUUID } from 'node:crypto';
import { mkdirSync, readdirSync, renameSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Source, SourceFact } from '../../src/model/agent.ts';
import { writeResult } from '../../src/watch/conformance-results.ts';
import { openStandIn, type StandIn, startTicks } from './stand-in.ts';
import { openWorld, type World } from './world.ts';

let world: World;
let agent: StandIn;
const name = 'liar-ps';

beforeAll(async () => {
  world = await openWorld();
  agent = await openStandIn(world, name);
  agent.turn();
  await world.up();
  await world.agentIs(name, 'idle');
});
afterAll(() => world.end());

const conformanceDir = () => path.join(world.dataDir, 'conformance');

/** As a run of the command leaves it. */
function found(version: string, off: SourceFact[]): void {
  const sources: Source[] = ['registry', 'hook', 'transcript', 'statusline', 'screen'];
  const broken = (source: Source) => (source === 'registry' ? off : []);
  writeResult(conformanceDir(), {
    client: 'claude-code',
    client_version: version,
    at: '2026-11-15T12:00:00.000Z',
    fused: { said: 10, right: 10, unknown: 0, dangerous: 0 },
    signals: sources.map((source) => ({
      ...{ source, holds: broken(source).length === 0, said: 10, right: 10 },
      ...{ missed: broken(source).map((fact) => `${fact}: silent`), off: broken(source) },
    })),
    unplayed: [],
  });
}

function hook(event: string, fields: Record<string, unknown> = {}): void {
  const body = { session_id: agent.sessionId, cwd: agent.cwd, hook_event_name: event, ...fields };
  const file = path.join(world.dataDir, 'inbox', `${Date.now()}-${randomUUID().slice(0, 8)}`);
  writeFileSync(`${file}.new`, `wk1 hook ${agent.pid} ${startTicks(agent.pid)}\n${JSON.stringify(body)}`);
  renameSync(`${file}.new`, `${file}.hook`);
}

/** The client's box, drawn on the stand-in's terminal, with the cursor in it: what is typed shows up there. */
async function drawBox(): Promise<void> {
  const tty = (await world.tmux.run('display-message', '-p', '-t', `=${name}:`, '#{pane_tty}')).trim();
  const rule = '─'.repeat(70);
  const rows = [rule, '❯\u00a0', rule, '  ⏸ manual mode on · ? for shortcuts'];
  writeFileSync(tty, `\x1b[2J\x1b[H${rows.join('\r\n')}\x1b[2;3H`);
}

async function prompted(): Promise<{ outcome: string; reason: string | null }> {
  return JSON.parse((await world.run('prompt', name, 'go on', '--json')).stdout);
}

describe('a registry that says a dialog is open where there is none', () => {
  beforeAll(async () => {
    agent.register({ status: 'waiting', waitingFor: 'permission prompt' });
    await world.agentIs(name, 'waiting/permission');
  });

  it('is believed as long as nobody found it broken: nothing is typed', async () => {
    found('2.1.999', ['turns', 'dialogs']);
    expect(await prompted()).toMatchObject({ outcome: 'refused', reason: 'waiting-permission' });
    expect(await world.agent(name)).toMatchObject({ state: 'waiting', source: 'registry' });
  });

  it('counts for nothing once a run of this version found it broken, and alone nothing else is enough to type', async () => {
    found('2.1.325', ['turns', 'dialogs']);
    const seen = await world.agentIs(name, 'idle');
    expect(seen.source).toBe('transcript');
    expect(seen.sources.find(({ source }) => source === 'registry')).toMatchObject({ health: 'off', alone: null });
    expect(await prompted()).toMatchObject({ outcome: 'refused', reason: 'unsure' });
  });

  it('counts as long as only another of its facts was found broken', async () => {
    found('2.1.325', ['turns', 'compaction']);
    await world.agentIs(name, 'waiting/permission');
    expect(await prompted()).toMatchObject({ outcome: 'refused', reason: 'waiting-permission' });
    found('2.1.325', ['turns', 'dialogs']);
    await world.agentIs(name, 'idle');
  });

  it('is said by doctor, with the versions that were tried', async () => {
    const check = (await world.doctor()).checks.get('conformance');
    expect(check).toMatchObject({ ok: false });
    expect(check?.detail).toMatch(/claude-code 2\.1\.325: registry turns, registry dialogs off \(2026-11-15\)/);
    expect(check?.detail).toMatch(/2\.1\.999: registry turns/);
  });

  it('does not keep a prompt back that hooks and screen allow', async () => {
    await drawBox();
    hook('SessionStart', { source: 'startup' });
    hook('UserPromptSubmit', { prompt: 'do it' });
    hook('Stop');
    const byHooks = (seen: { sources: { source: string; alone: unknown }[] }) =>
      ['hook', 'screen'].every((one) => seen.sources.some(({ source, alone }) => source === one && alone !== null));
    await world.agentIs(name, byHooks);
    // Nobody is there to take it up, so there is no proof; but it was typed.
    expect(await prompted()).toMatchObject({ outcome: 'uncertain' });
    expect(await world.tmux.run('capture-pane', '-p', '-t', `=${name}:`)).toMatch(/go on \[wk-/);
  });

  it('counts again when a later run finds it good', async () => {
    found('2.1.325', []);
    const seen = await world.agentIs(name, 'waiting/permission');
    expect(seen.source).toBe('registry');
    expect(await prompted()).toMatchObject({ outcome: 'refused', reason: 'waiting-permission' });
    expect((await world.doctor()).checks.get('conformance')).toMatchObject({ ok: true });
  });
});

describe('doctor', () => {
  it('names a version that runs and was never tried, which is no error', async () => {
    agent.register({ status: 'idle', version: '2.1.400' });
    await world.agentIs(name, (seen) => seen.client_version === '2.1.400');
    const check = (await world.doctor()).checks.get('conformance');
    expect(check).toMatchObject({ ok: true });
    expect(check?.detail).toMatch(/claude-code 2\.1\.400 runs and was never tried: run `watchkeeper conformance`/);
  });
});

describe('the command without a client to try', () => {
  const nowhere = () => {
    const dir = path.join(world.dir, 'nowhere');
    mkdirSync(dir, { recursive: true });
    return { PATH: dir, TMPDIR: dir };
  };
  const cases: [string, string[], number, RegExp][] = [
    ['none on the PATH', [], 4, /not on the PATH: name its program with --program/],
    ['a path where nothing is', ['--program', '/nonexistent/claude'], 4, /there is no \/nonexistent\/claude/],
    ['another program', ['--program', '/bin/sleep'], 4, /is not Claude Code's own program/],
    ['a client it does not know', ['--client', 'emacs'], 2, /allowed: claude-code/],
  ];
  it.each(cases)('%s: one line, and nothing is made', async (_what, words, code, message) => {
    const env = nowhere();
    const said = await world.scenario.watchkeeper(['conformance', ...words], { env });
    expect(said.code).toBe(code);
    expect(said.stderr).toMatch(/^watchkeeper: [^\n]+\n$/);
    expect(said.stderr).toMatch(message);
    expect(readdirSync(env.TMPDIR)).toEqual([]);
  });
});
