import { ownAct } from '../clients/acts.ts';
import type { ScreenReading } from '../clients/client.ts';
import { allTools } from '../clients/clients.ts';
import type { RegistryActivity, Source } from '../model/agent.ts';
import type { AgentSigns } from './state.ts';

/** What the client is doing, in the registry's words, whoever said so. */
export interface Activity {
  doing: 'idle' | 'busy' | 'waiting-permission' | 'waiting-question' | 'waiting-dialog' | 'waiting-setup';
  sinceMs: number;
  seenAtMs: number;
  source: Source;
  confidence: number;
}

/** A picture older than this says nothing about now. */
const screenFreshMs = 2_500;
/** A dialog is drawn this long after its hook ran, and a row stands this long after its turn ended. */
const drawnMs = 1_000;

/**
 * What the registry would say, without it: a dialog on the screen, a hook that tells of one, and the newest word on the
 * turn from hooks and transcript; the screen settles what neither of them records (a prompt taken back, a dialog answered).
 */
export function inferActivity(signs: AgentSigns): Activity | null {
  const dialog = dialogOnScreen(signs) ?? dialogByHook(signs);
  if (dialog !== null) return dialog;
  const word = newestWord(signs);
  if (word === null) return byScreenAlone(signs);
  const screen = freshScreen(signs);
  if (word.open) {
    // Its own rows are proof; they only have to be drawn after the records last moved.
    const idle = screen?.reading.shows === 'idle' && screen.atMs > word.movedMs + 2 * drawnMs;
    return idle && screen !== null
      ? activity('idle', Math.max(screen.sinceMs, word.movedMs), screen.atMs, 'screen', 0.6)
      : activity('busy', word.atMs, word.seenAtMs, word.source, word.source === 'hook' ? 0.85 : 0.6);
  }
  const busy = screen !== null && isBusy(screen.reading) && screen.sinceMs > word.movedMs + drawnMs;
  if (busy) return activity('busy', screen.sinceMs, screen.atMs, 'screen', 0.6);
  const confidence = word.source === 'hook' ? 0.85 : 0.6;
  const doing = hasSubagents(signs) ? 'busy' : 'idle';
  return activity(doing, word.atMs, word.seenAtMs, word.source, confidence);
}

/** The screen as it is now, unless the records have moved on since. */
export function freshScreen(signs: AgentSigns): { reading: ScreenReading; sinceMs: number; atMs: number } | null {
  const { screen } = signs;
  if (screen === null || screen.reading === null || Math.abs(signs.nowMs - screen.atMs) > screenFreshMs) return null;
  return { reading: screen.reading, sinceMs: screen.sinceMs, atMs: screen.atMs };
}

const dialogs: Partial<Record<ScreenReading['shows'], Activity['doing']>> = {
  permission: 'waiting-permission',
  question: 'waiting-question',
  setup: 'waiting-setup',
  dialog: 'waiting-dialog',
};

function dialogOnScreen(signs: AgentSigns): Activity | null {
  const screen = freshScreen(signs);
  const doing = screen === null ? undefined : dialogs[screen.reading.shows];
  if (screen === null || doing === undefined) return null;
  const hooked = signs.hooks?.permission ?? null;
  if (hooked === null) return activity(doing, screen.sinceMs, screen.atMs, 'screen', 0.75);
  // The last one that a hook told of is the one that is open: it began then, whenever it was first pictured.
  const isOfHook = doing === (isQuestion(hooked.tool) ? 'waiting-question' : 'waiting-permission');
  const sinceMs = isOfHook ? Math.min(hooked.sinceMs, screen.sinceMs) : screen.sinceMs;
  return activity(doing, sinceMs, screen.atMs, 'screen', 0.9);
}

function dialogByHook(signs: AgentSigns): Activity | null {
  const asked = signs.hooks?.permission ?? null;
  if (asked === null || signs.hooks === null) return null;
  // No hook tells of the answer: a screen without the dialog does, or the transcript when it goes on.
  const screen = freshScreen(signs);
  const answered =
    (screen !== null && screen.atMs > asked.sinceMs + drawnMs) ||
    (signs.session?.facts.lastStepMs ?? 0) > asked.sinceMs + drawnMs ||
    (signs.session?.facts.lastTurnAtMs ?? 0) > asked.sinceMs;
  if (answered) return null;
  const doing = isQuestion(asked.tool) ? 'waiting-question' : 'waiting-permission';
  return activity(doing, asked.sinceMs, signs.nowMs, 'hook', 0.8);
}

export function isQuestion(tool: string): boolean {
  return ownAct(tool, allTools) === 'ask';
}

/**
 * May be typed to without the registry? Only two independent witnesses will do: hooks that know the turn, or the record
 * of a client that has neither registry nor hooks, and a picture of this very moment that shows no dialog. Null: they do
 * not say.
 */
export function standInActivity(signs: AgentSigns, nowMs: number): RegistryActivity | null {
  const { hooks, screen } = signs;
  const turn = turnOnRecord(signs) ?? hooks?.turn ?? 'none';
  if (turn === 'none' || screen === null || screen.reading === null) return null;
  if (Math.abs(nowMs - screen.atMs) > standInMs) return null;
  if (hooks !== null && hooks.permission !== null && screen.atMs < hooks.permission.sinceMs + drawnMs)
    return 'waiting-permission';
  const { shows } = screen.reading;
  if (shows === 'permission') return 'waiting-permission';
  if (shows === 'question' || shows === 'setup' || shows === 'dialog') return 'waiting-dialog';
  if (!screen.reading.takesPrompts || shows === 'limited') return null;
  return turn === 'open' ? 'busy' : 'idle';
}

/** Where the record is all there is, one in which no turn has begun yet says that none runs. */
function turnOnRecord({ recordIsAll, session }: AgentSigns): 'open' | 'closed' | null {
  if (recordIsAll !== true || session === null) return null;
  return session.facts.turn === 'open' ? 'open' : 'closed';
}

const standInMs = 1_500;

interface TurnWord {
  open: boolean;
  /** When the turn began or ended, and when its source last moved. */
  atMs: number;
  movedMs: number;
  seenAtMs: number;
  source: 'hook' | 'transcript';
}

/** Hooks come first and miss some ends; the transcript comes later and has them: whoever moved last is right. */
function newestWord(signs: AgentSigns): TurnWord | null {
  const { hooks, session } = signs;
  const words: TurnWord[] = [];
  if (session !== null && session.facts.turn !== 'none') {
    const { facts, seenAtMs } = session;
    const open = facts.turn === 'open';
    const atMs = (open ? (facts.turnSinceMs ?? facts.lastStepMs) : facts.lastTurnAtMs) ?? seenAtMs;
    words.push({ open, atMs, movedMs: Math.max(atMs, facts.lastActivityMs ?? 0), seenAtMs, source: 'transcript' });
  }
  if (hooks !== null && hooks.turn !== 'none') {
    const open = hooks.turn === 'open';
    const movedMs = open ? hooks.lastAtMs : hooks.turnAtMs;
    words.push({ open, atMs: hooks.turnAtMs, movedMs, seenAtMs: signs.nowMs, source: 'hook' });
  }
  words.sort((a, b) => b.movedMs - a.movedMs);
  return words[0] ?? null;
}

function byScreenAlone(signs: AgentSigns): Activity | null {
  const screen = freshScreen(signs);
  if (screen === null) return null;
  const { shows } = screen.reading;
  if (shows === 'idle' || shows === 'limited') return activity('idle', screen.sinceMs, screen.atMs, 'screen', 0.5);
  return isBusy(screen.reading) ? activity('busy', screen.sinceMs, screen.atMs, 'screen', 0.5) : null;
}

function isBusy({ shows }: ScreenReading): boolean {
  return shows === 'busy' || shows === 'retrying' || shows === 'api-stall' || shows === 'compacting';
}

function hasSubagents(signs: AgentSigns): boolean {
  if ((signs.hooks?.subagents.size ?? 0) > 0) return true;
  for (const work of signs.session?.facts.background.values() ?? []) {
    if (work.kind === 'subagent' && signs.subagents.get(work.id)?.finished !== true) return true;
  }
  return false;
}

function activity(
  doing: Activity['doing'],
  sinceMs: number,
  seenAtMs: number,
  source: Source,
  confidence: number,
): Activity {
  return { doing, sinceMs, seenAtMs, source, confidence };
}
