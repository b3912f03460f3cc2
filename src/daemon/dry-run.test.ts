// Watching is the live path without the effects: the same is decided and put on record, and nothing is done.
import { describe, expect, it } from 'vitest';
import { RuledAgent } from '../../test/runs/ruled-agent.ts';
import { mostDone } from '../decide/policy.ts';
import { checkNames } from '../detect/checks.ts';
import type { CheckName } from '../model/check.ts';

type Hold = (agent: RuledAgent) => void;

const holds: [string, Hold][] = [
  [
    'watch-mode',
    ({ config }) => {
      config.mode = 'watch';
    },
  ],
  [
    'paused',
    (agent) => {
      agent.isPaused = true;
    },
  ],
];

async function inTrouble(check: CheckName, minutes: number, hold: Hold = () => {}): Promise<RuledAgent> {
  const agent = new RuledAgent();
  hold(agent);
  agent.checks = [check];
  await agent.pass(minutes);
  return agent;
}

const prompting = checkNames.filter((check) => mostDone(check) === 'prompts' && !check.startsWith('spawn-'));
const telling = checkNames.filter((check) => mostDone(check) === 'tells' && check !== 'flapping');

describe.each(holds)('%s', (reason, hold) => {
  it.each(prompting)('%s: the prompt is decided and on record as in earnest, and not typed', async (check) => {
    const live = await inTrouble(check, 1);
    expect(live.submitted).toHaveLength(1);
    const dry = await inTrouble(check, 1, hold);
    expect([dry.typed, dry.told]).toEqual([[], []]);
    expect(dry.meant).toEqual(live.meant);
    expect(dry.incidents.map(({ check: found }) => found)).toEqual(live.incidents.map(({ check: found }) => found));
    const [meant] = dry.ledger.actions;
    expect(dry.ledger.outcomes.map(({ actionId, outcome, reason: why }) => [actionId, outcome, why])).toEqual([
      [meant?.id, 'refused', reason],
    ]);
  });

  it.each(telling)('%s: a human would be told, and is not', async (check) => {
    const live = await inTrouble(check, 2);
    expect(live.told).toHaveLength(1);
    const dry = await inTrouble(check, 2, hold);
    expect([dry.told, dry.typed, dry.ledger.actions]).toEqual([[], [], []]);
    expect(dry.next).toEqual([`${check}: tell, ${reason}`]);
    expect(dry.incidents.map(({ check: found }) => found)).toEqual([check]);
  });

  it('it is done when it may be, if it is still so', async () => {
    const agent = await inTrouble('silent-stop', 3, hold);
    expect(agent.typed).toEqual([]);
    agent.config.mode = 'act';
    agent.isPaused = false;
    await agent.pass(3);
    expect(agent.submitted).toHaveLength(1);
  });
});

describe('so soon after a start', () => {
  const starts: Hold = (agent) => {
    agent.quietUntilMs = agent.nowMs + 600_000;
  };

  it.each(prompting)('%s: nothing is typed nor put on record as tried; what will be done is known', async (check) => {
    const agent = await inTrouble(check, 5, starts);
    expect([agent.typed, agent.told, agent.ledger.actions]).toEqual([[], [], []]);
    expect(agent.next).toEqual([`${check}: prompt, starting`]);
    agent.quietUntilMs = null;
    await agent.pass(1);
    expect(agent.submitted).toHaveLength(1);
  });

  it.each(telling)('%s: nobody is called yet', async (check) => {
    const agent = await inTrouble(check, 5, starts);
    expect([agent.told, agent.typed, agent.ledger.actions]).toEqual([[], [], []]);
    expect(agent.next).toEqual([`${check}: tell, starting`]);
    agent.quietUntilMs = null;
    await agent.pass(2);
    expect(agent.told).toHaveLength(1);
  });

  it('the gate refuses a rule that asks all the same, and lets people through', async () => {
    const agent = new RuledAgent();
    starts(agent);
    expect(await agent.prompt()).toMatchObject({ outcome: 'refused', reason: 'starting' });
    const asked = { host: 'h', agent: 'a-ps', trigger: 'human', by: 'human ann', finding: null } as const;
    const own = { ...asked, text: 'Go on with it.' };
    expect(await agent.actions.prompt({ ...own, waitMs: 0 })).not.toMatchObject({ outcome: 'refused' });
    expect(agent.submitted).toHaveLength(1);
  });
});

describe('an agent of which nobody knows what it does', () => {
  it.each(prompting)('is not prompted, whatever was found in it: %s', async (check) => {
    const agent = new RuledAgent();
    agent.state = 'unknown';
    agent.checks = [check];
    await agent.pass(30);
    expect([agent.typed, agent.meant.filter((row) => row.startsWith('prompt'))]).toEqual([[], []]);
    expect(agent.next).toHaveLength(1);
  });
});

describe('without its database', () => {
  it.each(prompting)('%s: nothing is typed; the prompt goes out once when it is back', async (check) => {
    const agent = new RuledAgent();
    agent.ledger.isGone = true;
    agent.checks = [check];
    await agent.pass(10);
    expect(agent.typed).toEqual([]);
    agent.ledger.isGone = false;
    await agent.pass(4);
    expect(agent.submitted).toHaveLength(1);
  });
});
