import type { Dialect, InputBox } from '../clients/client.ts';
import type { DeedReason, PromptOutcome, Refusal } from '../model/action.ts';
import type { PaneFacts } from '../model/delivery.ts';
import type { TypableText } from '../model/text.ts';
import type { PaneNow } from './pane-facts.ts';
import type { PaneTerminal, Typed, TypingGuard } from './pane-terminal.ts';

export interface Delivery {
  /** With its tag. */
  text: TypableText;
  /** How the text ends: by this it is known again in the box. */
  mark: string;
  /** The mark without its brackets: what its proof is looked for by. */
  tag: string;
  proofMs: number;
  /** Texts of our own that an earlier delivery may have left in the box: taken out, they are nobody's draft. */
  leftovers?: readonly string[];
  /** Nothing is put aside for it: with a draft in the box it is not typed at all. */
  neverOverDraft?: boolean;
  /** Only to an agent at its prompt: behind a running turn the client would queue it. */
  atPromptOnly?: boolean;
  /** The client may complete it to another command: then it is not submitted. */
  neverCompleted?: boolean;
}

export interface Proof {
  /** The client took it into its queue behind a running turn. */
  queued: boolean;
  source: 'hook' | 'transcript' | 'registry';
  /** The record came at the right moment but does not say what was queued. */
  nameless: boolean;
  atMs: number;
}

/** The world around one delivery. */
export interface DeliveryPorts {
  terminal: PaneTerminal;
  /** Looks at the agent and the pane afresh: may text be typed now? */
  whyNotNow(pane: PaneFacts | null): Refusal | null;
  dialect: Pick<Dialect, 'findInputBox' | 'keys' | 'pasteChip'>;
  /** Waits for the client's own record of the tag. */
  proof(tag: string, timeoutMs: number): Promise<Proof | null>;
  /** It has come to one of `deliveryPoints`. */
  at(point: (typeof deliveryPoints)[number]): Promise<void>;
  monotonicMs(): number;
  sleep(ms: number): Promise<void>;
}

export interface Delivered {
  outcome: Exclude<PromptOutcome, 'deferred'>;
  reason: DeedReason | null;
  proof: Proof | null;
  /** From Enter to the client's own record. */
  proofMs: number | null;
  draftRestored: boolean | null;
}

/** In their order; the first only where there is a draft. */
export const deliveryPoints = ['stashed', 'pasted', 'entered', 'proved'] as const;

const boxMs = 1_500;
/** A client that is busy drawing takes its time to show a paste. */
const pasteMs = 4_000;
const pollMs = 40;
/** If the box still holds the text after this long, Enter was swallowed. */
const secondEnterMs = 2_000;
/** What a client wrote before it died is found this soon. */
const lastWordMs = 1_500;
/** The client's menu comes with the text or a moment later. */
const menuMs = 800;
const clearsMax = 4;
/** Less than this could as well be the first letters of somebody else's words. */
const leftCharsMin = 8;
/** More bytes at once would be taken for a paste. */
const clearKeysMax = 30;

/**
 * fit → fence → stash a draft → paste → see it in the box → fit again → Enter → proof.
 *
 * Until Enter every step can be given up without a trace but the text in the box, which is then taken out again.
 * After Enter only the client's own record says what happened; nothing is ever typed a second time without it.
 */
export async function deliver(delivery: Delivery, ports: DeliveryPorts): Promise<Delivered> {
  const pane = await fitPane(ports);
  if (typeof pane === 'string') return refused(pane);
  if (!(await ports.terminal.fence())) return refused(await whyNot(ports));
  const found = await readBox(ports);
  if (found === null) return refused('no-input-box');
  const { onlookers } = pane;
  const guard: TypingGuard = { panePid: pane.pid, command: pane.command, boxMark: found.mark, shows: null, onlookers };
  const box = await withoutLeftover(delivery, { ports, guard, draft: null }, found);
  if (box === null) return refused('no-input-box');
  const draft = box.text === '' ? null : box.text;
  // What is put aside already would be lost for what is put aside now.
  if (draft !== null && (box.stashed || delivery.neverOverDraft === true)) return refused('draft');
  const hand: Hand = { ports, guard, draft };
  if (draft !== null && !(await stash(hand))) return refused('draft');
  if (draft !== null) await ports.at('stashed');

  const pasted = await ports.terminal.paste(delivery.text, guard);
  if (pasted === 'not-now') return notPasted(hand, await whyNot(ports));
  await ports.at('pasted');
  const { dialect } = ports;
  const isRight = (text: string) => isOurs(text, delivery, dialect);
  let ours = await waitForBox(ports, isRight, pasteMs);
  if (ours !== null && delivery.neverCompleted === true) {
    if (await isCompleted(delivery, ports)) {
      const now = await checkFit(ports);
      return takeBack(delivery, hand, now === 'human-typing' ? now : 'unknown-command');
    }
    // That took a moment.
    ours = await waitForBox(ports, isRight);
  }
  const again = await checkFit(ports);
  if (ours === null || typeof again === 'string' || again.mode !== '')
    return takeBack(
      delivery,
      hand,
      typeof again === 'string' ? again : again.mode === '' ? 'no-input-box' : 'pane-mode',
    );

  const enteredMs = ports.monotonicMs();
  const entered = await ports.terminal.keys(
    dialect.keys.submit,
    1,
    sure(guard, again, onScreen(ours, delivery.tag, dialect)),
  );
  if (entered === 'not-now') return takeBack(delivery, hand, await whyNot(ports));
  await ports.at('entered');
  const proof = await provePrompt(delivery, hand, ours, entered);
  await ports.at('proved');
  const proofMs = proof === null ? null : Math.round(ports.monotonicMs() - enteredMs);
  const draftRestored = draft === null ? null : (await waitForBox(ports, (text) => text === draft)) !== null;
  if (proof === null) {
    // The client did not take it, or a person has taken it back.
    const isThere = isOurs((await readBox(ports))?.text ?? '', delivery, dialect);
    return { outcome: 'uncertain', reason: isThere ? 'left-in-box' : 'no-proof', proof, proofMs, draftRestored };
  }
  return { outcome: proof.queued ? 'queued' : 'confirmed', reason: null, proof, proofMs, draftRestored };
}

/** Text of ours, by which it is known again in the box. */
interface Ours {
  text: string;
  mark: string;
}

interface Hand {
  ports: DeliveryPorts;
  guard: TypingGuard;
  /** The person's own text, put aside for as long as this takes. */
  draft: string | null;
}

async function fitPane(ports: DeliveryPorts): Promise<Refusal | PaneNow> {
  const pane = await checkFit(ports);
  if (typeof pane === 'string' || pane.mode === '') return pane;
  await ports.terminal.leaveCopyMode();
  const again = await checkFit(ports);
  return typeof again === 'string' || again.mode === '' ? again : 'pane-mode';
}

async function checkFit(ports: DeliveryPorts): Promise<Refusal | PaneNow> {
  const pane = await ports.terminal.facts();
  return ports.whyNotNow(pane) ?? pane ?? 'pane-dead';
}

/** Why the guard said no, in the words of a refusal. */
async function whyNot(ports: DeliveryPorts): Promise<Refusal> {
  const pane = await checkFit(ports);
  if (typeof pane === 'string') return pane;
  return pane.mode === '' ? 'stale' : 'pane-mode';
}

/**
 * Is it our text, and nothing else, that the box holds? A longer text may be shown only as a chip that stands for it; in
 * a small pane only the end of it is seen. Characters beyond ASCII may be drawn otherwise than they were pasted: only the
 * others are compared.
 */
function isOurs(shown: string, { text, mark }: Ours, { pasteChip }: DeliveryPorts['dialect']): boolean {
  const seen = dense(shown);
  const breaks = pasteChip?.breaks(seen) ?? null;
  if (breaks !== null) return breaks === text.split('\n').length - 1;
  return seen.endsWith(mark) && plain(text).endsWith(plain(shown));
}

/** A key has taken the last rows of our text out of the box: is what it holds now the beginning of it? */
function isOursToo(shown: string, { text }: Ours): boolean {
  const left = plain(shown);
  return left.length >= leftCharsMin && plain(text).startsWith(left);
}

/** The box as it is without what an earlier delivery of ours left in it. */
async function withoutLeftover(delivery: Delivery, hand: Hand, box: InputBox): Promise<InputBox | null> {
  const left = (delivery.leftovers ?? []).find((text) => dense(text) === dense(box.text));
  if (left === undefined || left === '') return box;
  const mark = /\[wk-\w+\]$/.exec(left)?.[0] ?? dense(left);
  return (await clearBox({ text: left, mark }, hand)) ? readBox(hand.ports) : box;
}

/** What of our text one row of the screen shows, for tmux to see for itself. */
function onScreen(ours: string, tag: string, { pasteChip }: DeliveryPorts['dialect']): TypingGuard['shows'] {
  // With its bracket in the same row it is the end of our text: what is typed behind it would be somebody else's.
  if (ours.includes(tag)) return { text: tag, last: ours.endsWith(`[${tag}]`) };
  if (pasteChip === undefined || pasteChip.breaks(dense(ours)) === null) return null;
  return { text: pasteChip.mark, last: false };
}

/** For Enter: as the pane was when it was looked at last. */
function sure(guard: TypingGuard, { onlookers }: PaneNow, shows: TypingGuard['shows']): TypingGuard {
  return { ...guard, onlookers, shows };
}

/** For keys that submit nothing and end nothing. */
function takingBack(guard: TypingGuard): TypingGuard {
  return { ...guard, takesBack: true };
}

/**
 * The client may not have taken the first Enter. Another one is pressed only while the box provably holds our text, and
 * never where a stashed draft could come back under it.
 */
async function provePrompt(delivery: Delivery, hand: Hand, ours: string, entered: Typed): Promise<Proof | null> {
  const { ports, guard, draft } = hand;
  const early = await ports.proof(delivery.tag, secondEnterMs);
  if (early !== null) return early;
  const pane = await checkFit(ports);
  if (pane === 'not-agent' || pane === 'pane-dead') return ports.proof(delivery.tag, lastWordMs);
  const box = await readBox(ports);
  const isOther = delivery.neverCompleted === true && isAnother(delivery, box);
  if (typeof pane !== 'string' && draft === null && entered === 'done' && box?.text === ours && !isOther)
    await ports.terminal.keys(
      ports.dialect.keys.submit,
      1,
      sure(guard, pane, onScreen(ours, delivery.tag, ports.dialect)),
    );
  return ports.proof(delivery.tag, delivery.proofMs);
}

/** Would Enter run another command than the one typed, which the client does not know then? */
async function isCompleted(delivery: Delivery, ports: DeliveryPorts): Promise<boolean> {
  const endMs = ports.monotonicMs() + menuMs;
  for (;;) {
    if (isAnother(delivery, await readBox(ports))) return true;
    if (ports.monotonicMs() > endMs) return false;
    await ports.sleep(pollMs);
  }
}

function isAnother({ text }: Delivery, box: InputBox | null): boolean {
  return box !== null && box.chosen !== null && box.chosen !== text.split(' ')[0];
}

async function stash({ ports, guard }: Hand): Promise<boolean> {
  const { stash: key } = ports.dialect.keys;
  if (key === undefined || (await ports.terminal.keys(key, 1, guard)) === 'not-now') return false;
  return (await waitForBox(ports, (text) => text === '')) !== null;
}

/** Nothing came into the box; only the draft has to come back. */
async function notPasted(hand: Hand, reason: Refusal): Promise<Delivered> {
  const now = reason === 'human-typing' ? null : await anew(hand);
  return { ...refused(reason), draftRestored: now === null ? isKept(hand) : await unstash(now) };
}

/** The draft stays put aside. */
function isKept({ draft }: Hand): false | null {
  return draft === null ? null : false;
}

/** With whoever is at the pane by now; null: a person is typing there, and nothing more is pressed. */
async function anew(hand: Hand): Promise<Hand | null> {
  const pane = await hand.ports.terminal.facts();
  if (pane === null || hand.ports.whyNotNow(pane) === 'human-typing') return null;
  return { ...hand, guard: { ...hand.guard, onlookers: pane.onlookers } };
}

/**
 * Nothing was submitted: takes our text out of the box and brings the draft back. Where that cannot be done, such as
 * under a dialog that just opened or the hands of a person, the text stays and somebody else may submit it. So it does
 * when a person's words have got in among ours: those are never taken out.
 */
async function takeBack(delivery: Delivery, hand: Hand, reason: Refusal): Promise<Delivered> {
  const now = reason === 'human-typing' ? null : await anew(hand);
  const box = await readBox(hand.ports);
  const isThere = box !== null && isOurs(box.text, delivery, hand.ports.dialect);
  if (now === null || !isThere || !(await clearBox(delivery, now)))
    return { outcome: 'uncertain', reason: 'left-in-box', proof: null, proofMs: null, draftRestored: null };
  return { ...refused(reason), draftRestored: await unstash(now) };
}

/** One key takes out a row, the next the break before it. */
async function clearBox(ours: Ours, { ports, guard }: Hand): Promise<boolean> {
  for (let attempt = 0; attempt < clearsMax; attempt += 1) {
    const box = await readBox(ports);
    if (box === null) return false;
    if (box.text === '') return true;
    if (!isOurs(box.text, ours, ports.dialect) && !isOursToo(box.text, ours)) return false;
    const keys = Math.min(clearKeysMax, box.text.split('\n').length * 2);
    if ((await ports.terminal.keys(ports.dialect.keys.clearRow, keys, takingBack(guard))) === 'not-now') return false;
    if ((await waitForBox(ports, (text) => text === '')) !== null) return true;
  }
  return false;
}

async function unstash({ ports, guard, draft }: Hand): Promise<boolean | null> {
  const { stash: key } = ports.dialect.keys;
  if (draft === null || key === undefined) return null;
  if ((await ports.terminal.keys(key, 1, takingBack(guard))) === 'not-now') return false;
  return (await waitForBox(ports, (text) => text === draft)) !== null;
}

function refused(reason: Refusal): Delivered {
  return { outcome: 'refused', reason, proof: null, proofMs: null, draftRestored: null };
}

const dense = (text: string) => text.replace(/\s+/g, '');
const plain = (text: string) => text.replace(/[^\u0021-\u007e]+/g, '');

async function readBox(ports: DeliveryPorts): Promise<InputBox | null> {
  const screen = await ports.terminal.screen();
  return screen === null ? null : ports.dialect.findInputBox(screen);
}

/** The text of the box as soon as it is right; null: it did not get so in time. */
async function waitForBox(
  ports: DeliveryPorts,
  isRight: (text: string) => boolean,
  timeoutMs = boxMs,
): Promise<string | null> {
  const endMs = ports.monotonicMs() + timeoutMs;
  for (;;) {
    const box = await readBox(ports);
    if (box !== null && isRight(box.text)) return box.text;
    if (ports.monotonicMs() > endMs) return null;
    await ports.sleep(pollMs);
  }
}
