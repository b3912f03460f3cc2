// One model answer as the Messages API puts it on the wire: server-sent events, or one JSON document.
import type { ServerResponse } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';

export interface Usage {
  input?: number;
  cacheRead?: number;
  cacheCreate?: number;
  output?: number;
}

export interface ToolCall {
  name: string;
  input: Record<string, unknown>;
}

export interface ModelAnswer {
  id: string;
  model: string;
  /** Thoughts before the text, and the text, in the pieces they are streamed in; `delayMs` passes before each, and before each tool call. */
  thoughts: string[];
  pieces: string[];
  delayMs: number;
  tools: ToolCall[];
  usage: Usage;
}

function usageOnWire(usage: Usage) {
  return {
    input_tokens: usage.input ?? 10,
    cache_creation_input_tokens: usage.cacheCreate ?? 0,
    cache_read_input_tokens: usage.cacheRead ?? 0,
    output_tokens: usage.output ?? 5,
  };
}

function toolBlock(answer: ModelAnswer, tool: ToolCall, index: number) {
  return { type: 'tool_use', id: `toolu_${answer.id}_${index}`, name: tool.name, input: tool.input };
}

function message(answer: ModelAnswer) {
  return { id: `msg_${answer.id}`, type: 'message', role: 'assistant', model: answer.model };
}

const stopReason = (answer: ModelAnswer) => (answer.tools.length > 0 ? 'tool_use' : 'end_turn');

export function sendJson(
  response: ServerResponse,
  status: number,
  body: unknown,
  headers: Record<string, string> = {},
) {
  response.writeHead(status, { 'content-type': 'application/json', ...headers });
  response.end(JSON.stringify(body));
}

export function sendAnswerJson(response: ServerResponse, answer: ModelAnswer) {
  const content = [
    ...(answer.pieces.length === 0 ? [] : [{ type: 'text', text: answer.pieces.join('') }]),
    ...answer.tools.map((tool, index) => toolBlock(answer, tool, index)),
  ];
  const end = { stop_reason: stopReason(answer), stop_sequence: null };
  sendJson(response, 200, { ...message(answer), content, ...end, usage: usageOnWire(answer.usage) });
}

function sendEvent(response: ServerResponse, type: string, data: Record<string, unknown>) {
  response.write(`event: ${type}\ndata: ${JSON.stringify({ type, ...data })}\n\n`);
}

export function sendStreamHead(response: ServerResponse) {
  response.writeHead(200, { 'content-type': 'text/event-stream', 'cache-control': 'no-cache' });
  response.flushHeaders();
}

/** `mayGoOn` is awaited after the first piece, or in the middle of thoughts without a word: a held stream has begun, and stays open until the test lets it go on. */
export async function sendAnswerStream(response: ServerResponse, answer: ModelAnswer, mayGoOn: Promise<void>) {
  const usage = usageOnWire(answer.usage);
  const open = { content: [], stop_reason: null, stop_sequence: null, usage: { ...usage, output_tokens: 1 } };
  sendEvent(response, 'message_start', { message: { ...message(answer), ...open } });
  let index = 0;
  if (answer.thoughts.length > 0) {
    sendEvent(response, 'content_block_start', {
      index,
      content_block: { type: 'thinking', thinking: '', signature: '' },
    });
    for (const thinking of answer.thoughts) {
      if (answer.delayMs > 0) await sleep(answer.delayMs);
      sendEvent(response, 'content_block_delta', { index, delta: { type: 'thinking_delta', thinking } });
    }
    if (answer.pieces.length === 0) await mayGoOn;
    sendEvent(response, 'content_block_delta', { index, delta: { type: 'signature_delta', signature: 'c2lnbmVk' } });
    sendEvent(response, 'content_block_stop', { index });
    index += 1;
  }
  if (answer.pieces.length > 0) {
    sendEvent(response, 'content_block_start', { index, content_block: { type: 'text', text: '' } });
    for (const [n, text] of answer.pieces.entries()) {
      if (n === 1) await mayGoOn;
      if (answer.delayMs > 0) await sleep(answer.delayMs);
      sendEvent(response, 'content_block_delta', { index, delta: { type: 'text_delta', text } });
    }
    sendEvent(response, 'content_block_stop', { index });
    index += 1;
  }
  for (const [n, tool] of answer.tools.entries()) {
    if (answer.delayMs > 0) await sleep(answer.delayMs);
    const block = { ...toolBlock(answer, tool, n), input: {} };
    sendEvent(response, 'content_block_start', { index, content_block: block });
    const delta = { type: 'input_json_delta', partial_json: JSON.stringify(tool.input) };
    sendEvent(response, 'content_block_delta', { index, delta });
    sendEvent(response, 'content_block_stop', { index });
    index += 1;
  }
  sendEvent(response, 'message_delta', { delta: { stop_reason: stopReason(answer), stop_sequence: null }, usage });
  sendEvent(response, 'message_stop', {});
  response.end();
}
