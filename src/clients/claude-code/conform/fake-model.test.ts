import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { type FakeModel, startFakeModel } from './fake-model.ts';
import type { ModelTurn } from './model-turn.ts';

let model: FakeModel;
beforeEach(async () => {
  model = await startFakeModel();
});
afterEach(() => model.close());

const tools = [{ name: 'Bash' }, { name: 'Edit' }];

async function ask(messages: unknown[], body: Record<string, unknown> = {}) {
  const { baseUrl } = model.agent('one');
  const response = await fetch(`${baseUrl}/v1/messages`, {
    method: 'POST',
    body: JSON.stringify({ model: 'claude', tools, messages, ...body }),
  });
  return { status: response.status, headers: response.headers, text: await response.text() };
}

const user = (...content: unknown[]) => ({ role: 'user', content });
const text = (said: string) => ({ type: 'text', text: said });

describe('a model that behaves as a function says', () => {
  test('is told what was said, what the tools answered and what it may call', async () => {
    const turns: ModelTurn[] = [];
    model.agent('one').behave((turn) => {
      turns.push(turn);
      return { text: 'On it.', tools: [{ name: 'Bash', input: { command: 'ls' } }], usage: { input: 7 } };
    });
    const prompt = user(text('<system-reminder>be kind</system-reminder>'), text('list the files'));
    const answer = JSON.parse((await ask([prompt])).text);
    expect(answer).toMatchObject({
      content: [
        { type: 'text', text: 'On it.' },
        { type: 'tool_use', name: 'Bash', input: { command: 'ls' } },
      ],
      stop_reason: 'tool_use',
      usage: { input_tokens: 7 },
    });
    const result = { type: 'tool_result', tool_use_id: answer.content[1].id, content: 'no such file', is_error: true };
    await ask([prompt, { role: 'assistant', content: answer.content }, user(result)]);
    expect(turns.map(({ request, ...turn }) => turn)).toEqual([
      { count: 1, kind: 'main', text: 'list the files', toolResults: [], tools: ['Bash', 'Edit'], messages: 1 },
      {
        count: 2,
        kind: 'main',
        text: 'list the files',
        toolResults: [
          { id: answer.content[1].id, name: 'Bash', input: { command: 'ls' }, text: 'no such file', isError: true },
        ],
        tools: ['Bash', 'Edit'],
        messages: 3,
      },
    ]);
  });

  test('takes queued steps first, and says its usual word where the function says nothing', async () => {
    const agent = model.agent('one');
    agent.reply('queued');
    agent.behave(() => null);
    agent.otherwise('the usual');
    const said = [await ask([user(text('a'))]), await ask([user(text('b'))])];
    expect(said.map((answer) => JSON.parse(answer.text).content[0].text)).toEqual(['queued', 'the usual']);
  });

  test('fails as told', async () => {
    model.agent('one').behave(() => ({ error: { status: 429, body: { a: 1 }, headers: { 'retry-after': '9' } } }));
    const { status, headers, text: body } = await ask([user(text('a'))]);
    expect([status, headers.get('retry-after'), body]).toEqual([429, '9', '{"a":1}']);
  });

  test('hangs until it is let go on', async () => {
    let release = () => {};
    const hang = new Promise<void>((resolve) => {
      release = resolve;
    });
    model.agent('one').behave(() => ({ text: 'Hm', hang }));
    let over = false;
    const asked = ask([user(text('a'))], { stream: true }).then((answer) => {
      over = true;
      return answer;
    });
    await expect.poll(() => model.agent('one').requests.length).toBe(1);
    expect(over).toBe(false);
    release();
    expect((await asked).text).toContain('Now I know.');
  });

  test('is asked about the conversation only; subagents have a function of their own', async () => {
    const agent = model.agent('one');
    agent.behave(() => ({ text: 'main' }));
    agent.subagent.behave(({ kind }) => ({ text: kind }));
    const title = await ask([user(text('title?'))], { tools: [] });
    expect(JSON.parse(title.text).content[0].text).toBe('A title');
    const response = await fetch(`${agent.baseUrl}/v1/messages`, {
      method: 'POST',
      headers: { 'x-claude-code-agent-id': 'a1' },
      body: JSON.stringify({ model: 'claude', tools, messages: [user(text('go'))] }),
    });
    expect(((await response.json()) as { content: { text: string }[] }).content[0]?.text).toBe('subagent');
  });
});
