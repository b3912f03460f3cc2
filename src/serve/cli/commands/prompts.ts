import type { Command } from 'commander';
import type { LedgerEntry } from '../../../model/action.ts';
import { ledger } from '../../../run/records.ts';
import { databaseFailure, needDatabaseUrl } from '../database.ts';
import { clock, print, printJson, table } from '../output.ts';

const shownMax = 100;

export function addPrompts(program: Command): void {
  program
    .command('prompts')
    .summary('what was said to agents, and what came of it')
    .argument('[agent]', 'its name, as `status` shows it')
    .option('--json', 'one JSON document')
    .action(async (agent: string | undefined, options: { json?: boolean }) => {
      const read = await ledger(needDatabaseUrl(), { agent: agent ?? null, kind: 'prompt', limit: shownMax });
      if (!read.ok) throw databaseFailure(read.message);
      if (options.json) printJson({ v: 1, items: read.value.map(entryDocument) });
      else print(read.value.length === 0 ? 'nothing was said yet' : promptsText(read.value));
    });
}

/** One action as others script against it: the first outcome counts, later ones are what came of it. */
function entryDocument(entry: LedgerEntry) {
  const first = entry.outcomes[0];
  const answer = entry.outcomes.find((outcome) => outcome.outcome === 'answered')?.proof ?? null;
  return {
    id: entry.id,
    at: new Date(entry.atMs).toISOString(),
    agent: entry.agent,
    kind: entry.kind,
    trigger: entry.trigger,
    intent: entry.intent,
    outcome: first?.outcome ?? null,
    reason: first?.reason ?? null,
    finding: entry.finding,
    proof: first?.proof ?? null,
    answer: answer === null ? null : { text: answer.answer ?? null, ms: answer.answer_ms ?? null },
    outcomes: entry.outcomes.map(({ atMs, outcome, reason }) => ({
      at: new Date(atMs).toISOString(),
      outcome,
      reason,
    })),
  };
}

function promptsText(entries: LedgerEntry[]): string {
  const rows = entries.map((entry) => [
    { text: clock(entry.atMs) },
    { text: entry.agent },
    { text: entry.trigger },
    {
      text:
        entry.outcomes.map(({ outcome, reason }) => (reason === null ? outcome : `${outcome}: ${reason}`)).join(', ') ||
        'open',
    },
    { text: String(entry.intent.text ?? '') },
  ]);
  return table(['AT', 'AGENT', 'BY', 'OUTCOME', 'TEXT'], rows);
}
