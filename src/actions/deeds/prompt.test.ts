// A prompt is submitted at most once: what an earlier daemon meant to type is looked for, and never typed again.
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { Ledger, TypedAgent } from '../../../test/runs/typed-agent.ts';
import type { Action } from '../../model/action.ts';
import type { SessionFact } from '../../model/session-event.ts';
import { untrusted } from '../../model/text.ts';

const intent = (more: Partial<Action> = {}): Action => ({
  ...{
    id: 'i',
    atMs: 1_000_000,
    host: 'h',
    agent: 'a-ps',
    kind: 'prompt',
    trigger: 'rule:silent-stop',
    finding: null,
  },
  intent: { text: 'Go on.', tag: 'wk-12ab' },
  ...more,
});

const said = (text: string): Extract<SessionFact, { kind: 'reply' }> => ({
  ...{ kind: 'reply', model: 'm', messageId: 'm1', usage: null, ends: true, text: untrusted(text) },
});

describe('an agent whose context is full', () => {
  const say = async (used: number, more: object) => {
    const agent = new TypedAgent();
    agent.percent = used;
    const order = {
      host: 'h',
      agent: 'a-ps',
      text: 'One more thing.',
      trigger: 'human',
      finding: null,
      by: null,
      waitMs: 0,
    } as const;
    return (await agent.actions.prompt({ ...order, ...more })).reason;
  };

  it('is told nothing new by a person, unless they say anyway', async () => {
    expect(await say(86, {})).toBe('context-full');
    expect(await say(86, { anyway: true })).not.toBe('context-full');
    expect(await say(85, {})).not.toBe('context-full');
  });

  it('is set going by a rule all the same', async () =>
    expect(await say(86, { trigger: 'rule:silent-stop' })).not.toBe('context-full'));
});

describe('after a crash', () => {
  beforeEach(() => vi.useFakeTimers());
  afterEach(() => vi.useRealTimers());

  async function restarted(left: Action, ...outcomes: string[]): Promise<TypedAgent> {
    const ledger = new Ledger();
    ledger.actions.push(left);
    for (const outcome of outcomes)
      ledger.outcomes.push({ actionId: 'i', atMs: 1, outcome, reason: null, proof: null });
    const agent = new TypedAgent(ledger);
    expect(await agent.actions.recover()).toBe(true);
    return agent;
  }
  const settled = () => vi.advanceTimersByTimeAsync(20_000);

  it('what was meant and is nowhere on record is uncertain, and not typed again', async () => {
    const agent = await restarted(intent());
    await settled();
    expect([agent.ledger.of('i'), agent.typed]).toEqual([['uncertain'], []]);
  });

  it('what its client has on record is confirmed, and not typed again', async () => {
    const agent = await restarted(intent());
    agent.record('wk-12ab');
    await settled();
    expect([agent.ledger.of('i'), agent.typed]).toEqual([['confirmed'], []]);
  });

  it('a proof that comes late settles what was uncertain', async () => {
    const agent = await restarted(intent());
    await settled();
    agent.record('wk-12ab');
    await settled();
    expect([agent.ledger.of('i'), agent.typed]).toEqual([['uncertain', 'confirmed'], []]);
  });

  it('the tag of another prompt proves nothing', async () => {
    const agent = await restarted(intent());
    agent.record('wk-77aa');
    await settled();
    expect(agent.ledger.of('i')).toEqual(['uncertain']);
  });

  it('a record from before it was meant proves nothing', async () => {
    const agent = await restarted(intent({ atMs: 1_000_000 + 60_000 }));
    agent.record('wk-12ab');
    await settled();
    expect(agent.ledger.of('i')).toEqual(['uncertain']);
  });

  it('what was confirmed stays so, and waits for its answer only', async () => {
    const agent = await restarted(intent(), 'confirmed');
    await settled();
    expect([agent.ledger.of('i'), agent.typed]).toEqual([['confirmed'], []]);
  });

  it.each(['command', 'interrupt'] as const)('a %s without a word is uncertain, and not typed again', async (kind) => {
    const agent = await restarted(intent({ kind, intent: { command: '/clear' } }));
    await settled();
    expect([agent.ledger.of('i'), agent.typed]).toEqual([['uncertain'], []]);
  });

  it('nothing is taken up when the ledger cannot be read', async () => {
    const ledger = new Ledger();
    ledger.store.openActions = (async () => ({ ok: false })) as never;
    expect(await new TypedAgent(ledger).actions.recover()).toBe(false);
  });
});

describe('a prompt', () => {
  it('is on record before it is typed, and typed once', async () => {
    const agent = new TypedAgent();
    agent.afterPaste = () => expect(agent.ledger.actions).toHaveLength(1);
    const said = await agent.prompt();
    expect(said).toMatchObject({ outcome: 'confirmed', reason: null, proof: 'transcript' });
    expect(agent.submitted).toEqual([`Go on with it. [${said.tag}]`]);
    expect(agent.ledger.of(said.id)).toEqual(['confirmed']);
  });

  it.each([
    ['what the model says', true, (agent: TypedAgent) => agent.tell(said('All three run.'))],
    [
      'what the model says and a turn that ends later',
      true,
      (agent: TypedAgent) => {
        agent.tell({ ...said('All three run.'), ends: false });
        agent.tell({ kind: 'turn-end', durationMs: 1, pendingSubagents: 0 });
      },
    ],
    ['an interruption', false, (agent: TypedAgent) => agent.tell({ kind: 'interrupted' })],
    [
      'an error of the service',
      false,
      (agent: TypedAgent) =>
        agent.tell({ kind: 'api-error', error: 'overloaded', status: 529, text: untrusted('529'), resetsAtMs: null }),
    ],
    ['nothing said in its turn', false, (agent: TypedAgent) => agent.tell(said(''))],
  ])('is answered by %s: %s', async (_name, isAnswered, happens) => {
    const heard: string[] = [];
    const agent = new TypedAgent(new Ledger(), { answered: ({ id }) => heard.push(id) });
    const { id } = await agent.prompt();
    expect(heard).toEqual([]);
    happens(agent);
    expect(heard).toEqual(isAnswered ? [id] : []);
  });

  it('is not typed when what it is about was over before its turn came', async () => {
    const agent = new TypedAgent();
    const request = {
      host: 'h',
      agent: 'a-ps',
      text: 'Go on.',
      trigger: 'rule:silent-stop',
      by: 'rule',
      finding: null,
      waitMs: 0,
    } as const;
    const said = await agent.actions.prompt({ ...request, isStillDue: () => false });
    expect([said.outcome, said.reason, agent.typed]).toEqual(['refused', 'stale', []]);
  });

  it('two at once are typed one after the other, each once', async () => {
    const agent = new TypedAgent();
    const both = await Promise.all([agent.prompt('One.'), agent.prompt('Two.')]);
    expect(agent.submitted).toEqual([`One. [${both[0].tag}]`, `Two. [${both[1].tag}]`]);
  });

  it('that the client did not take stays in its box, and is nobody’s to submit again', {
    timeout: 20_000,
  }, async () => {
    const agent = Object.assign(new TypedAgent(), { isRecorded: false });
    vi.useFakeTimers();
    const saying = agent.prompt();
    await vi.advanceTimersByTimeAsync(60_000);
    vi.useRealTimers();
    const said = await saying;
    expect(said).toMatchObject({ outcome: 'uncertain', reason: 'no-proof' });
    expect([agent.submitted.length, agent.ledger.of(said.id)]).toEqual([1, ['uncertain']]);
    agent.record(said.tag);
    await vi.waitFor(() => expect(agent.ledger.of(said.id)).toEqual(['uncertain', 'confirmed']));
    expect(agent.submitted).toHaveLength(1);
  });
});
