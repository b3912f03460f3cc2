import { told } from '../../model/evidence.ts';
import { shown } from '../../model/text.ts';

/** What a person is told. The keys are those of the JSON document that a command or webhook gets. */
export interface HumanMessage {
  v: 1;
  /** The incident: the same for its opening, every repetition and its end. */
  id: string;
  /** null: about work of which no agent is known. */
  agent: string | null;
  project: string;
  host: string;
  check: string;
  /** What of the agent it is about, such as one spawn. */
  subject: string | null;
  severity: 'warning' | 'critical';
  event: 'opened' | 'repeated' | 'closed';
  since: string;
  title: string;
  text: string;
  what_to_do: string[];
  /** The tmux command that shows the agent; null where there is none. */
  attach: string | null;
}

declare const isBounded: unique symbol;

/** As `bounded` made it: nothing else is sent. */
export type BoundedMessage = HumanMessage & { readonly [isBounded]: true };

const nameCharsMax = 200;
const titleCharsMax = 200;
const textCharsMax = 4_000;
/** Where a phone or a chat shows it: short enough to leave room for the way to the agent. */
const bodyTextCharsMax = 600;
const stepsMax = 20;
const stepCharsMax = 500;
const attachCharsMax = 500;

/** What it holds comes from agents and their files: whatever the caller did, here it is escaped and has an end. */
export function bounded(message: HumanMessage): BoundedMessage {
  const name = (text: string) => shown(text, nameCharsMax);
  const { attach } = message;
  const safe: HumanMessage = {
    v: 1,
    id: name(message.id),
    agent: message.agent === null ? null : name(message.agent),
    project: name(message.project),
    host: name(message.host),
    check: name(message.check),
    subject: message.subject === null ? null : name(message.subject),
    severity: message.severity,
    event: message.event,
    since: name(message.since),
    title: told(shown(message.title, titleCharsMax)),
    text: told(shown(message.text, textCharsMax)),
    what_to_do: message.what_to_do.slice(0, stepsMax).map((step) => shown(step, stepCharsMax)),
    // A command that was cut is another command.
    attach: attach === null || attach.length > attachCharsMax ? null : shown(attach, attachCharsMax),
  };
  return safe as BoundedMessage;
}

/** Everything but the title, as lines for a person, in the order in which they may be cut off: last first. */
export function bodyText(message: BoundedMessage, said: (text: string) => string = (text) => text): string {
  const { agent, project, host, check, severity, since, text, what_to_do: steps, attach } = message;
  return [
    said(shown(text, bodyTextCharsMax)),
    ...(attach === null ? [] : [`Attach: ${attach}`]),
    ...steps.filter((step) => step !== attach).map((step) => `- ${step}`),
    `${agent === null ? project : `${agent} (${project})`} on ${host}, ${check}, ${severity}, since ${since}`,
  ].join('\n');
}

/** The beginning that fits, never half a character. */
export function cutToBytes(text: string, bytesMax: number): string {
  if (Buffer.byteLength(text) <= bytesMax) return text;
  let bytes = Buffer.byteLength('…');
  let kept = '';
  for (const character of text) {
    bytes += Buffer.byteLength(character);
    if (bytes > bytesMax) break;
    kept += character;
  }
  return `${kept}…`;
}
