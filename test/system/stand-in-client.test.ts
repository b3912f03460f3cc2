// A client that Watchkeeper has never heard of, added by one folder and one line: a plain `> ` box, a record of its own
// kind, no registry, no hooks, no way to put a draft aside.
// What takes longer: test/long/stand-in-client.test.ts.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { until } from '../../src/conform/until.ts';
import { wholeWay } from '../clients/handing-over.ts';
import { handedOver, openWorldWithParrots, Parrot, tag } from '../stand-in-client/parrots.ts';
import type { World } from './world.ts';

let world: World;

beforeAll(async () => {
  world = await openWorldWithParrots();
});
afterAll(() => world.end());

interface LedgerItem {
  kind: string;
  trigger: string;
  outcome: string | null;
  outcomes: { outcome: string; reason: string | null }[];
}

async function ledger(agent: string): Promise<LedgerItem[]> {
  return (JSON.parse((await world.run('audit', agent, '--json')).stdout) as { items: LedgerItem[] }).items;
}

describe.concurrent('a client added by one folder and one line', () => {
  it('is recognised, and each of its states is seen', async () => {
    const parrot = await Parrot.open(world, 'polly-ps');
    const seen = await world.seen('polly-ps', 'idle');
    expect(seen).toMatchObject({ client: 'parrot', cwd: parrot.cwd, session_id: [...parrot.talks().keys()][0] });
    const health = Object.fromEntries(seen.sources.map(({ source, health }) => [source, health]));
    expect(health).toMatchObject({ registry: 'absent', hook: 'absent', statusline: 'absent', transcript: 'ok' });

    parrot.hold();
    await parrot.says('talk for long');
    await world.seen('polly-ps', 'working/thinking');
    parrot.letGo();
    await world.seen('polly-ps', ({ state, last_turn }) => state === 'idle' && last_turn === 'ok');
    await parrot.says('ask me');
    await world.seen('polly-ps', 'waiting/permission');
    await parrot.keys('y');
    await world.seen('polly-ps', 'idle');
    parrot.hold();
    await parrot.says('talk for long');
    await world.seen('polly-ps', 'working/thinking');
    await parrot.keys('C-x');
    await world.seen('polly-ps', ({ state, last_turn }) => state === 'idle' && last_turn === 'interrupted');
    parrot.letGo();
    await parrot.says(':new');
    await world.seen('polly-ps', ({ session_id }) => session_id !== seen.session_id);
    expect(parrot.talks().size).toBe(2);
    await parrot.says('be unknown');
    await world.seen('polly-ps', ({ state, error_kind }) => state === 'idle' && error_kind === 'authentication_failed');
    await parrot.says(':quit');
    await world.seen('polly-ps', 'ended');
  });

  it('is prompted, with proof from its own record, and in a dialog nothing is typed', async () => {
    const parrot = await Parrot.open(world, 'asked-ps');
    await world.seen('asked-ps', 'idle');
    const said = await world.say('asked-ps', 'Say hello.');
    expect(said).toMatchObject({ outcome: 'confirmed', proof: 'transcript' });
    expect(parrot.submitted()).toEqual([`Say hello. [${said.tag}]`]);

    await parrot.says('ask me');
    await world.seen('asked-ps', 'waiting/permission');
    const before = parrot.received();
    expect(await world.say('asked-ps', 'Say more.')).toMatchObject({
      outcome: 'refused',
      reason: 'waiting-permission',
    });
    expect(parrot.received()).toBe(before);
    await parrot.keys('n');
    await world.seen('asked-ps', 'idle');
  });

  it('goes on after a turn that an error ended, told so by the rule once, and `why` says how that ended and by what proof', async () => {
    const parrot = await Parrot.open(world, 'failing-ps');
    await world.seen('failing-ps', 'idle');
    await parrot.says('be overwhelmed');
    await until('it was continued', () => parrot.submitted().length > 1);
    await world.seen('failing-ps', ({ state, last_turn }) => state === 'idle' && last_turn === 'ok');
    expect(parrot.submitted()).toEqual(['be overwhelmed', expect.stringMatching(tag)]);
    const done = (await ledger('failing-ps')).findLast(({ kind }) => kind === 'prompt');
    expect(done).toMatchObject({ trigger: 'rule:silent-stop', outcome: 'confirmed' });

    const why = await until('its end is on record', async () => {
      const document = JSON.parse((await world.run('why', 'failing-ps', '--json')).stdout);
      return document.found[0]?.until === null ? null : document;
    });
    expect(why.found).toMatchObject([{ check: 'silent-stop', ending: 'prompt-helped', prompts: 1 }]);
    const proof = { source: 'transcript', proof_ms: expect.any(Number) };
    // What was wanted again in the meantime, and was no longer due, is on record as refused.
    const given = why.done.filter(({ outcome }: { outcome: string }) => outcome !== 'refused');
    expect(given).toMatchObject([
      { kind: 'prompt', by: 'rule', finding: why.found[0].id, outcome: 'confirmed', reason: null, proof },
    ]);
    const text = (await world.run('why', 'failing-ps')).stdout.replaceAll(/\s+/g, ' ');
    expect(text).toMatch(/found lately: [\d:]+ silent-stop: over [\d:]+, prompt-helped; prompted 1 time, told 0 times/);
    expect(text).toMatch(
      /done lately: .*[\d:]+ prompt by rule:silent-stop: confirmed, proved after \d+ ms by transcript: /,
    );
  });

  it('is interrupted by its own key, proved by its record', async () => {
    const parrot = await Parrot.open(world, 'talking-ps');
    await world.seen('talking-ps', 'idle');
    parrot.hold();
    await parrot.says('talk for long');
    await world.seen('talking-ps', 'working/thinking');
    expect(await world.ask({ ask: 'interrupt', agent: 'talking-ps', dryRun: false, waitMs: 0 })).toMatchObject({
      outcome: 'confirmed',
    });
    expect(parrot.received().match(/\x18/g)).toHaveLength(1);
  });

  it('is handed over to a fresh context by a command of its own, once', async () => {
    const parrot = await Parrot.open(world, 'full-ps');
    const before = (await world.seen('full-ps', 'idle')).session_id;
    const handoff = await handedOver(world, 'full-ps');
    expect(handoff).toMatchObject({ step: 'done', reason: null, old_session: before });
    expect(handoff.steps.map(({ step }) => step)).toEqual(wholeWay);
    const talks = [...parrot.talks().keys()];
    expect(talks).toHaveLength(2);
    expect(handoff.new_session).toBe(talks.find((id) => id !== before));
    const [ask, clear, resume, ...more] = parrot.submitted();
    expect([ask, clear, resume]).toEqual([expect.stringMatching(tag), ':new', expect.stringMatching(tag)]);
    expect(more).toEqual([]);
  });
});

describe.concurrent('a client that tells nothing of its context', () => {
  const ask = async (agent: string) =>
    JSON.parse((await world.run('prompt', agent, '--template', 'context-check', '--wait', '20', '--json')).stdout);
  const accept = async (agent: string) =>
    JSON.parse((await world.run('can-accept', agent, '--size', 'large', '--json')).stdout);

  it('is known by what it answers to our question, until it is cleared', async () => {
    const parrot = await Parrot.open(world, 'uncounted-ps', ['uncounted']);
    expect((await world.seen('uncounted-ps', 'idle')).context).toBeNull();
    parrot.counts('Context: 95.5% (191,000/200,000 tokens)');
    await parrot.says('Report your context window usage.');
    await world.seen('uncounted-ps', ({ last_turn }) => last_turn === 'ok');
    expect((await world.agent('uncounted-ps'))?.context, 'a person asked').toBeNull();
    expect(await accept('uncounted-ps')).toMatchObject({ accept: false, reason: 'context-unknown' });

    parrot.counts('Context: 31.6% (63,153/200,000 tokens)');
    expect(await ask('uncounted-ps')).toMatchObject({ outcome: 'confirmed' });
    const seen = await world.seen('uncounted-ps', ({ context }) => context !== null);
    expect(seen.context).toMatchObject({ used: 63_153, window: 200_000, source: 'answer' });
    expect(seen.context_sources).toMatchObject([{ source: 'answer', used: 63_153 }]);
    expect(await accept('uncounted-ps')).toMatchObject({ accept: true, band: '[30,50)' });
    const context = JSON.parse((await world.run('context', 'uncounted-ps', '--json')).stdout);
    expect(context.points).toMatchObject([{ used: 63_153, window: 200_000, source: 'answer' }]);

    await parrot.says(':new');
    await world.seen('uncounted-ps', ({ session_id, context }) => session_id !== seen.session_id && context === null);
  });

  it('that answers nonsense stays unknown; nearly full by its own word, it is shown but not cleared for that', async () => {
    const parrot = await Parrot.open(world, 'boasting-ps', ['uncounted']);
    await world.seen('boasting-ps', 'idle');
    parrot.counts('Context: 12% (191,000/200,000 tokens)');
    await ask('boasting-ps');
    expect((await world.agent('boasting-ps'))?.context).toBeNull();
    parrot.counts('Context: 95.5% (191,000/200,000 tokens)');
    await ask('boasting-ps');
    const { findings } = await world.seen('boasting-ps', ({ findings: [found] }) => found?.check === 'context-full');
    expect(findings[0]).toMatchObject({ confidence: 0.5, evidence: [{ source: 'answer' }] });
    expect(await world.say('boasting-ps', 'Say hello.')).toMatchObject({ outcome: 'refused', reason: 'context-full' });
    // Ticks enough for a handoff to begin, and a turn that ends.
    parrot.hold();
    await parrot.says('talk for long');
    await world.seen('boasting-ps', 'working/thinking');
    parrot.letGo();
    await world.seen('boasting-ps', ({ state, last_activity }) => state === 'idle' && last_activity !== null);
    const begun = JSON.parse((await world.run('handoffs', 'boasting-ps', '--json')).stdout);
    expect(begun.items).toEqual([]);
  });

  it('that is known better is not gone by: its record comes first', async () => {
    const parrot = await Parrot.open(world, 'counting-ps');
    await world.seen('counting-ps', 'idle');
    parrot.counts('Context: 31.6% (63,153/200,000 tokens)');
    await ask('counting-ps');
    const both = await world.seen('counting-ps', ({ context_sources: all }) => all.length === 2);
    expect(both.context).toMatchObject({ source: 'transcript', window: 10_000 });
    expect(both.context_sources.map(({ source }) => source)).toEqual(['transcript', 'answer']);
  });
});

describe.concurrent('a stand-in that misbehaves', () => {
  it('a record nobody can read: nobody knows, and nothing is typed twice', async () => {
    const parrot = await Parrot.open(world, 'garbled-ps', ['garbled']);
    await world.seen('garbled-ps', 'idle');
    expect(await world.say('garbled-ps', 'Say hello.')).toMatchObject({ outcome: 'uncertain', reason: 'no-proof' });
    expect(parrot.submitted()).toHaveLength(1);
    // Nobody knows what it said last: what it does now could be anything.
    expect(await world.say('garbled-ps', 'Say more.')).toMatchObject({ outcome: 'refused', reason: 'unsure' });
    expect(parrot.submitted()).toHaveLength(1);
    const { sources } = await world.seen('garbled-ps', 'idle');
    expect(sources.find(({ source }) => source === 'transcript')).toMatchObject({ health: 'failing' });
  });

  it('a box that never shows: refused, and not a byte is typed', async () => {
    const parrot = await Parrot.open(world, 'boxless-ps', ['no-box']);
    await world.seen('boxless-ps', 'unknown/unreadable');
    expect(await world.say('boxless-ps', 'Say hello.')).toMatchObject({ outcome: 'refused', reason: 'unsure' });
    expect(JSON.parse((await world.run('handoff', 'boxless-ps', '--json')).stdout)).toMatchObject({
      reason: 'unknown',
    });
    expect(parrot.received()).toBe('');
  });

  it('an answer that comes late: uncertain until then and proved after, said once', async () => {
    const parrot = await Parrot.open(world, 'late-ps', ['late']);
    await world.seen('late-ps', ({ state, session_id }) => state === 'idle' && session_id !== null);
    expect(await world.say('late-ps', 'Say hello.')).toMatchObject({ outcome: 'uncertain', reason: 'no-proof' });
    const last = async () => (await ledger('late-ps'))[0]?.outcomes.map(({ outcome, reason }) => [outcome, reason]);
    await until('its proof', async () => (await last())?.some(([outcome]) => outcome === 'confirmed'));
    expect((await last())?.slice(0, 2)).toEqual([
      ['uncertain', 'no-proof'],
      ['confirmed', 'proved-late'],
    ]);
    expect(parrot.submitted()).toHaveLength(1);
  });

  it.each([
    ['its last key', 'dies-on-enter', 1, 'no-proof'],
    ['its text', 'dies-on-paste', 0, 'left-in-box'],
  ] as const)('a death at %s: uncertain, and the shell below gets nothing', async (_when, fault, times, reason) => {
    const name = `${fault}-ps`;
    const parrot = await Parrot.open(world, name, [fault]);
    await world.seen(name, 'idle');
    expect(await world.say(name, 'Say hello.')).toMatchObject({ outcome: 'uncertain', reason });
    await world.seen(name, 'ended');
    expect(parrot.submitted()).toHaveLength(times);
    expect((await parrot.screen()).trimEnd()).toMatch(/[#$]$/);
  });

  it('a death in the middle of a handoff: it failed by name, and the shell below gets nothing', async () => {
    const parrot = await Parrot.open(world, 'dying-ps', ['dies-on-enter']);
    await world.seen('dying-ps', 'idle');
    expect(await handedOver(world, 'dying-ps')).toMatchObject({ step: 'failed', reason: 'ended' });
    expect(parrot.submitted()).toHaveLength(1);
    expect((await parrot.screen()).trimEnd()).toMatch(/[#$]$/);
  });
});

it('how many answered in time is counted from the ledger: a daemon that was killed knows it again at once', async () => {
  const parrot = await Parrot.open(world, 'counted-ps');
  await world.seen('counted-ps', 'idle');
  const before = (await world.status()).daemon.prompts ?? { given: 0, in_time: 0 };
  for (const [text, inTime] of [
    ['Say hello.', 1],
    // It is turned away, and nothing is said to it about that.
    ['Please be unknown.', 1],
    ['Say hello again.', 2],
  ] as const) {
    const given = ((await world.status()).daemon.prompts?.given ?? 0) + 1;
    expect(await world.say('counted-ps', text)).toMatchObject({ outcome: 'confirmed' });
    const counted = async () => (await world.status()).daemon.prompts?.given === given;
    await until(`${text} counted`, counted);
    expect((await world.status()).daemon.prompts?.in_time).toBe(before.in_time + inTime);
  }
  expect(parrot.submitted()).toHaveLength(3);
  process.kill(world.daemonPid(), 'SIGKILL');
  await world.up();
  const again = (await world.status()).daemon.prompts;
  expect(again).toEqual({ given: before.given + 3, in_time: before.in_time + 2 });
  const said = `${again?.in_time} of ${again?.given} prompts answered in time`;
  expect((await world.run('status')).stdout).toContain(said);
  const boasting = await world.seen('boasting-ps', ({ context }) => context !== null);
  expect(boasting.context, 'what it answered is on record').toMatchObject({ used: 191_000, source: 'answer' });
});
