// What people, the client and the configuration do in the middle of a handoff, and how each of that ends.
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'vitest';
import { until } from '../../src/conform/until.ts';
import { Gate, type Kind, type Stage } from './disobeying.ts';
import { type Disobedience, handoffs } from './handing-over.ts';
import { emptyBox } from './prompting.ts';
import { Watching } from './watching.ts';

/** The document is written, and the turn not over yet, when the test does something. */
function held(gate: Gate): Disobedience {
  return ({ asked, turn }) =>
    asked === 'document' && turn.toolResults.length > 0 ? gate.hold('It is written.') : undefined;
}

/** Written, then `work` while nothing is typed by us, then on. */
function whileHeld(work: (stage: Stage) => Promise<void>): Pick<Kind, 'model' | 'meanwhile'> {
  const gate = new Gate();
  return {
    model: held(gate),
    meanwhile: async (stage) => {
      await gate.reached();
      // A pause right behind the request would hold that step back too.
      await stage.at('prompted');
      await work(stage).finally(() => gate.open());
    },
  };
}

const draft = 'half a sentence of mine';

/** With a draft in the box nothing is cleared: so it stands at saved until `work`. */
function atSaved(work: (stage: Stage) => Promise<void>): Pick<Kind, 'model' | 'meanwhile'> {
  const gate = new Gate();
  return {
    model: held(gate),
    meanwhile: async (stage) => {
      await gate.reached();
      await stage.agent.draft(draft).finally(() => gate.open());
      await stage.at('saved');
      await work(stage);
    },
  };
}

async function interrupted({ agent }: Stage): Promise<void> {
  await agent.keys('Escape');
  await agent.waitStatus('idle');
}

async function compacted({ agent }: Stage): Promise<void> {
  await agent.type('/compact');
  const isDone = () => agent.transcripts().some(({ records }) => records.some(isBoundary));
  await until('compacted', isDone, 40_000);
  await agent.waitStatus('idle');
}

const isBoundary = (record: { subtype?: unknown }) => record.subtype === 'compact_boundary';
const afterClear = new Gate();
let older = '';

export const interferences = {
  prompt: {
    what: 'a person says something when the document is written',
    end: 'done',
    asks: 2,
    ...whileHeld(({ agent }) => agent.type('and look at this, too')),
  },
  draft: {
    what: 'a person leaves half a sentence in the box',
    end: 'draft',
    asks: 1,
    ...atSaved(async () => {}),
    after: async ({ agent }) => {
      expect(await agent.typed()).toContain(draft);
    },
  },
  draftgone: {
    what: 'a person leaves half a sentence in the box, and takes it away later',
    end: 'done',
    asks: 1,
    ...atSaved(async ({ agent }) => {
      await sleep(3_000);
      await emptyBox(agent);
    }),
  },
  clearwritten: {
    what: 'a person clears by hand when the document is written',
    end: 'session-changed',
    in: 'another',
    asks: 1,
    ...whileHeld((stage) =>
      stage.world.paused(async () => {
        await interrupted(stage);
        await stage.otherSession('/clear');
      }),
    ),
  },
  clearsaved: {
    what: 'a person clears by hand when the document is stored',
    end: 'session-changed',
    in: 'another',
    asks: 1,
    ...atSaved((stage) =>
      stage.world.paused(async () => {
        await emptyBox(stage.agent);
        await stage.otherSession('/clear');
      }),
    ),
    after: (_stage, { sha256 }) => expect(sha256).toMatch(/^[0-9a-f]{64}$/),
  },
  clearfresh: {
    what: 'after the clear: a person clears once more',
    end: 'session-changed',
    in: 'another',
    asks: 1,
    model: ({ asked }) => (asked === 'resume' ? afterClear.hold('Let me see.') : undefined),
    meanwhile: async (stage) => {
      await afterClear.reached();
      await stage.at('resumed');
      await interrupted(stage);
      await stage.otherSession('/clear');
    },
  },
  resumes: {
    what: 'a person resumes another conversation',
    end: 'session-changed',
    in: 'another',
    asks: 1,
    before: async ({ agent, model, session, otherSession }) => {
      await model.fill(20);
      await until('an answer', () => model.asks.length > 0);
      await agent.waitStatus('idle');
      older = session() ?? '';
      await otherSession('/clear');
    },
    ...whileHeld((stage) =>
      stage.world.paused(async () => {
        await interrupted(stage);
        await stage.otherSession(`/resume ${older}`, older);
      }),
    ),
  },
  crashsaved: {
    what: 'the client crashes when the document is stored',
    end: 'ended',
    in: 'none',
    asks: 1,
    ...atSaved(async ({ agent }) => agent.kill('SIGKILL')),
  },
  crashrequested: {
    what: 'the client crashes before it is asked',
    end: 'ended',
    in: 'none',
    asks: 0,
    model: ({ asked }) => (asked === 'work' ? { text: 'Let me see.', hang: true } : undefined),
    meanwhile: async ({ agent, model }) => {
      await until('it is at work', () => model.asks.length > 0 && agent.transcripts().length > 0);
      agent.kill('SIGKILL');
    },
  },
  compacts: {
    what: 'the client compacts when the document is written',
    end: 'done',
    asks: 1,
    ...whileHeld((stage) =>
      stage.world.paused(async () => {
        await interrupted(stage);
        await compacted(stage);
      }),
    ),
  },
  compactsfirst: {
    what: 'the client compacts before it is asked',
    end: 'compacted',
    asks: 0,
    trigger: 'rule',
    before: async (stage) => {
      const { world, model, agent, s, name } = stage;
      await world.alone(async () => {
        await s.watchkeeper(['pause']);
        await model.fill(86);
        await until('requested', async () => (await handoffs(s, name)).length > 0, 30_000);
        await agent.waitStatus('idle');
        await compacted(stage);
        model.percent = 8;
        await s.watchkeeper(['unpause']);
      });
    },
  },
  pause: {
    what: 'everything is paused for a while when the document is written',
    end: 'done',
    asks: 1,
    ...whileHeld(async (stage) => {
      const { world, s, name, agent } = stage;
      await world.paused(async () => {
        await interrupted(stage);
        await sleep(4_000);
        expect((await handoffs(s, name))[0]?.step).toBe('prompted');
        expect(agent.transcripts().length).toBe(1);
      });
    }),
  },
  authority: {
    what: 'it may only be observed any more',
    end: 'authority',
    asks: 1,
    ...whileHeld(async ({ world, s, name }) => {
      await world.alone(async () => {
        const others = { match: '*-ps', authority: 'manage' };
        world.reconfigure({ agents: [{ match: name, authority: 'observe' }, others] });
        await until('it is over', async () => (await handoffs(s, name))[0]?.step === 'failed', 30_000);
        world.reconfigure({});
      });
    }),
  },
  directory: {
    what: 'the configuration names another directory',
    end: 'done',
    asks: 1,
    ...whileHeld(async ({ world, s }) => {
      await world.alone(async () => {
        const log = path.join(s.watchkeeperHome, 'daemon.log');
        const read = () => readFileSync(log, 'utf8').split('the configuration was read anew').length;
        const before = read();
        world.reconfigure({ handoff: { dir: path.join(s.dir, 'handoffs') } });
        await until('the configuration read', () => read() > before, 20_000);
      });
    }),
    after: ({ world }) => world.reconfigure({}),
  },
} satisfies Record<string, Kind>;

/** The client dies as soon as this step is told, before the next tick. */
function crashesAt(step: string): Pick<Kind, 'end' | 'in' | 'asks' | 'meanwhile' | 'after'> {
  return {
    end: 'ended',
    in: 'none',
    asks: 1,
    meanwhile: async ({ s, name, agent }) => {
      const watch = new Watching(s);
      await watch.follow();
      const isIt = (said: Watching['said'][number]) =>
        said.kind === 'handoff' && said.agent === name && said.data.step === step;
      await until(`${name} at ${step}`, () => watch.said.some(isIt), 120_000).finally(() => watch.stop());
      agent.kill('SIGKILL');
    },
    after: (_stage, { steps }) => expect(steps.at(-2)?.step).toBe(step),
  };
}

/** At steps that last for a tick, so it has to be a longer one than for all others. */
export const crashes = {
  written: { what: 'the client crashes when the document is found', ...crashesAt('written') },
  verified: { what: 'the client crashes when the document is found good', ...crashesAt('verified') },
  confirmed: {
    what: 'after the clear: the client crashes when it has taken the document up',
    ...crashesAt('confirmed'),
  },
} satisfies Record<string, Kind>;
