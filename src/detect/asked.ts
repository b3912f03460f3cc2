import type { Ask, StateReading } from '../model/agent.ts';
import { shown, type UntrustedText } from '../model/text.ts';
import { freshScreen, isQuestion } from './infer.ts';
import { type AgentSigns, isSubagentTool } from './state.ts';

const askedCharsMax = 500;
/** A hook, the registry and the record tell of one dialog within a second or two. */
const sameDialogMs = 3_000;

/**
 * What a waiting agent asks for, by whoever knows best: the hook has the very call; the record has the calls that are
 * open, of which the first is asked first; the screen may have scrolled. A subagent's call only hook and screen have.
 */
export function askedFor(signs: AgentSigns, reading: StateReading): Ask | null {
  if (reading.state !== 'waiting') return null;
  const { detail } = reading;
  if (detail === 'permission' || detail === 'question') {
    const hooked = signs.hooks?.permission ?? null;
    const isOfThis = hooked !== null && hooked.sinceMs >= reading.sinceMs - sameDialogMs;
    if (isOfThis && isQuestion(hooked.tool) === (detail === 'question') && hooked.asks !== null)
      return ask(hooked.tool, hooked.asks, 'hook');
    const open = [...(signs.session?.facts.calls.values() ?? [])];
    const asking = open.filter(({ tool }) => !isSubagentTool(tool) && isQuestion(tool) === (detail === 'question'));
    const [first] = asking;
    if (first !== undefined && first.asks !== null)
      return ask(first.tool, first.asks, 'transcript', asking.length > 1 ? ` (first of ${asking.length} calls)` : '');
  }
  const screen = freshScreen(signs)?.reading;
  return screen?.asks === undefined ? null : ask(screen.tool, screen.asks, 'screen');
}

function ask(tool: string | null, text: UntrustedText, source: Ask['source'], more = ''): Ask {
  return { tool: tool === null ? null : shown(tool, 100), text: `${shown(text, askedCharsMax)}${more}`, source };
}

const dialogs: Record<string, string> = {
  permission: 'it asks for a permission',
  question: 'it asks a question',
  setup: 'it has to be set up first',
};
const sources: Record<Ask['source'], string> = {
  hook: 'by its hook',
  transcript: 'by its own record',
  screen: 'as its screen shows it',
};

/** In a sentence, for all who tell people of it. */
export function askedWords(detail: string | null, asks: Ask | null): string {
  const dialog = dialogs[detail ?? ''] ?? 'a dialog is open';
  const what = asks === null ? '' : askText(asks);
  return asks === null || what === '' ? dialog : `${dialog} (${sources[asks.source]}): ${what}`;
}

/** The tool and what it is given; of a question its words alone. */
function askText({ tool, text, source }: Ask): string {
  const named = tool === null || source === 'screen' || isQuestion(tool) ? [text] : [tool, text];
  return named.filter((part) => part !== null).join(' ');
}
