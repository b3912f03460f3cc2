import os from 'node:os';
import type { Command } from 'commander';
import { loadConfig } from '../../../config/load.ts';
import { type ContextDocument, contextDocument, contextOf } from '../../../daemon/context-document.ts';
import { askControl } from '../../../daemon/control.ts';
import { findHome, runningDaemon } from '../../../home/home.ts';
import { counted } from '../../../model/count.ts';
import { wholePercent } from '../../../model/percent.ts';
import { type Bar, barChart } from '../chart.ts';
import { onRecord, queryFailure } from '../database.ts';
import { CommandFailure, exit } from '../outcome.ts';
import { ago, line, print, printJson, roomFor, tokens, when } from '../output.ts';

const answerMs = 3_000;

export function addContext(program: Command): void {
  program
    .command('context')
    .summary("how an agent's context filled, and when it will be full")
    .description(
      "The context of an agent's present session, turn by turn, with its band and the forecast. Read from the record, so it works with the daemon down too.",
    )
    .argument('<agent>', 'its name, as `status` shows it')
    .option('--json', 'one JSON document')
    .action(async (agent: string, options: { json?: boolean }) => {
      const bands = await daemonBands();
      const read = await onRecord((url) => contextOf(url, agent));
      if (!read.ok) throw queryFailure(read);
      const nowMs = Date.now();
      const document = contextDocument(read.value, bands ?? ownBands(), nowMs);
      if (options.json) printJson(document);
      else print(contextText(document, bands !== null, nowMs));
    });
}

/** As the daemon has them in force; null: none answers. */
async function daemonBands(): Promise<readonly number[] | null> {
  const daemon = runningDaemon(findHome(process.env));
  if (daemon === null) return null;
  const status = await askControl(daemon.sockets.control, { ask: 'status' }, answerMs);
  return status.ok ? status.value.daemon.bands : null;
}

function ownBands(): readonly number[] {
  const places = { file: process.env.WATCHKEEPER_CONFIG ?? null, home: os.homedir(), projectDir: process.cwd() };
  const loaded = loadConfig(places);
  if (!loaded.ok) throw new CommandFailure(exit.usage, loaded.message);
  return loaded.value.config.bands;
}

function contextText(document: ContextDocument, isLive: boolean, nowMs: number): string {
  const { agent, context, band, rule, points, room } = document;
  if (context === null)
    return `${agent}: its context is not known${points.length === 0 ? ', there is no figure in this session yet' : ''}`;
  const heard = isLive ? `${ago(Date.parse(context.at), nowMs)} ago` : `at ${when(context.at)}, no daemon`;
  const bars = turnBars(points);
  return [
    `${agent}: ${wholePercent(context.percent)}% of ${tokens(context.window)} used (${tokens(context.used)}), by its ${context.source}, ${heard}`,
    `band ${band}: ${rule}`,
    ...(bars.length === 0 ? [] : [...barChart(bars, roomFor()), `${' '.repeat(6)}${barsText(bars)}`]),
    ...forecastLines(document, nowMs),
    compactionText(document),
    room === 0
      ? 'room: none, the client takes no more'
      : `room: ${tokens(room ?? 0)} of the ${tokens(context.usable)} the client lets one use`,
  ]
    .map(line)
    .join('\n');
}

function barsText(bars: Bar[]): string {
  const compacted = bars.some(({ mark }) => mark !== null) ? '; c: compacted' : '';
  return `${counted(bars.length, 'turn')} of this session${compacted}`;
}

/** The last figure of each turn; a compaction stands by itself. */
function turnBars(points: ContextDocument['points']): Bar[] {
  const bars: Bar[] = [];
  for (const [index, { percent, compacted, turn_at: turn }] of points.entries()) {
    const before = points[index - 1];
    const goesOn = before !== undefined && before.turn_at === turn && before.compacted === null && compacted === null;
    if (goesOn) bars.pop();
    bars.push({ percent, mark: compacted === null ? null : 'c' });
  }
  return bars;
}

function forecastLines({ forecast, state }: ContextDocument, nowMs: number): string[] {
  if (state === 'ended') return ['forecast: it has ended'];
  if (forecast === null) return ['forecast: too little has been seen to say'];
  const { band, usable_end: end, compaction } = forecast;
  const reach = ({ at, low, high, steps }: NonNullable<typeof end>) =>
    `in about ${ahead(at, nowMs)} of work (${ahead(low, nowMs)} to ${ahead(high, nowMs)}), ${counted(steps, 'step')}`;
  const lines = [
    ...(band === 'usable-end' ? [] : [`band ${band} ${reach(forecast)}`]),
    ...(end === null ? [] : [`full ${reach(end)}`]),
    // The client would rather not let it come to that.
    ...(compaction === null ? [] : [`compacted ${reach(compaction)}`]),
  ];
  return lines.map((text, index) => `${index === 0 ? 'forecast:' : '         '} ${text}`);
}

function compactionText({ client_compacts: seen, compacts_at: mark, points }: ContextDocument): string {
  const last = points.findLast((point) => point.compacted !== null);
  const here =
    last === undefined
      ? 'not compacted in this session'
      : `compacted (${last.compacted}) at ${when(last.at)}, ${last.used_before === null ? '' : `from ${tokens(last.used_before)} `}to ${tokens(last.used)}`;
  const byItself =
    seen?.used_before != null
      ? `the client did it by itself at ${tokens(seen.used_before)}`
      : mark === null
        ? 'the client does not do it by itself on this model'
        : `the client does it by itself at ${tokens(mark)}`;
  return `${here}; ${byItself}`;
}

function ahead(at: string, nowMs: number): string {
  return ago(nowMs, Date.parse(at));
}
