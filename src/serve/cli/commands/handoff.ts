import { setTimeout as sleep } from 'node:timers/promises';
import type { Command } from 'commander';
import type { HandoffDocument } from '../../../handoff/documents.ts';
import { askDaemon } from '../daemon.ts';
import { seconds } from '../options.ts';
import { CommandFailure, exit } from '../outcome.ts';
import { print, printJson, when, wrapped } from '../output.ts';
import { refusalText } from '../refusal.ts';

interface HandoffOptions {
  dryRun?: boolean;
  wait: number;
  json?: boolean;
}

const pollMs = 300;

export function addHandoff(program: Command): void {
  program
    .command('handoff')
    .summary('hand the context of an agent over to a fresh one')
    .description(
      'Asks the agent for a handoff document, checks and stores it, clears the context, and has the fresh one read it ' +
        'and go on. Nothing is cleared before the document is good and stored. Waits for the end of its turn; the daemon ' +
        'goes on with it after this command has returned. Needs the authority `manage`.',
    )
    .argument('<agent>', 'its name, as `status` shows it')
    .option('--dry-run', 'say what would be done, and why not')
    .option('--wait <seconds>', 'wait until it is done or has failed', seconds, 0)
    .option('--json', 'one JSON document')
    .addHelpText('after', '\nExit codes: 0 done (--dry-run: could begin), 1 failed or refused, 6 not yet.')
    .action(async (agent: string, options: HandoffOptions) => {
      const dryRun = options.dryRun === true;
      const begun = await askDaemon('handoff', { agent, dryRun }, 30_000);
      const handoff = await waitFor(begun, options.wait * 1000);
      if (options.json) printJson(handoff);
      else print(await handoffText(handoff, dryRun));
      process.exitCode = exitCode(handoff, dryRun);
    });
}

/** A daemon that was started anew meanwhile may not know it yet. */
async function stateOf(id: string, before: HandoffDocument): Promise<HandoffDocument> {
  try {
    return await askDaemon('handoff-state', { id });
  } catch (error) {
    if (error instanceof CommandFailure && error.code === exit.notFound) return before;
    throw error;
  }
}

async function waitFor(begun: HandoffDocument, waitMs: number): Promise<HandoffDocument> {
  const { id } = begun;
  const endMs = performance.now() + waitMs;
  let now = begun;
  while (id !== null && !isOver(now) && performance.now() < endMs) {
    await sleep(pollMs);
    now = await stateOf(id, now);
  }
  return now;
}

function isOver({ step }: HandoffDocument): boolean {
  return step === 'done' || step === 'failed';
}

function exitCode({ step }: HandoffDocument, dryRun: boolean): number {
  if (step === 'failed') return exit.no;
  return step === 'done' || dryRun ? exit.ok : exit.timeout;
}

async function handoffText(handoff: HandoffDocument, dryRun = false): Promise<string> {
  const {
    agent,
    step,
    reason,
    file,
    recipe,
    steps,
    waits_for: waitsFor,
    warning,
    old_session: before,
    new_session: after,
  } = handoff;
  const why = reason === null ? '' : `: ${await refusalText(reason, agent, 'manage')}`;
  const by = recipe === 'document' ? '' : ` (recipe ${recipe})`;
  const lacks = warning === null ? [] : [`but ${warning}`];
  if (dryRun && step !== 'failed')
    return [`it would be asked for ${file ?? 'a document'}${by}`, ...lacks].map((text) => wrapped(text)).join('\n');
  const last = steps.at(-1);
  return [
    wrapped(`${step}${last === undefined ? '' : ` at ${when(last.at)}`}${why}`),
    ...lacks,
    ...(waitsFor === null ? [] : [`waiting: ${waitsFor}`]),
    ...(file === null ? [] : [`document: ${file}${by}`]),
    ...(before === null ? [] : [`session before: ${before}`]),
    ...(after === null ? [] : [`session after:  ${after}`]),
    ...(isOver(handoff) ? [] : [`the daemon goes on with it; \`watchkeeper handoffs ${agent}\` says how far it is`]),
  ]
    .map((text) => wrapped(text))
    .join('\n');
}
