import type { PromptOutcome, Refusal } from '../model/action.ts';
import type { PaneFacts } from '../model/delivery.ts';
import type { PaneTerminal } from './pane-terminal.ts';

export interface Delivery {
  /** With its tag. */
  text: string;
  tag: string;
  proofMs: number;
}

export interface Proof {
  /** The client took it into its queue behind a running turn. */
  queued: boolean;
  source: 'transcript';
  atMs: number;
}

/** The world around one delivery. */
export interface DeliveryPorts {
  terminal: PaneTerminal;
  /** Looks at the agent and the pane afresh: may text be typed now? */
  whyNotNow(pane: PaneFacts | null): Refusal | null;
  inputBox(screen: string): { text: string } | null;
  /** Waits for the client's own record of the tag. */
  proof(tag: string, timeoutMs: number): Promise<Proof | null>;
  nowMs(): number;
  sleep(ms: number): Promise<void>;
}

export interface Delivered {
  outcome: Exclude<PromptOutcome, 'deferred'>;
  reason: Refusal | 'not-submitted' | 'left-in-box' | 'no-proof' | null;
  proof: Proof | null;
  /** From Enter to the client's own record. */
  proofMs: number | null;
  draftRestored: boolean | null;
}

const boxMs = 1_500;
const pollMs = 40;
/** If the box still holds the text after this long, Enter was swallowed. */
const secondEnterMs = 1_000;

/**
 * fit → stash a draft → paste → see it in the box → fit again → Enter → proof.
 *
 * Until Enter every step can be given up without a trace but the text in the box, which is then taken out again.
 * After Enter only the client's own record says what happened; nothing is ever typed a second time without it.
 */
export async function deliver(delivery: Delivery, ports: DeliveryPorts): Promise<Delivered> {
  const { terminal } = ports;
  const first = await checkFit(ports);
  if (typeof first === 'string') return refused(first);
  let pane = first;
  if (pane.mode === 'copy-mode') {
    await terminal.leaveCopyMode();
    const again = await checkFit(ports);
    if (typeof again === 'string') return refused(again);
    if (again.mode !== '') return refused('pane-mode');
    pane = again;
  }
  const box = await readBox(ports);
  if (box === null) return refused('no-input-box');
  const hadDraft = box.text !== '';
  if (hadDraft && !(await stash(ports, pane.pid))) return refused('draft');

  if (!(await terminal.paste(delivery.text, pane.pid))) return giveUp(ports, pane.pid, hadDraft, 'stale');
  const seen = await waitForBox(ports, (text) => holds(text, delivery.tag));
  const again = await checkFit(ports);
  if (!seen || typeof again === 'string' || again.pid !== pane.pid || again.mode !== '') {
    return giveUp(ports, pane.pid, hadDraft, typeof again === 'string' ? again : 'no-input-box');
  }
  const enteredMs = ports.nowMs();
  if (!(await terminal.key('Enter', pane.pid))) return giveUp(ports, pane.pid, hadDraft, 'stale');
  const proof = await provePrompt(delivery, ports, pane.pid);
  const draftRestored = hadDraft ? await waitForBox(ports, (text) => text === box.text) : null;
  if (proof === null) return { outcome: 'uncertain', reason: 'no-proof', proof: null, proofMs: null, draftRestored };
  const proofMs = Math.max(0, ports.nowMs() - enteredMs);
  return { outcome: proof.queued ? 'queued' : 'confirmed', reason: null, proof, proofMs, draftRestored };
}

async function checkFit(ports: DeliveryPorts): Promise<Refusal | PaneFacts> {
  const pane = await ports.terminal.facts();
  return ports.whyNotNow(pane) ?? pane ?? 'pane-dead';
}

/** The client may not have taken the first Enter; another one is pressed only while the box provably holds our text. */
async function provePrompt(delivery: Delivery, ports: DeliveryPorts, panePid: number): Promise<Proof | null> {
  const early = await ports.proof(delivery.tag, secondEnterMs);
  if (early !== null) return early;
  const box = await readBox(ports);
  if (box !== null && holds(box.text, delivery.tag)) {
    const pane = await checkFit(ports);
    if (typeof pane !== 'string' && pane.pid === panePid) await ports.terminal.key('Enter', panePid);
  }
  return ports.proof(delivery.tag, delivery.proofMs);
}

/** A longer text is shown only as "[Pasted text #1 +4 lines]". */
function holds(text: string, tag: string): boolean {
  const dense = text.replace(/\s+/g, '');
  return dense.includes(`[${tag}]`) || /\[Pastedtext#\d+(\+\d+lines)?\]/.test(dense);
}

async function stash(ports: DeliveryPorts, panePid: number): Promise<boolean> {
  if (!(await ports.terminal.key('C-s', panePid))) return false;
  return waitForBox(ports, (text) => text === '');
}

/** Nothing was submitted: takes our text out of the box, if it can be seen there, and brings the draft back. */
async function giveUp(ports: DeliveryPorts, panePid: number, hadDraft: boolean, reason: Refusal): Promise<Delivered> {
  const box = await readBox(ports);
  let left = box === null;
  if (box !== null && box.text !== '') {
    await ports.terminal.key('C-u', panePid);
    left = !(await waitForBox(ports, (text) => text === ''));
  }
  let draftRestored: boolean | null = null;
  if (hadDraft) {
    if (!left) await ports.terminal.key('C-s', panePid);
    draftRestored = !left && (await waitForBox(ports, (text) => text !== ''));
  }
  return { outcome: 'refused', reason: left ? 'left-in-box' : reason, proof: null, proofMs: null, draftRestored };
}

function refused(reason: Refusal): Delivered {
  return { outcome: 'refused', reason, proof: null, proofMs: null, draftRestored: null };
}

async function readBox(ports: DeliveryPorts): Promise<{ text: string } | null> {
  const screen = await ports.terminal.screen();
  return screen === null ? null : ports.inputBox(screen);
}

async function waitForBox(ports: DeliveryPorts, isRight: (text: string) => boolean): Promise<boolean> {
  const endMs = ports.nowMs() + boxMs;
  for (;;) {
    const box = await readBox(ports);
    if (box !== null && isRight(box.text)) return true;
    if (ports.nowMs() > endMs) return false;
    await ports.sleep(pollMs);
  }
}
