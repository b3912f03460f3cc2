import { healthCheck, noThresholds } from '../check.ts';

declare module '../../model/check.ts' {
  interface CheckNames {
    'silent-stop': true;
  }
}

/** The client says that it is idle up to half a second before its record has the turn that made it so. */
const settleMs = 1_000;

export const silentStop = healthCheck({
  name: 'silent-stop',
  title: 'stopped after an error',
  evidence: "the client's own record of the error that ended the turn",
  why: 'The client gave the turn up after errors and went back to its prompt, which nobody notices until morning. It is over when the work is taken up again; the answer to another question does not count.',
  isShared: true,
  thresholds: noThresholds,
  ladder: { template: 'continue', promptsMax: 3, tells: 'repeat', moment: 'idle', purpose: 'sets-going' },
  worth: {
    ground: { by: 'record', why: "the client's own record of the error that ended the turn" },
    right: 'It went on only after a prompt, by a rule or a person. Wrong: it went on by itself.',
    verdicts: { 'prompt-helped': 'right', 'human-wrote': 'right', failed: 'right', 'by-itself': 'wrong' },
  },
  look({ view, nowMs }) {
    if (view.reading.state !== 'idle') return { fine: `it is ${view.reading.state}` };
    const { stopped } = view;
    if (stopped === null)
      return { fine: view.lastTurn === null ? 'no turn yet' : `the last turn ended ${view.lastTurn}` };
    // Continued, and at its prompt again: the new turn counts, however soon its end is written.
    if (view.turnIsOpen) return { fine: 'a newer turn has begun' };
    const idleSinceMs = view.reading.sinceMs;
    const endedMs = view.lastTurnAtMs ?? idleSinceMs;
    const idleMs = nowMs - idleSinceMs;
    // It came to its prompt long after that turn, so from another one, which is on record any moment.
    if (idleSinceMs - endedMs >= settleMs && idleMs >= 0 && idleMs < settleMs)
      return { fine: 'it came to its prompt just now' };
    return {
      found: {
        severity: 'warning',
        confidence: 0.9,
        sinceMs: stopped.sinceMs,
        evidence: [{ source: 'transcript', atMs: stopped.sinceMs, text: stopped.error ?? 'the last turn failed' }],
        action: null,
      },
    };
  },
});
