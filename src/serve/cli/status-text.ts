import { configWayOut } from '../../config/places.ts';
import type { AgentDocument, StatusDocument } from '../../daemon/status.ts';
import { handoffWaitsText } from '../../handoff/documents.ts';
import { counted } from '../../model/count.ts';
import { wholePercent } from '../../model/percent.ts';
import { type Column, fitted } from './fitted.ts';
import { holdText } from './hold-text.ts';
import { ago, type Cell, type Color, cutTo, folded, tokens, when, withOwnTimes } from './output.ts';

export interface Page {
  nowMs: number;
  /** Columns of the terminal; piped there is no end to them. */
  room: number;
  /** What one would start, where there is no agent. */
  started: string;
}

const namesMax = 8;
/** Of what an agent asks so much is shown at least, wherever there is room for it at all. */
const askLeast = 60;

/** Whom to see to first, then everybody, those first who need somebody. */
export function statusText(status: StatusDocument, page: Page): string {
  const { agents } = status;
  const folds = (text: string) => folded(withOwnTimes(text), page.room);
  const head = [...folds(needText(status.needs_you)), ...folds(daemonText(status, page.nowMs))];
  const missing = status.daemon.config_missing.map((file) => `configuration: ${file} is missing: ${configWayOut}`);
  const ofHost = status.findings.map(({ check, evidence }) => `${check}: ${evidence[0]?.text ?? ''}`);
  if (agents.length === 0)
    return [
      ...head,
      ...[...missing, ...ofHost, `no agent yet: start ${page.started}, in tmux or anywhere else`].flatMap(folds),
    ].join('\n');
  const rows = [...agents].sort(
    (a, b) => rank(a) - rank(b) || (a.needs_you ? Date.parse(a.since) - Date.parse(b.since) : 0),
  );
  const table = fitted(columnsAt(page.nowMs), trouble(page), rows, page.room);
  return [...head, ...[...missing, ...ofHost].flatMap(folds), ...table, ...rows.flatMap(notesOf).flatMap(folds)].join(
    '\n',
  );
}

function needText(names: readonly string[]): string {
  if (names.length === 0) return 'nobody needs you';
  const more = names.length > namesMax ? ` and ${names.length - namesMax} more` : '';
  const verb = names.length === 1 ? 'needs' : 'need';
  return `${names.length} ${verb} you: ${names.slice(0, namesMax).join(', ')}${more} (\`watchkeeper inbox\` says how to answer)`;
}

function daemonText({ daemon }: StatusDocument, nowMs: number): string {
  const { given, in_time: inTime } = daemon.prompts ?? { given: 0, in_time: 0 };
  const watching = daemon.watch_only ? 'only watching' : daemon.mode === 'watch' ? 'watch mode' : null;
  const quiet = daemon.quiet_until === null ? null : `no rule acts before ${when(daemon.quiet_until)}`;
  const flags = [
    ...[watching ?? quiet].filter((flag) => flag !== null),
    ...(daemon.paused ? ['paused'] : []),
    ...(given > 0 ? [`${inTime} of ${counted(given, 'prompt')} answered in time`] : []),
  ];
  return [`daemon ${daemon.pid}, up ${ago(Date.parse(daemon.since), nowMs)}`, ...flags].join(', ');
}

/** Those that need somebody, that are in trouble, that live, that are gone. */
function rank({ needs_you: needsYou, health, state }: AgentDocument): number {
  if (needsYou) return 0;
  if (health === 'critical') return 1;
  if (health === 'warning') return 2;
  return state === 'ended' ? 4 : 3;
}

function columnsAt(nowMs: number): Column<AgentDocument>[] {
  return [
    { title: 'AGENT', cell: ({ agent }) => ({ text: agent }) },
    { title: 'STATE', cell: (agent) => ({ text: stateText(agent), ...colored(stateColor(agent)) }) },
    { title: 'FOR', cell: ({ since }) => ({ text: ago(Date.parse(since), nowMs) }) },
    { title: 'CONTEXT', cell: contextCell, short: shortContextCell, goes: 3 },
    { title: 'LAST TURN', cell: lastTurnCell, goes: 1 },
    { title: 'SOURCE', cell: (agent) => ({ text: sourceText(agent, nowMs) }), goes: 0 },
    { title: 'MAY', cell: ({ authority }) => ({ text: authority }), goes: 2 },
  ];
}

function trouble({ nowMs, room }: Page): Column<AgentDocument> {
  const askMax = Math.max(askLeast, room);
  return {
    title: 'TROUBLE',
    cell: (agent) => ({ text: troubleText(agent, nowMs, askMax) || '-', ...colored(troubleColor(agent)) }),
  };
}

/** What is wrong, and what comes next: `silent-stop; continue at 13:12`. */
function troubleText(agent: AgentDocument, nowMs: number, askMax: number): string {
  const checks = [...new Set(agent.findings.map(({ check }) => check))];
  const isWaiting = agent.state === 'waiting';
  const found = checks
    .filter((check) => !isWaiting || check !== 'waiting-human')
    .map((check) => withNext(counts(agent, check), agent, check));
  const waits = isWaiting ? [withNext(waitText(agent, nowMs, askMax), agent, 'waiting-human')] : [];
  const ended =
    agent.ended_badly === null || checks.includes('ended-unexpectedly') ? [] : [`ended ${agent.ended_badly}`];
  const handoff = agent.handoff === null ? [] : [`is being handed over: ${agent.handoff}`];
  return [...waits, ...found, ...ended, ...handoff].join(' | ');
}

function waitText({ since, asks }: AgentDocument, nowMs: number, askMax: number): string {
  const what = asks === null ? '' : [asks.tool, asks.text].filter((part) => part !== null).join(' ');
  return `waiting ${ago(Date.parse(since), nowMs)} for you${what === '' ? '' : `: ${cutTo(what, askMax)}`}`;
}

function counts({ findings }: AgentDocument, check: string): string {
  const count = findings.filter((finding) => finding.check === check).length;
  return count === 1 ? check : `${check} ×${count}`;
}

function withNext(text: string, { next, findings }: AgentDocument, check: string): string {
  const first = next.find((each) => each.check === check);
  const isApart = findings.some((finding) => finding.check === check && finding.standing === 'quarantined');
  if (first === undefined) return isApart ? `${text}; set apart, it comes and goes` : text;
  return `${text}; ${first.what}${first.at === null ? '' : ` at ${hourOf(first.at)}`}`;
}

/** "13:12", with the day if that is another one. */
function hourOf(at: string): string {
  return when(at).replace(/^(\d\d:\d\d):\d\d$/, '$1');
}

function troubleColor({ findings, state }: AgentDocument): Color | null {
  if (findings.some(({ severity }) => severity === 'critical')) return 'red';
  return findings.length > 0 || state === 'waiting' ? 'yellow' : null;
}

function contextCell({ context }: AgentDocument): Cell {
  return { text: context === null ? '-' : `${wholePercent(context.percent)}% of ${tokens(context.window)}` };
}

function shortContextCell({ context }: AgentDocument): Cell {
  return { text: context === null ? '-' : `${wholePercent(context.percent)}%` };
}

function lastTurnCell({ last_turn: end }: AgentDocument): Cell {
  return { text: end ?? '-', ...colored(end === 'failed' ? 'red' : null) };
}

function sourceText({ source, stale_s: stale, state }: AgentDocument, nowMs: number): string {
  return stale > 10 && state !== 'ended' ? `${source} ${ago(nowMs - stale * 1000, nowMs)} old` : source;
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
  const { state } = agent;
  if (quietSpawns(agent) > 0) return 'yellow';
  if (state === 'waiting' || state === 'limited' || state === 'retrying') return 'yellow';
  if (state === 'working' || state === 'compacting') return 'green';
  if (state === 'ended') return agent.ended_badly === null && agent.health === 'healthy' ? 'dim' : 'red';
  return state === 'unknown' ? 'red' : null;
}

/** What is worth a line of its own below the table. */
function notesOf(agent: AgentDocument): string[] {
  const held = holdText(agent.hold);
  return [
    ...(agent.error === null ? [] : [agent.error]),
    ...(held === null ? [] : [held]),
    ...(agent.handoff_waits && agent.authority === 'manage' ? [handoffWaitsText] : []),
    ...degraded(agent),
  ].map((note) => `${agent.agent}: ${note}`);
}

/** What it is seen without. Hooks and status line that were never set up are no loss. */
function degraded(agent: AgentDocument): string[] {
  if (agent.state === 'ended') return [];
  const failing = agent.sources.filter(({ health }) => health === 'failing');
  if (failing.length === 0) return [];
  const without = failing.map(({ source, reason }) => `${source} (${reason})`).join(', ');
  return [`degraded, without ${without}; told by ${agent.source}`];
}

function colored(color: Color | null): { color?: Color } {
  return color === null ? {} : { color };
}
