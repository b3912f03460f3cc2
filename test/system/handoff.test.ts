// The commands of a handoff, and what becomes of one whose agent cannot be reached, changes or ends.
import { randomUUID } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { until } from '../../src/conform/until.ts';
import type { HandoffDocument } from '../../src/handoff/documents.ts';
import { openStandIn, type StandIn } from './stand-in.ts';
import { openWorld, type World, waitMs } from './world.ts';

let world: World;
let agent: StandIn;

beforeAll(async () => {
  world = await openWorld();
  const file = path.join(world.dir, 'config.yaml');
  writeFileSync(file, JSON.stringify({ tickSeconds: 0.3 }));
  world.env = { WATCHKEEPER_CONFIG: file };
});
afterAll(() => world.end());

async function handoff(...args: string[]): Promise<HandoffDocument & { code: number }> {
  const said = await world.run('handoff', ...args, '--json');
  return { code: said.code, ...(JSON.parse(said.stdout) as HandoffDocument) };
}

async function last(name: string): Promise<HandoffDocument | undefined> {
  const said = await world.run('handoffs', name, '--json');
  return (JSON.parse(said.stdout) as { items: HandoffDocument[] }).items.at(-1);
}

describe('before anything was ever started', () => {
  it.each([
    [['handoff', 'x', '--json'], 3],
    [['handoffs', '--json'], 5],
    [['handoff'], 2],
    [['handoff', 'x', '--wait', 'long'], 2],
  ])('%j is %i', async (args, code) => expect((await world.run(...args)).code).toBe(code));
});

describe('an agent that is to be handed over', () => {
  beforeAll(async () => {
    agent = await openStandIn(world, 'full-ps');
    await openStandIn(world, 'seen');
    await world.up();
    await world.agentIs('full-ps', 'idle');
    await world.agentIs('seen', 'idle');
  });

  it('nobody, and one that may only be observed, are refused', async () => {
    expect((await world.run('handoff', 'nobody', '--json')).code).toBe(4);
    expect((await world.run('handoffs', 'nobody', '--json')).code).toBe(4);
    expect(await handoff('seen')).toMatchObject({ code: 1, id: null, step: 'failed', reason: 'authority' });
    expect((await world.run('handoffs')).stderr).toBe('watchkeeper: no handoff yet\n');
  });

  it('a dry run says what would be asked for, and does nothing', async () => {
    const dry = await handoff('full-ps', '--dry-run');
    expect(dry).toMatchObject({ code: 0, id: null, step: 'requested', reason: null, old_session: agent.sessionId });
    expect(dry.file).toMatch(/\/project\/\.watchkeeper\/handoffs\/handoff-\d{4}(-\d\d){5}\.md$/);
    expect(dry).toMatchObject({ recipe: 'document' });
    expect((await world.run('handoffs')).stderr).toBe('watchkeeper: no handoff yet\n');
  });

  it('whose document would be where no path can be typed is refused before anything begins, dry run or not', async () => {
    const config = (handoff: object) =>
      writeFileSync(path.join(world.dir, 'config.yaml'), JSON.stringify({ tickSeconds: 0.3, handoff }));
    config({ dir: 'my notes; rm -rf' });
    await until('the dry run says so', async () => (await handoff('full-ps', '--dry-run')).code === 1, waitMs);
    expect(await handoff('full-ps', '--dry-run')).toMatchObject({ id: null, step: 'failed', reason: 'unsafe-path' });
    expect(await handoff('full-ps')).toMatchObject({ code: 1, id: null, step: 'failed', reason: 'unsafe-path' });
    const inWords = await world.run('handoff', 'full-ps', '--dry-run');
    expect(inWords.stdout.replaceAll(/\s+/g, ' ')).toContain('set `handoff.dir` to');
    expect((await world.run('handoffs')).stderr).toBe('watchkeeper: no handoff yet\n');
    config({});
    await until('it would begin again', async () => (await handoff('full-ps', '--dry-run')).code === 0, waitMs);
  });

  it('is on record at once, waits for a moment to type, and takes no task meanwhile', async () => {
    const begun = await handoff('full-ps');
    expect(begun).toMatchObject({ code: 6, agent: 'full-ps', step: 'requested', sha256: null, new_session: null });
    expect(begun.steps.map(({ step }) => step)).toEqual(['requested']);
    // The same one: a second would not do any better.
    expect((await handoff('full-ps')).id).toBe(begun.id);
    expect((await world.agent('full-ps'))?.handoff).toBe('requested');
    const accept = await world.run('can-accept', 'full-ps', '--size', 'tiny', '--json');
    expect(accept.code).toBe(1);
    expect(JSON.parse(accept.stdout)).toMatchObject({ accept: false, reason: 'handoff', handoff: 'running' });
    const inWords = await world.run('can-accept', 'full-ps', '--size', 'tiny');
    expect(inWords.stdout).toBe('no, its context is being handed over\n');
    expect((await world.run('why', 'full-ps')).stdout).toMatch(/handoff requested, (waits: .|ask)/);
    await until('the refusal on record', async () => {
      const { stdout } = await world.run('audit', '--json');
      const { items } = JSON.parse(stdout) as { items: { trigger: string; reason: string | null }[] };
      return items.some(({ trigger, reason }) => trigger === 'handoff' && reason === 'no-input-box');
    });
    const rows = await world.query<{ status: string }>("SELECT status FROM health_checks WHERE check_type = 'handoff'");
    expect(rows.map(({ status }) => status)).toEqual(['ok']);
  });

  it('a killed daemon goes on with it', async () => {
    const before = await last('full-ps');
    process.kill(world.daemonPid(), 'SIGKILL');
    await world.up();
    await world.agentIs('full-ps', (seen) => seen.handoff === 'requested');
    expect(await last('full-ps')).toMatchObject({ id: before?.id, step: 'requested' });
  });

  it('another session by hand ends it; nothing was cleared', async () => {
    agent.sessionId = randomUUID();
    agent.register({});
    await until('failed', async () => (await last('full-ps'))?.step === 'failed', waitMs);
    expect(await last('full-ps')).toMatchObject({ reason: 'session-changed', new_session: null });
    expect((await world.agent('full-ps'))?.handoff).toBeNull();
  });

  it('its end ends the handoff', async () => {
    const begun = await handoff('full-ps');
    process.kill(agent.pid, 'SIGKILL');
    await until('failed', async () => (await last('full-ps'))?.step === 'failed', waitMs);
    expect(await last('full-ps')).toMatchObject({ id: begun.id, reason: 'ended' });
    expect(await handoff('full-ps')).toMatchObject({ code: 1, id: null, reason: 'ended' });
    const { stdout } = await world.run('handoffs');
    expect(
      stdout
        .split('\n')
        .slice(1, -1)
        .map((line) => line.split(/ {2,}/)[3]),
    ).toEqual(['failed: session-changed', 'failed: ended']);
    for (const line of stdout.split('\n')) expect([...line].length).toBeLessThanOrEqual(80);
  });
});
