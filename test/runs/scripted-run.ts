import { allExcuses } from '../../src/clients/clients.ts';
import { callSign, resultSign } from '../../src/clients/signs.ts';
import { valuesOf } from '../../src/detect/checks.ts';
import { loopLimits } from '../../src/detect/loops/check.ts';
import { type RunFinding, RunJudge } from '../../src/detect/loops/judge.ts';
import type { RunEvent } from '../../src/model/run-event.ts';
import type { SessionFact, TokenUsage } from '../../src/model/session-event.ts';
import { untrusted } from '../../src/model/text.ts';

export const minute = 60_000;
export const limits = { loop: loopLimits, values: valuesOf(), completion: null };

/** A run written down step by step; its index is the number of the event, its clock goes a second per event. */
export class ScriptedRun {
  readonly events: RunEvent[] = [];
  readonly #open: string[] = [];
  #nowMs = Date.parse('2026-11-15T12:00:00Z');

  add(fact: SessionFact, side = false): this {
    this.#nowMs += 1_000;
    const index = this.events.length;
    if (fact.kind === 'tool-call') this.#open.push(fact.id);
    this.events.push({ index, side, atMs: this.#nowMs, key: `k${index}`, fact });
    return this;
  }

  wait(ms: number): this {
    this.#nowMs += ms;
    return this;
  }

  user(): this {
    return this.add({ kind: 'prompt', origin: 'typed', chars: 5, tags: [] });
  }

  says(text: string, ends = false): this {
    return this.add({ kind: 'reply', model: 'm', messageId: '', usage: null, ends, text: untrusted(text) });
  }

  /** A request to the model, with what it took. */
  takes(usage: Partial<TokenUsage>, model = 'm'): this {
    const messageId = `m${this.events.length}`;
    const whole = { input: 0, cacheRead: 0, cacheCreate: 0, output: 0, ...usage };
    return this.add({ kind: 'reply', model, messageId, usage: whole, ends: false, text: untrusted('') });
  }

  calls(tool: string, text: string, args = text): this {
    const id = `c${this.events.length}`;
    return this.add({ kind: 'tool-call', id, tool, about: null, sign: callSign(tool, text, args) });
  }

  /** The answer to the last call that has none. */
  gets(output: string, isError = false): this {
    const id = this.#open.pop() ?? 'nobody';
    return this.add({
      kind: 'tool-result',
      id,
      isError,
      started: null,
      sign: resultSign(output, isError, { excuses: allExcuses }),
    });
  }

  bash(command: string, output: string, isError = false): this {
    return this.calls('Bash', command).gets(output, isError);
  }

  edit(file: string, from: string, to: string, output = 'The file has been updated.', isError = false): this {
    const id = `c${this.events.length}`;
    const sign = { ...callSign('Edit', file, `${file} ${from} ${to}`), edit: { from, to } };
    return this.add({ kind: 'tool-call', id, tool: 'Edit', about: null, sign }).gets(output, isError);
  }

  times(n: number, what: (run: ScriptedRun, turn: number) => void): this {
    for (let turn = 0; turn < n; turn += 1) what(this, turn);
    return this;
  }

  findings(): RunFinding[] {
    return judge(this.events);
  }

  /** The names of the checks that raised something, in order. */
  found(): string[] {
    return this.findings().map(({ check }) => check);
  }
}

export function run(): ScriptedRun {
  return new ScriptedRun().user();
}

export function judge(events: readonly RunEvent[]): RunFinding[] {
  const findings: RunFinding[] = [];
  const judge = new RunJudge(limits, ({ event, finding }) => {
    if (event === 'open') findings.push(finding);
  });
  for (const event of events) judge.take(event);
  return findings;
}
