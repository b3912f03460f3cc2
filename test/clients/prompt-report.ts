// docs/reports/prompts.md: what was said in which state, what came of it, and how fast the proof was.
import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Said } from './prompting.ts';

interface AnsweredInTime {
  given: number;
  in_time: number;
}

interface Row {
  sent: number;
  taken: Map<string, number>;
  refused: Map<string, number>;
  exact: number;
  wrong: string[];
}

const root = path.join(path.dirname(fileURLToPath(import.meta.url)), '../..');

export class PromptReport {
  readonly #rows = new Map<string, Row>();
  readonly #refusals = new Map<string, { asked: number; reasons: Map<string, number>; untouched: number }>();
  readonly #proofMs: number[] = [];
  readonly #drafts = { there: 0, back: 0 };
  #answered: AnsweredInTime = { given: 0, in_time: 0 };

  sent(state: string, said: Said): void {
    const row = this.#row(state);
    row.sent += 1;
    if (said.proof === null) add(row.refused, `${said.outcome} ${said.reason}`);
    else add(row.taken, said.outcome);
    if (said.proof_ms !== null) this.#proofMs.push(said.proof_ms);
  }

  exact(state: string): void {
    this.#row(state).exact += 1;
  }

  wrong(state: string, message: string): void {
    this.#row(state).wrong.push(message);
  }

  draft(isBack: boolean): void {
    this.#drafts.there += 1;
    if (isBack) this.#drafts.back += 1;
  }

  /** As `status` has it in the end. */
  answered(counted: AnsweredInTime): void {
    this.#answered = counted;
  }

  refused(where: string, said: Said, untouched: boolean): void {
    const row = this.#refusals.get(where) ?? { asked: 0, reasons: new Map<string, number>(), untouched: 0 };
    this.#refusals.set(where, row);
    row.asked += 1;
    add(row.reasons, said.outcome === 'refused' ? `${said.reason}` : `${said.outcome} (!)`);
    if (untouched) row.untouched += 1;
  }

  get totals() {
    const rows = [...this.#rows.values()];
    const sum = (of: (row: Row) => number) => rows.reduce((all, row) => all + of(row), 0);
    const proofs = this.#proofMs.sort((a, b) => a - b);
    return {
      sent: sum((row) => row.sent),
      taken: sum((row) => total(row.taken)),
      exact: sum((row) => row.exact),
      wrong: rows.flatMap((row) => row.wrong),
      drafts: { ...this.#drafts },
      medianMs: Math.round(proofs[Math.floor(proofs.length / 2)] ?? 0),
      maxMs: Math.round(proofs.at(-1) ?? 0),
    };
  }

  /** `npm run test:long` keeps it with the documentation; other runs leave the tree as it is. */
  write(): void {
    const folder = path.join(root, process.env.WATCHKEEPER_REPORTS ?? 'test-results');
    mkdirSync(folder, { recursive: true });
    writeFileSync(path.join(folder, 'prompts.md'), this.#text());
  }

  #row(state: string): Row {
    const row = this.#rows.get(state) ?? { sent: 0, taken: new Map(), refused: new Map(), exact: 0, wrong: [] };
    this.#rows.set(state, row);
    return row;
  }

  #text(): string {
    const { sent, taken, exact, drafts, medianMs, maxMs } = this.totals;
    const refusals = [...this.#refusals.values()];
    const asked = refusals.reduce((sum, row) => sum + row.asked, 0);
    const untouched = refusals.reduce((sum, row) => sum + row.untouched, 0);
    return [
      '# Prompts on the real client',
      '',
      'Written by `test/long/prompts.test.ts`: `watchkeeper prompt` to the real Claude Code 2.1.325, started directly, under',
      "bash and under sh, in manual and auto permission mode. What arrived is read from the model server's log; exact means",
      'the text before the tag once and byte for byte.',
      '',
      `- exact: ${exact} of ${sent}`,
      `- sendable moments confirmed or queued with proof: ${taken} of ${sent} (${percent(taken, sent)})`,
      `- drafts back in the box: ${drafts.back} of ${drafts.there}`,
      `- from Enter to proof: median ${medianMs} ms, slowest ${maxMs} ms`,
      `- answered in time (30 s), by \`status\` after a restart: ${this.#answered.in_time} of ${this.#answered.given}`,
      `- refused where it could do harm, nothing typed: ${untouched} of ${asked}`,
      '',
      '| state | sent | confirmed | queued | not sent | exact |',
      '|---|---|---|---|---|---|',
      ...[...this.#rows].map(
        ([state, row]) =>
          `| ${state} | ${row.sent} | ${row.taken.get('confirmed') ?? 0} | ${row.taken.get('queued') ?? 0} | ${list(row.refused)} | ${row.exact} |`,
      ),
      '',
      '| where nothing may be typed | asked | refused, by reason | screen and server log unchanged |',
      '|---|---|---|---|',
      ...[...this.#refusals].map(
        ([where, row]) => `| ${where} | ${row.asked} | ${list(row.reasons)} | ${row.untouched} |`,
      ),
      '',
    ].join('\n');
  }
}

function add(counts: Map<string, number>, key: string): void {
  counts.set(key, (counts.get(key) ?? 0) + 1);
}

const total = (counts: Map<string, number>) => [...counts.values()].reduce((sum, count) => sum + count, 0);
const list = (counts: Map<string, number>) =>
  counts.size === 0 ? '0' : [...counts].map(([what, count]) => `${count} ${what}`).join(', ');
const percent = (part: number, whole: number) => `${whole === 0 ? 0 : ((part / whole) * 100).toFixed(1)} %`;
