import { expect, it } from 'vitest';
import { admissionDocument } from './context-document.ts';
import type { AgentDocument } from './status.ts';

const at = (seconds: number) => new Date(Date.UTC(2026, 2, 1, 10, 0, seconds)).toISOString();
const edges = [30, 50, 70, 85];

it.each([
  ['its own answer, at the end of the turn in which it gave it', 'answer', 3, { accept: true, band: '[30,50)' }],
  ['its own answer, and it has worked since', 'answer', 59, { accept: false, reason: 'context-unknown' }],
  ['its record, however long it is silent', 'transcript', 59, { accept: true, band: '[30,50)' }],
] as const)('what an agent may take on, known by %s', (_name, source, last, expected) => {
  const context = { used: 62_000, window: 200_000, usable: 180_000, percent: 31, source, at: at(0) };
  const agent = { agent: 'a-ps', host: 'h', state: 'idle', handoff: null, context, last_activity: at(last) };
  expect(admissionDocument(agent as AgentDocument, 'large', edges)).toMatchObject(expected);
});
