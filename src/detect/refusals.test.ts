import { describe, expect, it } from 'vitest';
import { agentView } from '../../test/runs/agent-view.ts';
import { parseTranscriptLine } from '../clients/claude-code/transcript.ts';
import { doingText, refusedAgain, refusedNow } from './refusals.ts';
import { newSession, takeEvent } from './session.ts';

const startMs = Date.parse('2026-01-14T10:41:23.000Z');
const at = (second: number) => new Date(startMs + second * 1_000).toISOString();

/** As the client writes it for each attempt. */
function attempt(second: number, error: object, retryAttempt = 1): object {
  const record = { type: 'system', subtype: 'api_error', error, retryInMs: 500, retryAttempt, maxRetries: 10 };
  return { ...record, timestamp: at(second), uuid: `r${second}` };
}

const prompt = { type: 'user', uuid: 'p', timestamp: at(0), message: { content: 'go on' } };
const words = [{ type: 'text', text: 'Error: 401, not let in' }];
const reply = (second: number) => ({
  type: 'assistant',
  uuid: `a${second}`,
  timestamp: at(second),
  message: { model: 'm', content: words, stop_reason: null },
});

function refusedAfter(...records: object[]) {
  const facts = newSession();
  for (const [index, record] of records.entries()) {
    const parsed = parseTranscriptLine(JSON.stringify(record), String(index));
    for (const event of parsed.ok ? parsed.events : []) takeEvent(facts, event);
  }
  return (second: number) => refusedNow(facts, startMs + second * 1_000);
}

describe('what is refused and tried again, by the record of a client that writes it', () => {
  const thrice = [1, 2, 3].map((second) => attempt(second, { status: 401 }));

  it('is counted, from the first refusal on', () =>
    expect(refusedAfter(prompt, ...thrice)(4)).toEqual({ status: 401, times: 3, sinceMs: startMs + 1_000 }));
  it('begins anew with a refusal of another kind', () =>
    expect(refusedAfter(prompt, ...thrice, attempt(4, { status: 529 }))(5)).toEqual({
      status: 529,
      times: 1,
      sinceMs: startMs + 4_000,
    }));
  it('is over with a reply', () => expect(refusedAfter(prompt, ...thrice, reply(4))(5)).toBeNull());
  it('is over with a new prompt', () =>
    expect(refusedAfter(prompt, ...thrice, { ...prompt, uuid: 'q', timestamp: at(5) })(6)).toBeNull());
  it('is over when no further refusal comes for a minute', () => {
    expect(refusedAfter(prompt, ...thrice)(60)).not.toBeNull();
    expect(refusedAfter(prompt, ...thrice)(64)).toBeNull();
  });
  it('is nothing where the record has no status, whatever its text says', () =>
    expect(refusedAfter(prompt, attempt(1, { message: '401 authentication_error: not let in' }))(2)).toBeNull());
});

describe('the reason', () => {
  const refused = { status: 401, times: 3, sinceMs: 1 };

  it('of a refusal that is tried again names it', () =>
    expect(doingText(agentView('retrying', null, 1, { refused: { ...refused, times: 2 } }))).toBe(
      'it is retrying, its request refused 2 times (401, not let in)',
    ));
  it('is a finding of its own kind only', () => {
    expect(refusedAgain(agentView('retrying', null, 1, { refused }), 'auth')).toBe(refused);
    expect(refusedAgain(agentView('retrying', null, 1, { refused }), 'limit')).toBeNull();
    expect(refusedAgain(agentView('ended', null, 1, { refused }), 'auth')).toBeNull();
  });
});
