// Who asks: a person by the name of their account, or the agent below which the question is asked. It goes with every request.
import { mkdtempSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { agentView } from '../../../test/runs/agent-view.ts';
import { findHome } from '../../home/home.ts';
import type { Word } from '../../home/words.ts';
import type { Doors } from './doors.ts';
import { answerRequest, readRequest } from './read.ts';
import { requests } from './table.ts';

const home = findHome({ WATCHKEEPER_HOME: mkdtempSync(path.join(os.tmpdir(), 'wk-asked-')) });
afterAll(() => rmSync(home.dir, { recursive: true, force: true }));

let view = agentView('idle', null, 1, { agent: 'shop-ps' });
const { pid, startTicks } = view.process;
const below = {
  user: 'eve',
  processes: [
    { pid: 99_999, startTicks: '1' },
    { pid, startTicks },
  ],
};
const person = { user: 'eve', processes: [{ pid, startTicks: `${startTicks}0` }] };

const inputs: Record<string, object> = {
  prompt: { agent: 'shop-ps', said: 'How far are you?', waitMs: 0, anyway: false },
  compact: { agent: 'shop-ps' },
  interrupt: { agent: 'shop-ps', waitMs: 0, dryRun: false },
  handoff: { agent: 'shop-ps', dryRun: false },
  authority: { agent: 'shop-ps', authority: 'observe' },
  ack: { id: 'i', denied: false },
  pause: { reason: 'lunch' },
  unpause: {},
  stop: { keepDb: true },
  forget: { forms: ['hunter2hunter2'] },
};

/** Answers a request, and what was handed on to those who do it. */
async function ask(name: string, asker: object | undefined, more: object = {}) {
  const handed: unknown[] = [];
  const does = (...given: unknown[]) => {
    handed.push(...given);
    return Promise.resolve({});
  };
  const acting = {
    say: does,
    compact: does,
    interrupt: does,
    setAuthority: does,
    acknowledge: does,
  };
  const doors = {
    acting: { ...acting, handoffs: { request: does } },
    board: { views: () => [view], view: () => view },
    host: { id: 'id-1-and-more', name: 'box' },
    home,
    words: { say: ({ kind, by }: Word) => handed.push(kind, by) },
    stop: () => {},
    whyKept: async () => ({ ok: true, value: 'kept' }),
  } as unknown as Doors;
  const read = readRequest(JSON.stringify({ ask: name, ...inputs[name], ...more, ...(asker && { asker }) }));
  return { handed, answer: read.ok ? await answerRequest(read.value, doors) : read };
}

const forPeople: string[] = requests.filter(({ who }) => who === 'people').map(({ name }) => name);
const acting = ['prompt', 'compact', 'interrupt', 'handoff', 'authority', 'ack', 'pause', 'unpause', 'stop'];

describe.each(acting)('%s', (name) => {
  it('is put on record under the name of the account', async () =>
    expect((await ask(name, person)).handed).toContain('human eve'));

  it('names nobody who does not say who they are', async () =>
    expect((await ask(name, undefined)).handed).toContain('human ?'));
});

describe('an agent that asks', () => {
  it.each(acting.filter((name) => !forPeople.includes(name)))('for %s is named', async (name) =>
    expect((await ask(name, below)).handed).toContain('agent shop-ps'),
  );

  it.each(forPeople)('may not %s', async (name) => {
    const { handed, answer } = await ask(name, below);
    expect(answer).toMatchObject({ ok: false, reason: 'not-allowed' });
    expect(handed).toEqual([]);
  });

  it('of another start of its process, or ended, is a person', async () => {
    const was = view;
    view = { ...was, reading: { ...was.reading, state: 'ended' } };
    expect((await ask('compact', below)).handed).toContain('human eve');
    view = was;
  });
});

it.each([
  ['box/shop-ps', true],
  ['id-1-and-more/shop-ps', true],
  ['id-1-and/shop-ps', true],
  ['id-1/shop-ps', false],
  ['other/shop-ps', false],
])('the agent %s is known: %s', async (agent, isKnown) => {
  const { handed, answer } = await ask('compact', person, { agent });
  expect(isKnown ? handed[0] : answer).toEqual(isKnown ? 'shop-ps' : expect.objectContaining({ reason: 'no-agent' }));
});

it('of an agent of another host it is said who has to be asked', async () => {
  expect((await ask('compact', person, { agent: 'other/shop-ps' })).answer).toMatchObject({
    message: 'no agent `other/shop-ps` on this host',
    fix: 'if other is another host, ask its own daemon there',
  });
});
