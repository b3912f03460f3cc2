import { describe, expect, it } from 'vitest';
import { run, type ScriptedRun } from '../../../test/runs/scripted-run.ts';

/** Looks at something new, `tokens` long, and changes something. The context grows by what is read. */
class Work {
  readonly script = run();
  #context = 20_000;

  changes(n: number, tokens: number): this {
    for (let turn = 0; turn < n; turn += 1) {
      const place = this.script.events.length;
      this.#context += tokens;
      this.script.takes({ input: 10, cacheRead: this.#context, output: 100 }).edit('a.ts', `x${place}`, `y${place}`);
    }
    return this;
  }

  /** A person's word, some reading, a change. */
  asked(n: number, tokens: number): this {
    for (let turn = 0; turn < n; turn += 1) {
      this.script.user();
      this.changes(1, tokens);
      this.script.says('done', true);
    }
    return this;
  }
}

const healthy: [string, ScriptedRun][] = [
  ['changes that take the same', new Work().changes(40, 2_000).script],
  ['a context that grows and is sent with every request', new Work().changes(60, 1_500).script],
  ['one hard change', new Work().changes(15, 2_000).changes(1, 60_000).changes(10, 2_000).script],
  ['harder changes that are small all the same', new Work().changes(15, 300).changes(6, 3_000).script],
  ['a run that was hard from the start', new Work().changes(6, 40_000).script],
  ['long reading after each word of a person', new Work().changes(15, 2_000).asked(8, 40_000).script],
];

describe('low-efficiency', () => {
  it.each(healthy)('raises nothing for %s', (_, script) => expect(script.found()).not.toContain('low-efficiency'));
  it('raises changes that take many times what they took', () =>
    expect(new Work().changes(15, 2_000).changes(6, 30_000).script.found()).toContain('low-efficiency'));
});
