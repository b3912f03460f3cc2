import { setTimeout as sleep } from 'node:timers/promises';
import type { Command } from 'commander';
import { configWayOut } from '../../../config/places.ts';
import type { AgentDocument, StatusDocument } from '../../../daemon/status.ts';
import { handoffWaitsText } from '../../../handoff/documents.ts';
import { findHome } from '../../../home/home.ts';
import { counted } from '../../../model/count.ts';
import { wholePercent } from '../../../model/percent.ts';
import { askDaemon } from '../daemon.ts';
import { holdText } from '../hold-text.ts';
import { hostsText } from '../hosts-text.ts';
import { CommandFailure, exit } from '../outcome.ts';
import { ago, type Cell, type Color, line, print, printJson, table, tokens } from '../output.ts';

interface StatusOptions {
  allHosts?: boolean;
  watch?: boolean;
  json?: boolean;
}

const watchMs = 1_000;

export function addStatus(program: Command): void {
  program
    .command('status')
    .summary('what every agent is doing now')
    .description('Shows every agent: its state and since when, where the word comes from, context, last turn.')
    .argument('[agent]', 'only this one')
    .option('--all-hosts', 'those of every host on this database, as each last wrote them down')
    .option('-w, --watch', 'show it anew every second')
    .option('--json', 'one JSON document; with --watch one a line')
    .addHelpText(
      'after',
      '\nStates: working (thinking, tool, subagent, api-stall), idle, waiting\n' +
        '(permission, question, dialog, setup), retrying, limited, compacting, ended,\n' +
        "unknown. SOURCE says who told: registry and transcript are the client's own\n" +
        'records.',
    )
    .action(async (name: string | undefined, options: StatusOptions) => {
      if (options.allHosts && name !== undefined)
        throw new CommandFailure(exit.usage, '--all-hosts shows every agent', 'name one without it');
      do {
        const { document, text } = options.allHosts ? await ofAllHosts() : await ofThisHost(name);
        if (options.json) printJson(document);
        else {
          if (options.watch && process.stdout.isTTY) process.stdout.write('\u001b[H\u001b[2J');
          print(text());
        }
        if (options.watch) await sleep(watchMs);
      } while (options.watch);
    });
}

async function ofThisHost(name: string | undefined) {
  const document = await (name === undefined ? askDaemon('status', {}) : askDaemon('agent-status', { agent: name }));
  const started = document.agents.length > 0 ? '' : (await import('../../../clients/clients.ts')).watchedTitles;
  return { document, text: () => statusText(document, started) };
}

/** From the database, so it works with the daemon down too. */
async function ofAllHosts() {
  // What reads a database takes longer to load than `status` takes for all of its work.
  const [{ allHosts }, { onRecord, queryFailure }] = await Promise.all([
    import('../../../daemon/hosts-document.ts'),
    import('../database.ts'),
  ]);
  const read = await onRecord((url) => allHosts(url, findHome(process.env)));
  if (!read.ok) throw queryFailure(read);
  return { document: read.value, text: () => hostsText(read.value) };
}

/** `started`: what one would start, where there is no agent. */
function statusText(status: StatusDocument, started: string): string {
  const { daemon, agents } = status;
  const nowMs = Date.now();
  const flags = [daemon.mode === 'watch' ? 'watch mode' : null, daemon.paused ? 'paused' : null].filter(Boolean);
  const { given, in_time: inTime } = daemon.prompts ?? { given: 0, in_time: 0 };
  if (given > 0) flags.push(`${inTime} of ${counted(given, 'prompt')} answered in time`);
  const head = `daemon ${daemon.pid}, up ${ago(Date.parse(daemon.since), nowMs)}${flags.length > 0 ? `, ${flags.join(', ')}` : ''}`;
  const missing = daemon.config_missing.map((file) => line(`configuration: ${file} is missing: ${configWayOut}`));
  if (agents.length === 0)
    return [head, ...missing, `no agent yet: start ${started}, in tmux or anywhere else`].join('\n');
  const rows = agents.map((agent) => row(agent, nowMs));
  const notes = agents.filter((agent) => agent.error !== null).map((agent) => line(`${agent.agent}: ${agent.error}`));
  for (const { agent, findings } of agents)
    for (const { check } of findings.filter(({ severity }) => severity === 'critical'))
      notes.push(line(`${agent}: critical, ${check}; \`watchkeeper health\` says why`));
  const handed = agents.filter((agent) => agent.handoff !== null);
  for (const { agent, handoff } of handed) notes.push(line(`${agent}: is being handed over, ${handoff}`));
  for (const { agent, hold } of agents) if (holdText(hold) !== null) notes.push(line(`${agent}: ${holdText(hold)}`));
  for (const { agent } of agents.filter((each) => each.handoff_waits && each.authority === 'manage'))
    notes.push(line(`${agent}: ${handoffWaitsText}`));
  const blind = agents.flatMap((agent) => degraded(agent));
  const text = table(['AGENT', 'STATE', 'FOR', 'CONTEXT', 'LAST TURN', 'SOURCE', 'MAY'], rows);
  return [head, ...missing, text, ...notes, ...blind].join('\n');
}

/** What it is seen without. Hooks and status line that were never set up are no loss. */
function degraded(agent: AgentDocument): string[] {
  if (agent.state === 'ended') return [];
  const failing = agent.sources.filter(({ health }) => health === 'failing');
  if (failing.length === 0) return [];
  const without = failing.map(({ source, reason }) => `${source} (${reason})`).join(', ');
  return [line(`${agent.agent}: degraded, without ${without}; told by ${agent.source}`)];
}

function row(agent: AgentDocument, nowMs: number): Cell[] {
  const stale = agent.stale_s > 10 && agent.state !== 'ended' ? ` ${ago(nowMs - agent.stale_s * 1000, nowMs)} old` : '';
  return [
    { text: agent.agent },
    { text: stateText(agent), ...colored(stateColor(agent)) },
    { text: ago(Date.parse(agent.since), nowMs) },
    {
      text: agent.context === null ? '-' : `${wholePercent(agent.context.percent)}% of ${tokens(agent.context.window)}`,
    },
    { text: agent.last_turn ?? '-', ...colored(agent.last_turn === 'failed' ? 'red' : null) },
    { text: `${agent.source}${stale}` },
    { text: agent.authority },
  ];
}

function stateText(agent: AgentDocument): string {
  const tool = agent.detail === 'tool' && agent.tool !== null ? ` ${agent.tool}` : '';
  const count = Math.max(agent.background.length, agent.spawns.length);
  const quiet = quietSpawns(agent);
  const background = count > 0 ? ` +${count} bg${quiet > 0 ? `, ${quiet} stalled` : ''}` : '';
  return `${agent.state}${agent.detail === null ? '' : `/${agent.detail}`}${tool}${background}`;
}

function quietSpawns(agent: AgentDocument): number {
  return agent.spawns.filter(({ status }) => status === 'stalled' || status === 'abandoned').length;
}

function stateColor(agent: AgentDocument): Color | null {
  if (quietSpawns(agent) > 0) return 'yellow';
  if (agent.state === 'waiting' || agent.state === 'limited' || agent.state === 'retrying') return 'yellow';
  if (agent.state === 'working' || agent.state === 'compacting') return 'green';
  return agent.state === 'unknown' ? 'red' : agent.state === 'ended' ? 'dim' : null;
}

function colored(color: Color | null): { color?: Color } {
  return color === null ? {} : { color };
}
