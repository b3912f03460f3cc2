import os from 'node:os';
import type { Command } from 'commander';
import { recordedClients } from '../../../clients/clients.ts';
import { type ConfigPlaces, isConfigured } from '../../../config/places.ts';
import { counted } from '../../../model/count.ts';
import type { ReplayJob, ReplayPart } from '../../../replay/part.ts';
import { findRecords, ownHistory } from '../../../replay/records.ts';
import { judgeLimits, type ReplayLine } from '../../../replay/replay.ts';
import { type ReplayTotals, replayAll } from '../../../replay/totals.ts';
import { CommandFailure, exit } from '../outcome.ts';
import { dateAndClock, hanging, print, printJson, say, wrapped } from '../output.ts';
import { Progress } from '../progress.ts';
import { sinceOf } from '../since.ts';

const titles = recordedClients.map(({ title }) => title);
const records = recordedClients.map(({ title, runs }) => `${runs.noun}s of ${title}`).join(', ');

const codes = { 'not-found': exit.notFound, unreadable: exit.usage, 'unknown-format': exit.usage } as const;

interface Options {
  config?: string;
  since?: string;
  json?: boolean;
}

export function addReplay(program: Command): void {
  program
    .command('replay')
    .summary('what would have been told about recorded runs')
    .description(
      `Puts recorded runs — ${records} or neutral event files, plain or .gz — through the health checks ` +
        'by the times on record, and prints what would have been seen and told. Nothing is changed. ' +
        'For one record it prints every change of state, for several only troubles, and with --json always everything.',
    )
    .argument('[path...]', `records, or folders of them; none: all that ${titles.join(' and ')} keep in your home`)
    .option('--since <time>', 'only what was told since: 7d, 12h, 30m or a date')
    .option('--config <file>', 'with the thresholds of this configuration')
    .option('--json', 'one JSON document a line, the last the summary')
    .action(replay);
}

async function replay(paths: string[], options: Options): Promise<void> {
  const config = await configFor(options.config);
  const nowMs = Date.now();
  const sinceMs = options.since === undefined ? null : sinceOf(options.since, nowMs);
  if (Number.isNaN(sinceMs)) {
    throw new CommandFailure(exit.usage, `--since ${options.since} is no time`, 'write 7d, 12h, 30m or 2026-03-01');
  }
  const given = paths.length > 0 ? paths : ownHistory(os.homedir(), config.configDirs);
  if (given.length === 0) {
    throw new CommandFailure(
      exit.notFound,
      `no history of ${titles.join(' or ')} in your home`,
      'name a record or a folder',
    );
  }
  const found = findRecords(given, sinceMs);
  if (!found.ok) throw new CommandFailure(codes[found.reason], found.message, found.fix ?? null);
  const { jobs, closed } = found.value;
  if (jobs.length === 0 && sinceMs === null) {
    throw new CommandFailure(
      exit.notFound,
      `no record in ${given.join(', ')}`,
      'one ends in .jsonl or .ndjson, or in .gz after that',
    );
  }
  const alone = jobs.length === 1 && jobs[0]?.named === true;
  const json = options.json === true;
  const progress = new Progress(
    jobs.reduce((sum, { bytes }) => sum + bytes, 0),
    counted(jobs.length, 'record'),
  );
  let heading: ReplayJob | null = null;
  const tell = (job: ReplayJob, part: ReplayPart) => {
    if ('read' in part) return progress.add(part.read);
    if ('json' in part) return progress.above(() => void process.stdout.write(part.json));
    const told: string[] = [];
    for (const line of part.lines) {
      const isFinding = 'finding' in line;
      if (!alone && isFinding && heading !== job) told.push(job.name);
      if (!alone && isFinding) heading = job;
      if (alone || isFinding) told.push(lineText(line));
    }
    if (told.length > 0) progress.above(() => print(told.join('\n')));
  };
  const done = await replayAll(
    jobs,
    { limits: judgeLimits(config), sinceMs, nowMs, json, states: json || alone },
    tell,
  );
  progress.clear();
  if (!done.ok) throw new CommandFailure(codes[done.reason], done.message, done.fix ?? null);
  if (alone) return;
  if (json) printJson({ v: 1, summary: done.value });
  else print(totalsText(done.value));
  if (closed > 0) say(`${counted(closed, 'folder')} could not be read`);
}

async function configFor(file: string | undefined) {
  const places: ConfigPlaces = {
    file: process.env.WATCHKEEPER_CONFIG ?? null,
    home: os.homedir(),
    projectDir: process.cwd(),
  };
  if (file === undefined && !isConfigured(places)) return { configDirs: () => [] };
  const { checkConfigFile, loadConfig } = await import('../../../config/load.ts');
  const { configDirsOf } = await import('../../../config/clients.ts');
  const loaded = file === undefined ? loadConfig(places) : checkConfigFile(file, places);
  if (!loaded.ok)
    throw new CommandFailure(
      exit.usage,
      loaded.message,
      `see \`watchkeeper config check${file === undefined ? '' : ` ${file}`}\``,
    );
  const { stall, waiting, judging, clients } = loaded.value.config;
  return { stall, waiting, judging, configDirs: (client: string) => configDirsOf(clients, client) };
}

/** Whole where a program reads it. */
const columns = process.stdout.isTTY ? undefined : Number.POSITIVE_INFINITY;

function lineText(line: ReplayLine): string {
  if ('summary' in line)
    return wrapped(`${line.summary.file}: ${line.summary.format}, ${countsText(line.summary)}`, '', columns);
  if ('finding' in line) {
    const { check, evidence } = line.finding;
    const why = evidence[0]?.text;
    const text = why === undefined ? check : `${check}: ${why}`;
    // Over is over: why it began stands where it began.
    return line.event === 'open'
      ? hanging([{ text: place(line) }, { text: 'TROUBLE', color: 'red' }], text, columns)
      : `${place(line)}  over     ${check}`;
  }
  return `${place(line)}  ${line.detail === null ? line.state : `${line.state}/${line.detail}`}`;
}

/** Which record of the file, and when, on the reader's clock. */
function place({ index, at }: { index: number; at: string | null }): string {
  return `${String(index).padStart(6)}  ${at === null ? '-'.padEnd(19) : dateAndClock(at)}`;
}

function totalsText(totals: ReplayTotals): string {
  const { unreadable: other } = totals;
  const unread = other === 0 ? '' : `; ${counted(other, 'other file')} could not be read as a record`;
  return wrapped(`${counted(totals.files, 'record')}, ${countsText(totals)}${unread}`, '', columns);
}

function countsText(counts: Omit<ReplayTotals, 'files' | 'unreadable'>): string {
  const found = Object.entries(counts.findings).map(([check, count]) => `${check} ${count}`);
  // Clients write records a moment out of order all the time: nothing to worry a reader with.
  const { without_time: timeless = 0, clock_back: _, ...odd } = counts.set_aside;
  const aside = counts.malformed + counts.oversized + Object.values(odd).reduce((a, b) => a + b, 0);
  return (
    `${counted(counts.lines, 'line')}, ${counted(counts.steps, 'step')}, ` +
    `${found.length === 0 ? 'nothing found' : found.join(', ')}${aside === 0 ? '' : `; ${counted(aside, 'odd record')} set aside`}` +
    (timeless === 0 || timeless < counts.events ? '' : '; without times, so silences are not seen')
  );
}
