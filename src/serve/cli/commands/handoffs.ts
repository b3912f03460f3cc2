import path from 'node:path';
import type { Command } from 'commander';
import type { HandoffDocument } from '../../../handoff/documents.ts';
import { handoffRecords } from '../../../handoff/records.ts';
import { shown } from '../../../model/text.ts';
import { onRecord, queryFailure } from '../database.ts';
import { ago, print, printJson, say, table, when } from '../output.ts';

export function addHandoffs(program: Command): void {
  program
    .command('handoffs')
    .summary('the handoffs of the last days, and how far each came')
    .description(
      'Every handoff with its step, oldest first, and its document by name; --json has every step with its time and the ' +
        'whole path. Read from the record, so it works with the daemon down too.',
    )
    .argument('[agent]', 'its name, as `status` shows it')
    .option('--json', 'one JSON document')
    .action(async (agent: string | undefined, options: { json?: boolean }) => {
      const read = await onRecord((url) => handoffRecords(url, agent ?? null));
      if (!read.ok) throw queryFailure(read);
      if (options.json) printJson({ v: 1, items: read.value });
      else if (read.value.length === 0) say('no handoff yet');
      else print(handoffsText(read.value));
    });
}

function handoffsText(handoffs: HandoffDocument[]): string {
  // Where all are of our own kind there is nothing to tell them apart by.
  const hasRecipes = handoffs.some(({ recipe }) => recipe !== 'document');
  const rows = handoffs.map(({ agent, trigger, step, reason, steps, recipe, requested_at: requested, file }) => [
    { text: when(requested) },
    { text: agent },
    { text: trigger },
    { text: reason === null ? step : `${step}: ${reason}` },
    { text: ago(Date.parse(requested), Date.parse(steps.at(-1)?.at ?? requested)) },
    ...(hasRecipes ? [{ text: recipe }] : []),
    // Its name says most; the whole path is in `handoff` and in --json.
    { text: file === null ? '-' : shown(path.basename(file)) },
  ]);
  return table(['AT', 'AGENT', 'BY', 'STEP', 'TOOK', ...(hasRecipes ? ['RECIPE'] : []), 'DOCUMENT'], rows);
}
