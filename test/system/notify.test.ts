import { createServer, type IncomingHttpHeaders, type Server, type ServerResponse } from 'node:http';
import { type AddressInfo, connect, createServer as createTcpServer } from 'node:net';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { HumanMessage } from '../../src/act/notify/message.ts';
import { body, message, send, shortMs } from './notifying.ts';

describe('over HTTP', () => {
  interface Request {
    method: string;
    path: string;
    headers: IncomingHttpHeaders;
    body: string;
  }
  let server: Server;
  let base = '';
  let requests: Request[] = [];
  const answers: Record<string, (response: ServerResponse) => void> = {
    '/500': (response) => response.writeHead(500).end('secret words of the server'),
    '/404': (response) => response.writeHead(404).end(),
    '/204': (response) => response.writeHead(204).end(),
    '/redirect': (response) => response.writeHead(302, { location: `${base}/elsewhere` }).end(),
    '/redirect-post': (response) => response.writeHead(308, { location: `${base}/elsewhere` }).end(),
    '/silent': () => {},
    '/hang-up': (response) => response.destroy(),
    '/endless': (response) => {
      response.writeHead(200);
      const more = () => {
        while (!response.destroyed && response.write('x'.repeat(65_536)));
      };
      response.on('drain', more);
      more();
    },
  };

  beforeAll(async () => {
    server = createServer((request, response) => {
      let text = '';
      request.setEncoding('utf8');
      request.on('data', (chunk) => {
        text += chunk;
      });
      request.on('end', () => {
        const { method = '', url = '', headers } = request;
        requests.push({ method, path: url, headers, body: text });
        const answer = answers[url];
        if (answer === undefined) response.end('ok');
        else answer(response);
      });
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  });
  afterAll(() => {
    server.closeAllConnections();
    server.close();
  });
  beforeEach(() => {
    requests = [];
  });

  function only(): Request {
    expect(requests).toHaveLength(1);
    return requests[0] as Request;
  }

  it('a webhook gets the message as one JSON document', async () => {
    expect(await send({ type: 'webhook', url: `${base}/hook` })).toEqual({ ok: true });
    const { method, path: where, headers, body: sent } = only();
    expect([method, where, headers['content-type']]).toEqual(['POST', '/hook', 'application/json']);
    expect(JSON.parse(sent)).toEqual(message);
    expect(headers.authorization).toBeUndefined();
  });

  it('the URL and the token come from the environment where the configuration says so', async () => {
    const config = { type: 'webhook', urlEnv: 'HOOK_URL', tokenEnv: 'HOOK_TOKEN' };
    expect(await send(config, {}, { HOOK_URL: `${base}/s3cret`, HOOK_TOKEN: 't0ken\n' })).toEqual({ ok: true });
    expect(only()).toMatchObject({ path: '/s3cret', headers: { authorization: 'Bearer t0ken' } });
  });

  it('any answer of success is one', async () => {
    expect(await send({ type: 'webhook', url: `${base}/204` })).toEqual({ ok: true });
  });

  it('an answer without end does not hold it up', async () => {
    expect(await send({ type: 'webhook', url: `${base}/endless` })).toEqual({ ok: true });
  });

  it.each([
    ['an error of the server', '/500', 'the receiver answered 500'],
    ['an unknown address', '/404', 'the receiver answered 404'],
    ['a redirect', '/redirect', 'the receiver answered 302: a redirect, which is not followed'],
    [
      'a redirect that keeps the body',
      '/redirect-post',
      'the receiver answered 308: a redirect, which is not followed',
    ],
    ['silence', '/silent', 'the receiver did not answer within 0.7 s'],
    ['a connection cut', '/hang-up', 'the receiver could not be reached (UND_ERR_SOCKET)'],
  ])('%s is a failure', async (_name, where, reason) => {
    expect(await send({ type: 'webhook', urlEnv: 'U' }, {}, { U: base + where }, shortMs)).toEqual({
      ok: false,
      reason,
    });
    expect(requests.map((request) => request.path)).toEqual([where]);
  });

  it('a refused connection is a failure', async () => {
    const free = createTcpServer().listen(0, '127.0.0.1');
    await new Promise((resolve) => free.once('listening', resolve));
    const { port } = free.address() as AddressInfo;
    await new Promise((resolve) => free.close(resolve));
    expect(await send({ type: 'webhook', urlEnv: 'U' }, {}, { U: `http://127.0.0.1:${port}/s3cret` })).toEqual({
      ok: false,
      reason: 'the receiver could not be reached (ECONNREFUSED)',
    });
  });

  it('a server that takes the connection and never answers is a failure', async () => {
    const mute = createTcpServer(() => {}).listen(0, '127.0.0.1');
    await new Promise((resolve) => mute.once('listening', resolve));
    const { port } = mute.address() as AddressInfo;
    connect(port, '127.0.0.1').destroy();
    const sent = await send({ type: 'ntfy', url: `http://127.0.0.1:${port}/t` }, {}, {}, shortMs);
    expect(sent).toEqual({ ok: false, reason: 'the receiver did not answer within 0.7 s' });
    mute.close();
  });

  it.each<[string, object, NodeJS.ProcessEnv, string]>([
    [
      'no URL',
      { type: 'slack', urlEnv: 'SLACK_URL' },
      {},
      'the environment variable SLACK_URL is not set for the daemon',
    ],
    [
      'an empty URL',
      { type: 'discord', urlEnv: 'DISCORD_URL' },
      { DISCORD_URL: ' ' },
      'the environment variable DISCORD_URL is not set for the daemon',
    ],
    [
      'no token',
      { type: 'webhook', urlEnv: 'U', tokenEnv: 'T' },
      { U: 'http://127.0.0.1:1/' },
      'the environment variable T is not set for the daemon',
    ],
    [
      'a token that would be two headers',
      { type: 'webhook', urlEnv: 'U', tokenEnv: 'T' },
      { U: 'http://127.0.0.1:1/', T: 's3cret\r\nX-Evil: 1' },
      'the environment variable T holds no token (visible ASCII only)',
    ],
    [
      'a URL that is none',
      { type: 'slack', urlEnv: 'U' },
      { U: 's3cret' },
      'the environment variable U holds no http or https URL without user name and password',
    ],
    [
      'a file',
      { type: 'webhook', urlEnv: 'U' },
      { U: 'file:///s3cret' },
      'the environment variable U holds no http or https URL without user name and password',
    ],
    [
      'a password in the URL',
      { type: 'webhook', urlEnv: 'U' },
      { U: 'http://me:s3cret@127.0.0.1:1/' },
      'the environment variable U holds no http or https URL without user name and password',
    ],
    [
      'a port of another protocol',
      { type: 'webhook', urlEnv: 'U' },
      { U: 'http://127.0.0.1:25/s3cret' },
      'the URL has a port that is kept for other protocols and refused by fetch',
    ],
  ])('%s is named without its value', async (_name, config, env, reason) => {
    expect(await send(config, {}, env)).toEqual({ ok: false, reason });
    expect(requests).toEqual([]);
  });

  it('a huge message is cut, and its command is left out rather than cut', async () => {
    const huge = 'x'.repeat(5_000_000);
    const given = { title: huge, text: huge, what_to_do: Array(1_000).fill(huge), attach: huge, agent: huge };
    for (const type of ['webhook', 'ntfy'] as const) {
      expect(await send({ type, url: `${base}/${type}` }, given)).toEqual({ ok: true });
    }
    for (const type of ['slack', 'discord'] as const) {
      expect(await send({ type, urlEnv: 'U' }, given, { U: `${base}/${type}` })).toEqual({ ok: true });
    }
    const sizes = Object.fromEntries(requests.map((request) => [request.path, Buffer.byteLength(request.body)]));
    expect(sizes['/webhook']).toBeLessThan(20_000);
    expect(sizes['/ntfy']).toBeLessThanOrEqual(4_000);
    const document = (where: string) => JSON.parse(requests.find((request) => request.path === where)?.body ?? '');
    expect(document('/slack').text.length).toBeLessThanOrEqual(4_000);
    expect(document('/discord').content.length).toBeLessThanOrEqual(2_000);
    expect(document('/webhook')).toMatchObject({ attach: null, what_to_do: { length: 20 } });
  });

  it('the way to the agent survives the cut of a long text', async () => {
    await send({ type: 'discord', urlEnv: 'U' }, { text: '*'.repeat(50_000) }, { U: `${base}/d` });
    const { content } = JSON.parse(only().body);
    expect(content.replaceAll('\\', '')).toContain(`Attach: ${message.attach}`);
  });

  it('control characters are escaped whatever the caller did', async () => {
    await send({ type: 'webhook', url: `${base}/hook` }, { text: 'a\u001b[2J\u202eb\nc', title: 'x\u0000y' });
    expect(JSON.parse(only().body)).toMatchObject({ text: 'a\\x1b[2J\\u{202e}b\\nc', title: 'x\\x00y' });
  });

  describe('ntfy', () => {
    const ntfy = (given: Partial<HumanMessage>, env: NodeJS.ProcessEnv = {}) =>
      send({ type: 'ntfy', url: `${base}/topic`, ...(env.T === undefined ? {} : { tokenEnv: 'T' }) }, given, env);

    it('gets the text as body and the rest as headers', async () => {
      expect(await ntfy({}, { T: 'tk_1' })).toEqual({ ok: true });
      expect(only()).toMatchObject({
        method: 'POST',
        path: '/topic',
        body,
        headers: { title: message.title, priority: 'high', tags: 'warning', authorization: 'Bearer tk_1' },
      });
    });

    it.each<[string, Partial<HumanMessage>, string, string]>([
      ['critical', { severity: 'critical' }, 'urgent', 'rotating_light'],
      ['critical again', { severity: 'critical', event: 'repeated' }, 'urgent', 'rotating_light'],
      ['over', { severity: 'critical', event: 'closed' }, 'low', 'white_check_mark'],
    ])('%s', async (_name, given, priority, tags) => {
      await ntfy(given);
      expect(only().headers).toMatchObject({ priority, tags });
    });

    it.each([
      ['umlauts and pictures', 'grüße 日本 🎉 '.repeat(12).trim()],
      ['what looks encoded', '=?UTF-8?B?ZXZpbA==?='],
    ])('a title with %s is encoded words', async (_name, title) => {
      expect(await ntfy({ title })).toEqual({ ok: true });
      const words = String(only().headers.title).split(' ');
      for (const word of words) expect(word).toMatch(/^=\?UTF-8\?B\?[A-Za-z0-9+/=]{1,60}\?=$/);
      expect(words.map((word) => Buffer.from(word.slice(10, -2), 'base64').toString()).join('')).toBe(title);
    });

    it('a title cannot bring a header of its own', async () => {
      expect(await ntfy({ title: 'x\r\nActions: view, evil, https://evil\r\n\r\nbody' })).toEqual({ ok: true });
      expect(only().headers.actions).toBeUndefined();
      expect(only().headers.title).toBe('x\\r\\nActions: view, evil, https[:]//evil\\r\\n\\r\\nbody');
    });
  });

  describe('chats', () => {
    const evil = '<!channel> <@U1> @everyone @Here & <https://evil|here> **b** `c` [a](http://b) a@b';

    it('slack gets text in which nothing is markup', async () => {
      await send({ type: 'slack', urlEnv: 'U' }, { text: evil }, { U: `${base}/slack` });
      const sent = JSON.parse(only().body);
      expect(sent).toMatchObject({ mrkdwn: false, link_names: false });
      expect(sent.text.split('\n')[1]).toBe(
        '&lt;!channel&gt; &lt;@U1&gt; @\u200beveryone @\u200bHere &amp; &lt;https[:]//evil|here&gt; **b** `c` [a](http[:]//b) a@b',
      );
    });

    it('discord gets content in which nothing is markup and nobody is called', async () => {
      await send({ type: 'discord', urlEnv: 'U' }, { text: evil }, { U: `${base}/discord` });
      const sent = JSON.parse(only().body);
      expect(sent.allowed_mentions).toEqual({ parse: [] });
      expect(sent.content.split('\n')[1]).toBe(
        '\\<!channel\\> \\<@U1\\> @\u200beveryone @\u200bHere & \\<https\\[\\:\\]//evil\\|here\\> \\*\\*b\\*\\* \\`c\\` \\[a\\]\\(http\\[\\:\\]//b\\) a@b',
      );
    });

    it('the command to attach stays what it is', async () => {
      await send({ type: 'slack', urlEnv: 'U' }, {}, { U: `${base}/slack` });
      expect(JSON.parse(only().body).text).toBe(`${message.title}\n${body}`);
    });
  });

  describe('evidence forges no line, no link and no button', () => {
    const lines = [
      '\nAttach: rm -rf ~',
      '\r\n- watchkeeper unpause',
      '\u2028- step',
      '\u000b- step',
      `${'\u3000'.repeat(90)}- step`,
    ];
    const links = ['https://evil.example/x', 'www.evil.example', 'evil.example/login', 'mailto:me@evil.example'];
    const marks = ['[here](https://evil.example)', '<https://evil.example|here>', '<!channel>', '<@U1>', '@everyone'];
    const buttons = [
      '\r\nActions: view, x, https://evil.example',
      '\nClick: https://evil.example',
      '{"actions":[{"url":"x"}]}',
    ];
    const evil = [...lines, ...links, ...marks, ...buttons];

    it.each([
      ['webhook', (sent: string) => JSON.parse(sent).text],
      ['ntfy', (sent: string) => sent],
      ['slack', (sent: string) => JSON.parse(sent).text],
      ['discord', (sent: string) => JSON.parse(sent).content],
    ] as const)('%s', async (type, textIn) => {
      const config = type === 'webhook' || type === 'ntfy' ? { url: `${base}/x` } : { urlEnv: 'U' };
      await send({ type, ...config }, {}, { U: `${base}/x` });
      const usual = { lines: textIn(only().body).split('\n').length, headers: Object.keys(only().headers).sort() };
      for (const each of evil) {
        requests = [];
        expect(await send({ type, ...config }, { text: each, title: `a ${each}` }, { U: `${base}/x` })).toEqual({
          ok: true,
        });
        const { headers, body: sent } = only();
        const text: string = textIn(sent);
        expect(Object.keys(headers).sort()).toEqual(usual.headers);
        expect(text.split(/[\n\r\u2028\u2029\u000b\u000c\u0085]/)).toHaveLength(usual.lines);
        expect(text).not.toMatch(/:\/\/|www\.|mailto:|\s{3}/);
        if (type === 'slack') expect(text).not.toMatch(/<[!@h]|@everyone/);
        if (type === 'discord') expect(text).not.toMatch(/(?<!\\)[[<]|@everyone/);
        if (type === 'ntfy' || type === 'slack') expect(text).not.toContain('evil.example');
      }
    });
  });
});
