import { expect, it } from 'vitest';
import { agentView } from '../../test/runs/agent-view.ts';
import { madeBoard } from '../../test/runs/made-board.ts';
import type { PaneFacts } from '../model/delivery.ts';
import { ControlClients } from './control-clients.ts';

const pane: PaneFacts = { pid: 1, dead: false, mode: '', synchronized: false, people: [], controlled: false };
const controlled = { ...pane, controlled: true };

function watching() {
  const there = { pane: controlled as PaneFacts | null, ms: 0 };
  const board = madeBoard();
  const clients = new ControlClients({
    host: 'h',
    clock: { nowMs: () => there.ms, monotonicMs: () => there.ms },
    board,
  });
  const views = [agentView('idle', null, 1, { agent: 'a' }), agentView('idle', null, 1, { agent: 'b' })];
  const found = () => {
    board.publish(views);
    return board.views().flatMap(({ agent, findings }) => findings.map(({ check }) => `${agent} ${check}`));
  };
  const pass = async () => {
    there.ms += 5_000;
    clients.round(views, async () => there.pane);
    await new Promise((resolve) => setImmediate(resolve));
  };
  return { there, clients, views, found, pass };
}

it('an agent that was to be typed to has the reason shown until the client in control mode is gone', async () => {
  const { there, clients, found, pass } = watching();
  expect(found()).toEqual([]);
  clients.decided('a', 'control-client', controlled);
  expect(found()).toEqual(['a control-client']);
  await pass();
  // tmux does not answer: nothing is known anew.
  there.pane = null;
  await pass();
  expect(found()).toEqual(['a control-client']);
  there.pane = pane;
  await pass();
  expect(found()).toEqual([]);
});

it('one that is refused for something else has no such reason, nor has one that was let through', () => {
  const { clients, found } = watching();
  clients.decided('a', 'paused', controlled);
  clients.decided('b', null, pane);
  expect(found()).toEqual([]);
  clients.decided('a', 'control-client', controlled);
  clients.decided('a', null, pane);
  expect(found()).toEqual([]);
});

it('is forgotten with the agent', async () => {
  const { clients, views, found, pass } = watching();
  clients.decided('a', 'control-client', controlled);
  views[0] = agentView('ended', null, 1, { agent: 'a' });
  await pass();
  expect(found()).toEqual([]);
  views[0] = agentView('idle', null, 1, { agent: 'a' });
  expect(found()).toEqual([]);
});
