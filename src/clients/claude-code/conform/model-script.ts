// What the "model" will do next: a queue of steps, one taken by each request. Empty queue: what a function says to the
// request, or a short text.
import { randomUUID } from 'node:crypto';
import type { ServerResponse } from 'node:http';
import { type ModelTurn, readTurn } from './model-turn.ts';
import {
  type ModelAnswer,
  sendAnswerJson,
  sendAnswerStream,
  sendJson,
  sendStreamHead,
  type ToolCall,
  type Usage,
} from './model-wire.ts';

/** The truth about one request, by the server's clock (ms since the epoch). */
export interface ModelRequest {
  kind: 'main' | 'subagent' | 'compaction' | 'side';
  model: string;
  stream: boolean;
  /** The newest user text, so that a test finds its own prompt. */
  prompt: string;
  body: Record<string, unknown>;
  headers: Record<string, string | string[] | undefined>;
  arrivedAt: number;
  /** When the response was over: sent in full, or cut off by the client. */
  endedAt: number | null;
  outcome: 'open' | 'complete' | 'cut-off';
}

interface AnswerOptions {
  usage?: Usage;
  /** The model said to have answered; otherwise the one asked for. */
  model?: string;
  tools?: ToolCall[];
  /** What it thinks before it speaks, piece by piece, `delayMs` before each. */
  thoughts?: string[];
  delayMs?: number;
}

/** What a function answers to a request. */
export interface ModelReply extends AnswerOptions {
  text?: string;
  /** Streams the text in so many pieces, `delayMs` before each. */
  chunks?: number;
  /** Nothing more after text or thoughts, or after the response headers if there are none, until this resolves; true: ever. */
  hang?: true | Promise<void>;
  error?: { status: number; body?: unknown; headers?: Record<string, string> };
}

type Behaviour = (turn: ModelTurn) => ModelReply | null | Promise<ModelReply | null>;

function deferred<T>() {
  let resolve: (value: T) => void = () => {};
  const promise = new Promise<T>((done) => {
    resolve = done;
  });
  return { promise, resolve };
}

type Play = (request: ModelRequest, response: ServerResponse, released: Promise<void>) => Promise<void> | void;

/** One scripted step, for the test to wait on: the request that took it, and the end of its response. */
export class ModelStep {
  readonly #arrived = deferred<ModelRequest>();
  readonly #ended = deferred<ModelRequest>();
  readonly #released = deferred<void>();
  readonly arrived = this.#arrived.promise;
  readonly ended = this.#ended.promise;
  readonly #play: Play;

  constructor(play: Play) {
    this.#play = play;
  }

  /** Lets a held or silent response go on. */
  release(): void {
    this.#released.resolve();
  }

  async play(request: ModelRequest, response: ServerResponse): Promise<void> {
    response.once('close', () => {
      this.release();
      this.#ended.resolve(request);
    });
    this.#arrived.resolve(request);
    await this.#play(request, response, this.#released.promise);
  }
}

export class ModelScript {
  readonly #steps: ModelStep[] = [];
  #usage: Usage = {};
  #otherwise: string;
  #behaviour: Behaviour = () => null;
  #behaved = 0;

  constructor(otherwise: string) {
    this.#otherwise = otherwise;
  }

  /** The figures of every later answer that does not bring its own. */
  usage(usage: Usage): void {
    this.#usage = usage;
  }

  /** What is said when nothing is scripted. */
  otherwise(text: string): void {
    this.#otherwise = text;
  }

  /** Answers every request for which no step is queued; null leaves it to `otherwise`. */
  behave(behaviour: Behaviour): void {
    this.#behaviour = behaviour;
    this.#behaved = 0;
  }

  reply(text: string, options: AnswerOptions = {}): ModelStep {
    return this.#queue(this.#answer([text], options));
  }

  /** Text that takes chunks × delayMs to arrive. */
  stream(text: string, { chunks, ...options }: AnswerOptions & { chunks: number; delayMs: number }): ModelStep {
    return this.#queue(this.#answer(inPieces(text, chunks), options));
  }

  tool(name: string, input: Record<string, unknown>, options: AnswerOptions & { text?: string } = {}): ModelStep {
    return this.tools([{ name, input }], options);
  }

  /** Several calls in one response. */
  tools(tools: ToolCall[], { text, ...options }: AnswerOptions & { text?: string } = {}): ModelStep {
    return this.#queue(this.#answer(text === undefined ? [] : [text], { ...options, tools }));
  }

  /** Asks back instead of answering. */
  question(question: string, choices: string[]): ModelStep {
    const options = choices.map((label) => ({ label, description: label }));
    return this.tool('AskUserQuestion', { questions: [{ question, header: 'Choice', multiSelect: false, options }] });
  }

  /** Response headers, then nothing until released. */
  silent(text = 'Here at last.', options: AnswerOptions = {}): ModelStep {
    return this.#queue(this.#silence(text, options));
  }

  /** Begins to answer and stops in the middle until released. The client shows whole lines only, so the first ends one. */
  hold(text = 'I am thinking about it.', rest = 'Now I know.', options: AnswerOptions = {}): ModelStep {
    return this.#queue(this.#answer([`${text}\n\n`, rest], options, true));
  }

  /** The same HTTP error for the next `times` requests; the step handed back is the last of them. */
  error(status: number, body: unknown, options: { times?: number; headers?: Record<string, string> } = {}): ModelStep {
    const play: Play = (_request, response) => sendJson(response, status, body, options.headers);
    for (let n = 1; n < (options.times ?? 1); n += 1) this.#queue(play);
    return this.#queue(play);
  }

  /** 529, as the API says that it is overloaded; the client gives up at the third. */
  overloaded(times: number): ModelStep {
    return this.error(529, errorBody('overloaded_error', 'Overloaded'), { times });
  }

  next(): ModelStep {
    return this.#steps.shift() ?? new ModelStep((...played) => this.#behave(...played));
  }

  async #behave(request: ModelRequest, response: ServerResponse, gone: Promise<void>): Promise<void> {
    this.#behaved += 1;
    const said = await this.#behaviour(readTurn(request, this.#behaved));
    const { text, chunks = 1, hang, error, ...options } = said ?? { text: this.#otherwise };
    if (error !== undefined) return sendJson(response, error.status, error.body ?? {}, error.headers);
    if (hang === undefined) {
      const pieces = text === undefined ? [] : inPieces(text, chunks);
      return this.#answer(pieces, options)(request, response, gone);
    }
    const pieces = text === undefined ? [] : [`${text}\n\n`, 'Now I know.'];
    const begins = text !== undefined || options.thoughts !== undefined;
    const play = begins ? this.#answer(pieces, options, true) : this.#silence('Here at last.', options);
    await play(request, response, hang === true ? gone : Promise.race([hang, gone]));
  }

  #silence(text: string, options: AnswerOptions): Play {
    return async (request, response, released) => {
      if (request.stream) sendStreamHead(response);
      await released;
      await this.#answer([text], options)(request, response, released);
    };
  }

  #queue(play: Play): ModelStep {
    const step = new ModelStep(play);
    this.#steps.push(step);
    return step;
  }

  #answer(pieces: string[], options: AnswerOptions, held = false): Play {
    return async (request, response, released) => {
      const mayGoOn = held ? released : Promise.resolve();
      const answer: ModelAnswer = {
        id: randomUUID().replaceAll('-', '').slice(0, 24),
        model: options.model ?? request.model,
        thoughts: options.thoughts ?? [],
        pieces,
        delayMs: options.delayMs ?? 0,
        tools: options.tools ?? [],
        usage: options.usage ?? this.#usage,
      };
      if (request.stream) {
        if (!response.headersSent) sendStreamHead(response);
        await sendAnswerStream(response, answer, mayGoOn);
      } else {
        await mayGoOn;
        sendAnswerJson(response, answer);
      }
    };
  }
}

function inPieces(text: string, count: number): string[] {
  const size = Math.ceil(text.length / count);
  return Array.from({ length: count }, (_, n) => text.slice(n * size, (n + 1) * size));
}

export function errorBody(type: string, message: string) {
  return { type: 'error', error: { type, message } };
}
