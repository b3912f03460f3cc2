import type { RefusedRequest, Sighting } from '../model/agent.ts';
import type { SessionFacts } from './session.ts';

/** What a request was refused for. */
export type RefusedFor = 'auth' | 'limit';

const words = new Map<number, { refusal: RefusedFor; text: string }>([
  [401, { refusal: 'auth', text: 'not let in' }],
  [403, { refusal: 'auth', text: 'not let in' }],
  [429, { refusal: 'limit', text: 'too many requests' }],
  [529, { refusal: 'limit', text: 'overloaded' }],
]);

/** The first 401 makes the client fetch a new token, and a busy service often answers at the second try. */
export const refusedMin = 3;

/** A refusal comes within a minute; after that the model is answering, only its first word is not on record. */
const answerMs = 60_000;

/** By the status in the client's record, never by its text: agents talk about logins and limits all day. */
export function refusalOf(status: number | null): RefusedFor | null {
  return (status === null ? undefined : words.get(status)?.refusal) ?? null;
}

export function statusText(status: number): string {
  const text = words.get(status)?.text;
  return text === undefined ? `${status}` : `${status}, ${text}`;
}

/** The request that is being tried again, if its record says why. */
export function refusedNow({ retry }: SessionFacts, nowMs: number): RefusedRequest | null {
  if (retry === null || retry.status === null || nowMs >= retry.untilMs + answerMs) return null;
  return { status: retry.status, times: retry.times, sinceMs: retry.sinceMs };
}

/** What the agent is doing, as a reason for finding nothing. */
export function doingText({ reading, refused }: Sighting): string {
  const tried = refused === null ? '' : `, its request refused ${refused.times} times (${statusText(refused.status)})`;
  return `it is ${reading.state}${tried}`;
}

/** The client goes on trying, and is refused for this again and again; null: it is not, or not often enough. */
export function refusedAgain({ reading, refused }: Sighting, refusal: RefusedFor): RefusedRequest | null {
  if (reading.state !== 'retrying' && reading.state !== 'working') return null;
  if (refused === null || refused.times < refusedMin) return null;
  return refusalOf(refused.status) === refusal ? refused : null;
}

export function refusedText({ status, times }: RefusedRequest): string {
  return `${statusText(status)}: refused ${times} times in a row, and the client goes on trying`;
}
