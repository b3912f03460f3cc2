import os from 'node:os';
import type { Command } from 'commander';
import { judgedByDefault } from '../../../run/config/judged.ts';
import { type ConfigPlaces, isConfigured } from '../../../run/config/places.ts';
import type { ReplayJob, ReplayPart } from '../../../run/replay/part.ts';
import { findRecords, ownHistory } from '../../../run/replay/records.ts';
import { judgeLimits, type ReplayLine } from '../../../run/replay/replay.ts';
import { type ReplayTotals, replayAll } from '../../../run/replay/totals.ts';
import { CommandFailure, exit } from '../outcome.ts';
import { print, printJson } from '../output.ts';
import { Progress } from '../progress.ts';
import { sinceOf } from '../since.ts';

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
      'Puts recorded runs — transcripts of Claude Code, rollouts of Codex or neutral event files, plain or .gz — through the health checks ' +
        'on their own clock, through every silence, and prints what would have been seen and told. Nothing is changed. ' +
        'Of one record every change of state is printed, of several only what was wrong; with --json always everything.',
    )
    .argument('[path...]', 'records, or folders of them; none: all that Claude Code and Codex keep in your home')
    .option('--since <time>', 'only what was told since: 7d, 12h, 30m or a date')
    .option('--config <file>', 'with the thresholds of this configuration')
    .option('--json', 'one JSON document a line, the last the summary')
    .addHelpText('after', '\nWhat would you have told me last week?\n  watchkeeper replay --since 7d')
    .action(replay);
}

async function replay(paths: string[], options: Options): Promise<void> {
  const config = await configFor(options.config);
  const sinceMs = options.since === undefined ? null : sinceOf(options.since, Date.now());
  if (Number.isNaN(sinceMs)) {
    throw new CommandFailure(exit.usage, `--since ${options.since} is no time`, 'use 7d, 12h, 30m or 2026-03-01');
  }
  const given = paths.length > 0 ? paths : ownHistory(os.homedir(), config.configDirs);
  if (given.length === 0) {
    throw new CommandFailure(
      exit.notFound,
      'no history of Claude Code or Codex in your home',
      'name a record or a folder',
    );
  }
  const found = findRecords(given, sinceMs);
  if (!found.ok) throw new CommandFailure(codes[found.reason], found.message, found.fix ?? null);
  const jobs = found.value;
  const alone = jobs.length === 1 && jobs[0]?.named === true;
  const json = options.json === true;
  const progress = new Progress(
    jobs.reduce((sum, { bytes }) => sum + bytes, 0),
    jobs.length,
  );
  let heading: ReplayJob | null = null;
  const tell = (job: ReplayJob, part: ReplayPart) => {
    if ('read' in part) return progress.add(part.read);
    progress.clear();
    if ('json' in part) {
      process.stdout.write(part.json);
      return;
    }
    const told: string[] = [];
    for (const line of part.lines) {
      const isFinding = 'finding' in line;
      if (!alone && isFinding && heading !== job) told.push(job.name);
      if (!alone && isFinding) heading = job;
      if (alone || isFinding) told.push(lineText(line));
    }
    if (told.length > 0) print(told.join('\n'));
  };
  const done = await replayAll(jobs, { limits: judgeLimits(config), sinceMs, json, states: json || alone }, tell);
  progress.clear();
  if (!done.ok) throw new CommandFailure(codes[done.reason], done.message, done.fix ?? null);
  if (alone) return;
  if (json) printJson({ v: 1, summary: done.value });
  else print(totalsText(done.value));
}

async function configFor(file: string | undefined) {
  const places: ConfigPlaces = {
    file: process.env.WATCHKEEPER_CONFIG ?? null,
    home: os.homedir(),
    projectDir: process.cwd(),
  };
  if (file === undefined && !isConfigured(places)) return { ...judgedByDefault, configDirs: [] };
  const { checkConfigFile, loadConfig } = await import('../../../run/config/load.ts');
  const loaded = file === undefined ? loadConfig(places) : checkConfigFile(file, places);
  if (!loaded.ok) throw new CommandFailure(exit.usage, loaded.message, 'see `watchkeeper config check`');
  const { stall, waiting, judging, clients } = loaded.value.config;
  return { stall, waiting, judging, configDirs: clients.claudeCode.configDirs };
}

function lineText(line: ReplayLine): string {
  if ('summary' in line) return `${line.summary.file}: ${line.summary.format}, ${countsText(line.summary)}`;
  if ('finding' in line) {
    const word = line.event === 'open' ? 'TROUBLE' : 'over   ';
    return `${place(line)}  ${word} ${line.finding.check}: ${line.finding.evidence[0]?.text ?? ''}`;
  }
  return `${place(line)}  ${line.detail === null ? line.state : `${line.state}/${line.detail}`}`;
}

function place({ index, at }: { index: number; at: string | null }): string {
  return `${String(index).padStart(6)}  ${at ?? '-'.padEnd(24)}`;
}

function totalsText(totals: ReplayTotals): string {
  const unread = totals.unreadable === 0 ? '' : `; ${totals.unreadable} files there are no records`;
  return `${totals.files} records, ${countsText(totals)}${unread}`;
}

function countsText(counts: Omit<ReplayTotals, 'files' | 'unreadable'>): string {
  const found = Object.entries(counts.findings).map(([check, count]) => `${check} ${count}`);
  const { without_time: timeless = 0, ...odd } = counts.set_aside;
  const aside = counts.malformed + counts.oversized + Object.values(odd).reduce((a, b) => a + b, 0);
  return (
    `${counts.lines} lines, ${counts.steps} steps, ` +
    `${found.length === 0 ? 'nothing found' : found.join(', ')}${aside === 0 ? '' : `; ${aside} odd records counted`}` +
    (timeless === 0 || timeless < counts.events ? '' : '; without times, so silences are not seen')
  );
}
