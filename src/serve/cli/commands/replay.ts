import os from 'node:os';
import type { Command } from 'commander';
import { type ConfigPlaces, checkConfigFile, loadConfig } from '../../../run/config/load.ts';
import { judgeLimits, type ReplayLine, replayFile } from '../../../run/replay/replay.ts';
import { CommandFailure, exit } from '../outcome.ts';
import { print, printJson } from '../output.ts';

const codes = { 'not-found': exit.notFound, unreadable: exit.usage, 'unknown-format': exit.usage } as const;

export function addReplay(program: Command): void {
  program
    .command('replay')
    .summary('what would have been told about recorded runs')
    .description(
      'Puts recorded runs — transcripts of Claude Code, rollouts of Codex or neutral event files, plain or .gz — through the health checks ' +
        'on their own clock, through every silence, and prints what would have been seen and told. Nothing is changed.',
    )
    .argument('<file...>', 'the records')
    .option('--config <file>', 'with the thresholds of this configuration')
    .option('--json', 'one JSON document a line, the last the summary')
    .action(async (files: string[], options: { config?: string; json?: boolean }) => {
      const limits = judgeLimits(configFor(options.config));
      for (const [place, file] of files.entries()) {
        if (process.stderr.isTTY && files.length > 1) process.stderr.write(`\rreplay ${place + 1} of ${files.length} `);
        const done = await replayFile(file, limits, options.json ? printJson : printLine);
        if (process.stderr.isTTY && files.length > 1) process.stderr.write('\r');
        if (!done.ok) throw new CommandFailure(codes[done.reason], done.message, done.fix ?? null);
      }
    });
}

function configFor(file: string | undefined) {
  const places: ConfigPlaces = {
    file: process.env.WATCHKEEPER_CONFIG ?? null,
    home: os.homedir(),
    projectDir: process.cwd(),
  };
  const loaded = file === undefined ? loadConfig(places) : checkConfigFile(file, places);
  if (!loaded.ok) throw new CommandFailure(exit.usage, loaded.message, 'see `watchkeeper config check`');
  return loaded.value.config;
}

function printLine(line: ReplayLine): void {
  if ('summary' in line) print(summaryText(line.summary));
  else if ('finding' in line) {
    const word = line.event === 'open' ? 'TROUBLE' : 'over   ';
    print(`${place(line)}  ${word} ${line.finding.check}: ${line.finding.evidence[0]?.text ?? ''}`);
  } else print(`${place(line)}  ${line.detail === null ? line.state : `${line.state}/${line.detail}`}`);
}

function place({ index, at }: { index: number; at: string | null }): string {
  return `${String(index).padStart(6)}  ${at ?? '-'.padEnd(24)}`;
}

function summaryText(summary: Extract<ReplayLine, { summary: unknown }>['summary']): string {
  const found = Object.entries(summary.findings).map(([check, count]) => `${check} ${count}`);
  const { without_time: timeless = 0, ...odd } = summary.set_aside;
  const aside = summary.malformed + summary.oversized + Object.values(odd).reduce((a, b) => a + b, 0);
  return (
    `${summary.file}: ${summary.format}, ${summary.lines} lines, ${summary.steps} steps, ` +
    `${found.length === 0 ? 'nothing found' : found.join(', ')}${aside === 0 ? '' : `; ${aside} odd records counted`}` +
    (timeless === 0 || timeless < summary.events ? '' : '; without times, so silences are not seen')
  );
}
