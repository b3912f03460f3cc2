import { describe, expect, it } from 'vitest';
import { claudeCode } from '../clients/claude-code/client.ts';
import type { ProcessInfo } from '../model/world.ts';
import type { SeenAgent } from '../sense/fleet.ts';
import { nameFor, projectFor } from './names.ts';

const process = { pid: 42 } as ProcessInfo;
const pane = (session: string, windowIndex: number, paneIndex: number, socket = '/tmp/tmux-0/default'): SeenAgent => ({
  client: claudeCode,
  process,
  configDir: null,
  place: { socket, pane: { id: '%1', session, windowIndex, paneIndex, pid: 42, dead: false } },
});

describe('an agent is named after its tmux session', () => {
  const cases: [string, SeenAgent, string[], string][] = [
    ['the first pane', pane('demo-ps', 0, 0), [], 'demo-ps'],
    ['a further pane', pane('demo-ps', 0, 1), ['demo-ps'], 'demo-ps.1'],
    ['the same index in another window', pane('demo-ps', 1, 1), ['demo-ps', 'demo-ps.1'], 'demo-ps.1.1'],
    [
      'a session of the same name in another server',
      pane('demo', 0, 0, '/tmp/tmux-0/work'),
      ['demo', 'demo.0', 'demo.0.0'],
      'demo@work',
    ],
    ['everything taken', pane('demo', 0, 0), ['demo', 'demo.0', 'demo.0.0', 'demo@default'], 'demo~2'],
    ['outside tmux', { client: claudeCode, process, configDir: null, place: null }, [], 'shop-42'],
    ['a hostile name', pane('a\u001b[31m', 0, 0), [], 'a\\x1b[31m'],
  ];
  it.each(cases)('%s', (_name, seen, taken, expected) => expect(nameFor(seen, 'shop', new Set(taken))).toBe(expected));
});

describe('the project', () => {
  it.each([
    ['consilio-ps', '/home/x/sv/consilio-s', 'consilio'],
    ['main', '/home/x/shop', 'shop'],
    [null, '/home/x/shop', 'shop'],
    ['main', null, 'main'],
    [null, null, 'unknown'],
  ])('session %s in %s is %s', (session, cwd, project) => expect(projectFor(session, cwd)).toBe(project));
});
