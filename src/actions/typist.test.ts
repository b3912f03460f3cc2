// Whatever is typed, by whomever: it is looked at twice whether it may be, and nothing is typed where it may not.
import { describe, expect, it } from 'vitest';
import { newSession, oldSession, TypedAgent } from '../../test/runs/typed-agent.ts';

type Change = (agent: TypedAgent) => void;

const session = { by: 'rule', about: { handoff: 'h', deed: 'clear' }, leftovers: [], session: oldSession } as const;
const aPs = { host: 'h', agent: 'a-ps' };
/** Every way in which something of ours comes to an agent. */
const ways: [string, (agent: TypedAgent) => Promise<{ outcome: string; reason: string | null }>][] = [
  ['a prompt', (agent) => agent.prompt()],
  ['/compact', (agent) => agent.actions.compact(aPs, 'human me')],
  ['/clear', (agent) => agent.actions.clear(aPs, session)],
  ['/resume', (agent) => agent.actions.resume(aPs, newSession, session)],
  ['a command of a recipe', (agent) => agent.actions.run(aPs, '/tina:checkpoint', session)],
];
const interrupt: (typeof ways)[number] = ['Escape', (agent) => agent.actions.interrupt(aPs, { by: 'human me' })];
const every = [...ways, interrupt];

const pause: Change = (agent) => {
  agent.isPaused = true;
};
const person: Change = (agent) => {
  agent.people = [{ activeAtMs: agent.nowMs }];
};
const dialog: Change = (agent) => {
  agent.status = 'waiting';
};

/** A turn runs where there is one to interrupt. */
function agentFor(what: string, change: Change): TypedAgent {
  const agent = new TypedAgent();
  if (what === 'Escape') agent.status = 'busy';
  change(agent);
  return agent;
}

describe('a human comes first', () => {
  it.each(every)('while a person is at the keyboard %s is not typed', async (what, way) => {
    const agent = agentFor(what, person);
    expect(await way(agent)).toMatchObject({ outcome: 'refused', reason: 'human-typing' });
    expect(agent.typed).toEqual([]);
    agent.nowMs += agent.config.prompt.humanQuietSeconds * 1_000 + 1_000;
    if (what === 'a prompt') expect(await way(agent)).toMatchObject({ outcome: 'confirmed' });
  });

  it.each(ways)('one who comes to the keyboard after the paste keeps %s from being submitted', async (_what, way) => {
    const agent = new TypedAgent();
    agent.afterPaste = () => person(agent);
    expect(await way(agent)).toMatchObject({ outcome: 'uncertain', reason: 'left-in-box' });
    expect([agent.submitted, agent.typed.filter((key) => key === 'C-u')]).toEqual([[], []]);
  });

  it.each(ways)('a dialog that opens after the paste is not answered by the Enter of %s', async (_what, way) => {
    const agent = new TypedAgent();
    agent.afterPaste = () => dialog(agent);
    expect(await way(agent)).toMatchObject({ outcome: 'refused' });
    expect(agent.submitted).toEqual([]);
  });
});

describe('a pause stops everything at once', () => {
  it.each(every)('%s is not typed', async (what, way) => {
    const agent = agentFor(what, pause);
    expect(await way(agent)).toMatchObject({ outcome: 'refused', reason: 'paused' });
    expect(agent.typed).toEqual([]);
  });

  it.each(ways)('%s that stands in the box is not submitted, and taken out', async (_what, way) => {
    const agent = new TypedAgent();
    agent.afterPaste = () => pause(agent);
    expect(await way(agent)).toMatchObject({ outcome: 'refused', reason: 'paused' });
    expect([agent.submitted, agent.box]).toEqual([[], '']);
  });

  it.each(every)('%s that waits for its turn is not typed when it comes', async (what, way) => {
    const agent = agentFor(what, () => {});
    let release = () => {};
    const others = agent.actions.inTurn('a-ps', () => new Promise<void>((resolve) => (release = resolve)));
    const waiting = way(agent);
    pause(agent);
    await Promise.resolve();
    release();
    await others;
    expect(await waiting).toMatchObject({ outcome: 'refused', reason: 'paused' });
    expect(agent.typed).toEqual([]);
  });
});

describe('what nobody knows is not acted on', () => {
  const unknown: Change = (agent) => {
    agent.status = null;
    agent.state = 'unknown';
  };
  it.each(every)(
    '%s is not typed to an agent of which neither its registry nor anything else says enough',
    async (what, way) => {
      const agent = agentFor(what, unknown);
      expect(await way(agent)).toMatchObject({ outcome: 'refused' });
      expect(agent.typed).toEqual([]);
    },
  );

  it.each(every)('%s is not typed to one whose registry says a word that nobody knows', async (what, way) => {
    const agent = agentFor(what, (one) => {
      one.status = 'pondering';
    });
    expect(await way(agent)).toMatchObject({ outcome: 'refused' });
    expect(agent.typed).toEqual([]);
  });

  it('Escape is pressed only where the registry itself says that a turn runs', async () => {
    const agent = new TypedAgent();
    agent.standIn = 'busy';
    agent.status = null;
    expect(await interrupt[1](agent)).toMatchObject({ outcome: 'refused', reason: 'stale' });
    expect(agent.typed).toEqual([]);
    agent.status = 'busy';
    expect(await interrupt[1](agent)).toMatchObject({ outcome: 'confirmed' });
    expect(agent.typed).toEqual(['Escape']);
  });

  it('to a client that has no registry it is pressed only where its record and its screen say so', async () => {
    const agent = new TypedAgent();
    Object.assign(agent, { status: null, standIn: 'busy', shows: 'idle' });
    expect(await interrupt[1](agent)).toMatchObject({ outcome: 'refused', reason: 'stale' });
    Object.assign(agent, { standIn: 'idle', shows: 'busy' });
    expect(await interrupt[1](agent)).toMatchObject({ outcome: 'refused', reason: 'not-working' });
    expect(agent.typed).toEqual([]);
    agent.standIn = 'busy';
    expect(await interrupt[1](agent)).toMatchObject({ outcome: 'confirmed' });
    expect(agent.typed).toEqual(['Escape']);
  });
});

describe('what is not the agent in its own pane any more gets nothing', () => {
  const gone: [string, Change][] = [
    ['its process has ended', (agent) => Object.assign(agent, { processNow: null })],
    ['another process has its pid', (agent) => Object.assign(agent, { processNow: { startTicks: '71' } })],
    ['it is stopped', (agent) => Object.assign(agent, { processNow: { runState: 'T' } })],
    ['another program has its terminal', (agent) => Object.assign(agent, { processNow: { terminalGroup: 9 } })],
    [
      'another program of the pane has given it a terminal of its own',
      (agent) => Object.assign(agent, { paneNow: { pid: 3 }, processNow: { ppid: 3, terminal: 34_818 } }),
    ],
    [
      'neither it nor its pane has a terminal',
      (agent) => Object.assign(agent, { paneNow: { pid: 7 }, processNow: { terminal: 0 } }),
    ],
    ['its pane is gone', (agent) => Object.assign(agent, { paneNow: null })],
    ['its pane is dead', (agent) => Object.assign(agent, { paneNow: { dead: true } })],
    [
      'its pane is that of another process, in a tmux that was started anew',
      (agent) => Object.assign(agent, { paneNow: { pid: 99 } }),
    ],
    ['all panes of the window get what it gets', (agent) => Object.assign(agent, { paneNow: { synchronized: true } })],
  ];
  const both = gone.flatMap(([what, change]) => every.map(([kind, way]) => [what, kind, change, way] as const));
  it.each(both)('%s: %s', async (_what, kind, change, way) => {
    const agent = agentFor(kind, change);
    expect(await way(agent)).toMatchObject({ outcome: 'refused' });
    expect(agent.typed).toEqual([]);
  });

  it.each(gone)('%s, after the paste: no Enter', async (_what, change) => {
    const agent = new TypedAgent();
    agent.afterPaste = () => change(agent);
    await agent.prompt();
    expect(agent.submitted).toEqual([]);
  });
});

describe('without leave nothing is typed', () => {
  it.each(every)('in watch mode: %s', async (what, way) => {
    const agent = agentFor(what, ({ config }) => {
      config.mode = 'watch';
    });
    expect(await way(agent)).toMatchObject({ outcome: 'refused', reason: 'watch-mode' });
    expect(agent.typed).toEqual([]);
  });

  it.each(every)('to an agent that is only observed: %s', async (what, way) => {
    const agent = agentFor(what, (one) => {
      one.authority = 'observe';
    });
    expect(await way(agent)).toMatchObject({ outcome: 'refused', reason: 'authority' });
    expect(agent.typed).toEqual([]);
  });

  it.each(every.slice(1))('to an agent that may only be prompted: %s', async (what, way) => {
    const agent = agentFor(what, (one) => {
      one.authority = 'nudge';
    });
    expect(await way(agent)).toMatchObject({ outcome: 'refused', reason: 'authority' });
    expect(agent.typed).toEqual([]);
  });

  it.each(every)('without a row in the ledger: %s', async (what, way) => {
    const agent = agentFor(what, ({ ledger }) => {
      ledger.isGone = true;
    });
    expect(await way(agent)).toMatchObject({ outcome: 'refused', reason: 'no-ledger' });
    expect(agent.typed).toEqual([]);
  });
});
