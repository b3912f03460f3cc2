// A model on loopback that does what the test says, so that the real client runs with no account and no network.
// One server serves many agents: each has its own base URL path, script and request log.
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { TrialModel } from '../../client.ts';
import { type ModelRequest, ModelScript } from './model-script.ts';
import { sendJson } from './model-wire.ts';

export class AgentModel extends ModelScript {
  readonly baseUrl: string;
  readonly requests: ModelRequest[] = [];
  readonly subagent = new ModelScript('Subagent done.');
  readonly compaction = new ModelScript('<summary>We talked.</summary>');
  readonly #side = new ModelScript('A title');

  constructor(baseUrl: string) {
    super('Done.');
    this.baseUrl = baseUrl;
  }

  /** The requests of the conversation itself. */
  get turns(): ModelRequest[] {
    return this.requests.filter((request) => request.kind === 'main');
  }

  scriptFor(kind: ModelRequest['kind']): ModelScript {
    return { main: this, subagent: this.subagent, compaction: this.compaction, side: this.#side }[kind];
  }
}

export interface FakeModel extends TrialModel {
  agent(name: string): AgentModel;
}

export async function startFakeModel(): Promise<FakeModel> {
  const agents = new Map<string, AgentModel>();
  const outside: string[] = [];
  const server = createServer((request, response) => void serve(agents, outside, request, response));
  server.on('connect', (request, socket) => {
    outside.push(`CONNECT ${request.url}`);
    socket.end('HTTP/1.1 403 Forbidden\r\n\r\n');
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    proxyUrl: `http://127.0.0.1:${port}`,
    outside,
    agent(name) {
      const agent = agents.get(name) ?? new AgentModel(`http://127.0.0.1:${port}/${name}`);
      agents.set(name, agent);
      return agent;
    },
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

async function serve(
  agents: Map<string, AgentModel>,
  outside: string[],
  incoming: IncomingMessage,
  response: ServerResponse,
) {
  // A whole address in the request line is a request to a proxy.
  if (incoming.url?.startsWith('http')) {
    outside.push(`${incoming.method} ${incoming.url}`);
    return sendJson(response, 403, {});
  }
  const [, name = '', ...rest] = new URL(incoming.url ?? '/', 'http://127.0.0.1').pathname.split('/');
  const agent = agents.get(name);
  const text = await readBody(incoming);
  const route = `${incoming.method} /${rest.join('/')}`;
  if (agent === undefined || !route.startsWith('POST /v1/messages')) return sendJson(response, 200, {});
  if (route.endsWith('/count_tokens')) return sendJson(response, 200, { input_tokens: 1000 });
  const request = readRequest(incoming, JSON.parse(text));
  agent.requests.push(request);
  response.once('close', () => {
    request.endedAt = Date.now();
    request.outcome = response.writableFinished ? 'complete' : 'cut-off';
  });
  await agent.scriptFor(request.kind).next().play(request, response);
}

async function readBody(incoming: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of incoming) chunks.push(chunk);
  return Buffer.concat(chunks).toString('utf8');
}

function readRequest(incoming: IncomingMessage, body: Record<string, unknown>): ModelRequest {
  return {
    kind: kindOf(incoming, body),
    model: String(body.model),
    stream: body.stream === true,
    prompt: newestUserText(body),
    body,
    headers: incoming.headers,
    arrivedAt: Date.now(),
    endedAt: null,
    outcome: 'open',
  };
}

function kindOf(incoming: IncomingMessage, body: Record<string, unknown>): ModelRequest['kind'] {
  if (incoming.headers['x-claude-code-agent-id'] !== undefined) return 'subagent';
  if (newestUserText(body).includes('Your task is to create a detailed summary')) return 'compaction';
  // Titles and the like are asked for without tools.
  return Array.isArray(body.tools) && body.tools.length > 0 ? 'main' : 'side';
}

function newestUserText(body: Record<string, unknown>): string {
  const messages = body.messages as { role: string; content: string | { type: string; text?: string }[] }[];
  const newest = messages.findLast((message) => message.role === 'user');
  if (newest === undefined) return '';
  if (typeof newest.content === 'string') return newest.content;
  return newest.content.map((block) => block.text ?? '').join('\n');
}
