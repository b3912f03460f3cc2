import { describe, expect, it } from 'vitest';
import type { AgentView, State, TurnEnd } from '../model/agent.ts';
import type { CheckName } from '../model/check.ts';
import type { Incident } from '../model/incident.ts';
import type { Ending } from '../model/score.ts';
import { type Act, type EndFacts, endingOf } from './ending.ts';
import { verdictOn } from './worth.ts';

const openedMs = 1_000_000;

function incident(check: CheckName, given: Partial<Incident> = {}): Incident {
  return { id: 'i', agent: 'a', check, openedMs, ackedMs: null, prompts: 0, lastPromptMs: null, ...given } as Incident;
}

function view(state: State, lastTurn: TurnEnd | null = null, turnAfterMs = 0): AgentView {
  return { reading: { state }, lastTurn, lastTurnAtMs: openedMs + turnAfterMs } as AgentView;
}

const act = (by: Act['by'], what: Act['what'], afterMs: number): Act => ({ by, what, atMs: openedMs + afterMs });
const rule = { rules: ['i'] };
const wrote = act('person', 'began-turn', 5_000);

function ending(given: Incident, seen: AgentView | null, acts: Act[] = [], more: Partial<EndFacts> = {}): Ending {
  return endingOf(given, { view: seen, acts, spawn: null, denied: false, ...more });
}

describe('how a trouble ended', () => {
  const stop = incident('silent-stop', { prompts: 1, lastPromptMs: openedMs + 1_000 });
  const cases: [string, Ending, Ending][] = [
    [
      "a rule's prompt, and a turn that ended well",
      ending(stop, view('idle', 'ok', 9_000), [act(rule, 'began-turn', 1_000)]),
      'prompt-helped',
    ],
    [
      'a person joined the turn that the rule had begun: still the rule',
      ending(stop, view('idle', 'ok', 9_000), [act(rule, 'began-turn', 1_000), act('person', 'joined', 2_000)]),
      'prompt-helped',
    ],
    [
      'the rule failed and a person wrote: the person',
      ending(stop, view('idle', 'ok', 9_000), [act(rule, 'began-turn', 1_000), wrote]),
      'human-wrote',
    ],
    [
      'a person wrote after it was over: still the rule',
      ending(stop, view('idle', 'ok', 3_000), [act(rule, 'began-turn', 1_000), wrote]),
      'prompt-helped',
    ],
    [
      'the prompt of an earlier run, known by its time',
      ending(stop, view('idle', 'ok', 9_000), [act('other', 'began-turn', 500)]),
      'prompt-helped',
    ],
    [
      'a handoff is not the rule about this trouble',
      ending(incident('silent-stop'), view('idle', 'ok', 9_000), [act('other', 'began-turn', 500)]),
      'other-prompt',
    ],
    [
      'a rule about another trouble neither',
      ending(incident('silent-stop'), view('idle', 'ok', 9_000), [act({ rules: ['j'] }, 'began-turn', 500)]),
      'other-prompt',
    ],
    ['it went on with nobody near', ending(incident('silent-stop'), view('idle', 'ok', 9_000)), 'by-itself'],
    [
      'what a person did before does not count',
      ending(incident('stalled-turn'), view('working'), [act('person', 'began-turn', -1)]),
      'by-itself',
    ],
    ['a dialog that is gone was answered', ending(incident('waiting-human'), view('working')), 'human-answered'],
    ['a dialog nobody can see any more', ending(incident('waiting-human'), view('unknown')), 'unseen'],
    ['it died while it waited', ending(incident('waiting-human'), view('ended')), 'agent-died'],
    ['the turn failed', ending(incident('stalled-turn'), view('idle', 'failed', 2_000)), 'failed'],
    [
      'a person interrupted it',
      ending(incident('looping'), view('idle', 'interrupted', 2_000), [act('person', 'interrupted', 2_000)]),
      'human-interrupted',
    ],
    [
      'a prompt was queued and it moved: who knows',
      ending(incident('stalled-turn', { prompts: 1 }), view('working'), [act(rule, 'joined', 9)]),
      'other-prompt',
    ],
    ['only noted', ending(incident('looping', { ackedMs: openedMs }), view('idle', 'ok', 1)), 'human-acked'],
    ['denied', ending(incident('looping'), null, [], { denied: true }), 'human-denied'],
    ['the work finished', ending(incident('spawn-stalled'), view('idle'), [], { spawn: 'finished' }), 'by-itself'],
    ['the work was given up', ending(incident('spawn-stalled'), view('idle'), [], { spawn: 'abandoned' }), 'failed'],
    ['an agent that is gone', ending(incident('ended-unexpectedly'), view('ended')), 'agent-died'],
  ];
  it.each(cases)('%s', (_name, got, wanted) => expect(got).toBe(wanted));
});

describe('right, wrong or unclear', () => {
  const cases: [CheckName, Ending, string][] = [
    ['silent-stop', 'prompt-helped', 'right'],
    ['silent-stop', 'by-itself', 'wrong'],
    ['silent-stop', 'agent-died', 'unclear'],
    ['silent-stop', 'other-prompt', 'unclear'],
    ['waiting-human', 'human-answered', 'right'],
    ['waiting-human', 'unseen', 'unclear'],
    ['stalled-turn', 'by-itself', 'wrong'],
    ['stalled-turn', 'human-acked', 'unclear'],
    ['looping', 'by-itself', 'unclear'],
    ['looping', 'human-interrupted', 'right'],
    ['ended-unexpectedly', 'agent-died', 'right'],
    ['ended-unexpectedly', 'human-denied', 'wrong'],
  ];
  it.each(cases)('%s, %s: %s', (check, how, verdict) => expect(verdictOn(check, how)).toBe(verdict));
});
