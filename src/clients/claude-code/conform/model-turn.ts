// A request of the client as a person would read it: what was said last, what the tools answered, what may be called.
import type { ModelRequest } from './model-script.ts';

interface ToolResult {
  id: string;
  /** The call this answers, as the model made it. */
  name: string;
  input: Record<string, unknown>;
  text: string;
  isError: boolean;
}

export interface ModelTurn {
  /** The first request that the function is asked about has 1. */
  count: number;
  kind: ModelRequest['kind'];
  /** The newest that was said to the model, without tool results and without what the client itself puts around it. */
  text: string;
  /** What the newest message brings of earlier calls; empty at the first request after a prompt. */
  toolResults: ToolResult[];
  /** Names of the tools offered. */
  tools: string[];
  /** Messages of the conversation, so that a cleared one is seen. */
  messages: number;
  request: ModelRequest;
}

interface Block {
  type: string;
  text?: string;
  id?: string;
  name?: string;
  input?: Record<string, unknown>;
  tool_use_id?: string;
  content?: string | Block[];
  is_error?: boolean;
}

interface Message {
  role: string;
  content: string | Block[];
}

export function readTurn(request: ModelRequest, count: number): ModelTurn {
  const messages = request.body.messages as Message[];
  const tools = (request.body.tools ?? []) as { name: string }[];
  return {
    count,
    kind: request.kind,
    text: newestText(messages),
    toolResults: newestResults(messages),
    tools: tools.map(({ name }) => name),
    messages: messages.length,
    request,
  };
}

/** Texts of a message, the newest last; the client's own reminders left out. */
function textsOf({ content }: Message): string[] {
  const blocks = blocksOf(content);
  return blocks
    .flatMap(({ type, text }) => (type === 'text' && text !== undefined ? [text.trim()] : []))
    .filter((text) => text !== '' && !text.startsWith('<system-reminder>'));
}

const blocksOf = (content: string | Block[]): Block[] =>
  typeof content === 'string' ? [{ type: 'text', text: content }] : content;

function newestText(messages: Message[]): string {
  const saying = messages.findLast((message) => message.role === 'user' && textsOf(message).length > 0);
  return saying === undefined ? '' : (textsOf(saying).at(-1) ?? '');
}

function newestResults(messages: Message[]): ToolResult[] {
  const newest = messages.findLast(({ role }) => role === 'user');
  const calls = new Map(
    messages.flatMap(({ content }) =>
      blocksOf(content).flatMap((block) => (block.type === 'tool_use' ? [[block.id, block] as const] : [])),
    ),
  );
  return blocksOf(newest?.content ?? []).flatMap((block) => {
    if (block.type !== 'tool_result' || block.tool_use_id === undefined) return [];
    const call = calls.get(block.tool_use_id);
    const text = blocksOf(block.content ?? '')
      .map((part) => part.text ?? '')
      .join('\n');
    return [
      {
        id: block.tool_use_id,
        name: call?.name ?? '',
        input: call?.input ?? {},
        text,
        isError: block.is_error === true,
      },
    ];
  });
}
