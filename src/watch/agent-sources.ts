import { type AgentSigns, judgeAlone } from '../detect/state.ts';
import type {
  ContextReading,
  ContextReport,
  ContextSign,
  OffFacts,
  Sighting,
  Source,
  SourceFact,
  SourceSign,
  StateReading,
} from '../model/agent.ts';
import type { StatusLine } from '../model/hook.ts';
import { percentOf } from '../model/percent.ts';

/** What is known of one agent's sources at one moment. */
export interface SourceFacts {
  signs: AgentSigns;
  /** Why registry and transcript cannot be read; null: they can. */
  trouble: { registry: string | null; transcript: string | null };
  inTmux: boolean;
  startedAtMs: number;
  lastHookMs: number | null;
  statusLineMs: number | null;
  /** What its client has none of. */
  lacks: ReadonlySet<Source>;
  /** Found broken in this version of the client. */
  off: OffFacts;
}

/** A hook comes a tenth of a second after what it tells of; after this long it does not come any more. */
const hookLagMs = 5_000;
const startMs = 5_000;

/** Each source by itself: whether it works, and what it says alone. */
export function describeSources(facts: SourceFacts): SourceSign[] {
  const { signs, trouble } = facts;
  const sign = (
    source: Source,
    health: SourceSign['health'],
    reason: string | null,
    atMs: number | null,
  ): SourceSign => {
    if (facts.lacks.has(source))
      return { source, health: 'absent', reason: 'its client has none', atMs: null, alone: null };
    const off = facts.off.get(source) ?? none;
    if (off.has(source === 'statusline' ? 'context' : 'turns'))
      return { source, health: 'off', reason: 'conformance found it broken', atMs, alone: null };
    return {
      source,
      health,
      reason: reason ?? (off.size === 0 ? null : `without ${[...off].join(', ')}: conformance found that broken`),
      atMs,
      // Judged only when somebody asks: every look at every agent would be too dear.
      get alone() {
        const judged = health === 'ok' ? judgeAlone(signs, source) : null;
        return judged === null ? null : said(judged);
      },
    };
  };
  return [
    hookSign(facts, sign),
    registrySign(facts, sign),
    trouble.transcript === null && signs.session === null
      ? sign('transcript', 'absent', 'nothing has been said yet', null)
      : sign(
          'transcript',
          trouble.transcript === null ? 'ok' : 'failing',
          trouble.transcript,
          signs.session?.seenAtMs ?? null,
        ),
    facts.statusLineMs === null
      ? sign('statusline', 'absent', 'none of ours has been heard', null)
      : sign('statusline', 'ok', null, facts.statusLineMs),
    screenSign(facts, sign),
  ];
}

const none: ReadonlySet<SourceFact> = new Set();

type Sign = (source: Source, health: SourceSign['health'], reason: string | null, atMs: number | null) => SourceSign;

function registrySign({ signs, trouble, startedAtMs }: SourceFacts, sign: Sign): SourceSign {
  if (trouble.registry === null) return sign('registry', 'ok', null, signs.registry?.seenAtMs ?? null);
  // The client writes its entry once it is past those.
  const early = signs.nowMs - startedAtMs < startMs || signs.screen?.reading?.shows === 'setup';
  return sign('registry', early ? 'absent' : 'failing', early ? 'it has not started yet' : trouble.registry, null);
}

function hookSign({ signs, lastHookMs }: SourceFacts, sign: Sign): SourceSign {
  if (lastHookMs === null) return sign('hook', 'absent', 'none of ours has been heard', null);
  const began = signs.session?.facts.turnSinceMs ?? null;
  // A turn that hooks did not tell of: they were taken out, or do not run.
  const silent = began !== null && lastHookMs < began - hookLagMs && signs.nowMs > began + hookLagMs;
  return silent
    ? sign('hook', 'failing', 'silent while the agent works', lastHookMs)
    : sign('hook', 'ok', null, lastHookMs);
}

function screenSign({ signs, inTmux }: SourceFacts, sign: Sign): SourceSign {
  if (!inTmux) return sign('screen', 'absent', 'it is not in tmux', null);
  if (signs.screen === null) return sign('screen', 'off', 'the others say enough', null);
  const { reading, atMs } = signs.screen;
  return sign(
    'screen',
    reading === null ? 'failing' : 'ok',
    reading === null ? 'no rule knows this screen' : null,
    atMs,
  );
}

function said({ state, detail, tool }: StateReading): SourceSign['alone'] {
  return { state, detail, tool };
}

/** How many living agents each source works for, and why not for the others. */
export function countSources(views: Sighting[]): Record<string, { ok: number; failing: string[]; absent: number }> {
  const all: ReturnType<typeof countSources> = {};
  const living = views.filter((view) => view.reading.state !== 'ended');
  for (const { source, health, reason } of living.flatMap((view) => view.sources)) {
    const counts = all[source] ?? { ok: 0, failing: [], absent: 0 };
    all[source] = counts;
    if (health === 'ok') counts.ok += 1;
    else if (health === 'failing') counts.failing.push(reason ?? '');
    else counts.absent += 1;
  }
  return all;
}

/** The context as each source has it. `answered`: by the agent's own word. The status line knows the window; the transcript has to know the model. */
export function describeContexts(
  transcript: ContextReading | null,
  told: { line: StatusLine; atMs: number } | null,
  screen: AgentSigns['screen'],
  answered: ContextReading | null,
): { best: ContextReading | null; all: ContextSign[] } {
  const all: ContextSign[] = [];
  const window = told?.line.window ?? null;
  const reserve = transcript === null ? null : transcript.window - transcript.usable;
  const readings: ContextReading[] = [];
  if (transcript !== null) readings.push(window === null ? transcript : inWindow(transcript, window));
  if (told !== null && told.line.used !== null && window !== null) {
    const usable = window - (reserve ?? defaultReserve);
    const base = { used: told.line.used, window, usable, source: 'statusline' as const, atMs: told.atMs };
    readings.push(inWindow({ ...base, percent: 0 }, window));
  }
  for (const { used, percent, source, atMs } of readings) all.push({ source, percent, scale: 'window', used, atMs });
  const left = screen?.reading?.contextLeft ?? null;
  if (left !== null && screen !== null)
    all.push({ source: 'screen', percent: 100 - left.percent, scale: 'usable', used: null, atMs: screen.atMs });
  if (answered !== null) {
    const { used, percent, source, atMs } = answered;
    all.push({ source, percent, scale: 'window', used, atMs });
  }
  readings.sort((a, b) => b.atMs - a.atMs);
  // What an agent says of itself counts where nobody else says anything, however old that is.
  return { best: readings[0] ?? answered, all };
}

/** A figure that an agent or another program said of itself, and no source of ours saw. */
export function isSaid({ source }: Pick<ContextReading, 'source'>): boolean {
  return source === 'answer' || source === 'ps_sessions';
}

/** Where nobody says otherwise, as the first requirements have it. */
const usualWindow = 200_000;
const windows = { least: 1_000, most: 10_000_000 };

/** As a reading; null: it is of another session, or cannot be. */
export function reportedContext(report: ContextReport | null, sessionId: string | null): ContextReading | null {
  if (report === null || report.sessionId === null || report.sessionId !== sessionId) return null;
  const { usage, tokens, atMs } = report;
  const window = tokens === null || tokens === 0 || usage === 0 ? usualWindow : Math.round(tokens / usage);
  if (window < windows.least || window > windows.most) return null;
  const usable = Math.max(0, window - defaultReserve);
  const used = Math.round(usage * window);
  return { used, window, usable, percent: percentOf(used, window), source: 'ps_sessions', atMs };
}

/** What the client keeps back of the window (seen in every version so far). */
const defaultReserve = 20_000;

export function inWindow(reading: ContextReading, window: number): ContextReading {
  const usable = Math.max(0, window - (reading.window - reading.usable));
  return { ...reading, window, usable, percent: percentOf(reading.used, window) };
}
