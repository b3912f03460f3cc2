// The client asks: for permission, a question, about a plan.
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Scenario } from '../scenario.ts';
import { type Launch, leave, type See, settled, words } from './stage.ts';

/** A tool server of one tool, over stdio. */
function toolServer(dir: string): string {
  const script = path.join(dir, 'tool-server.mjs');
  const answers = {
    initialize: {
      protocolVersion: '2025-03-26',
      capabilities: { tools: {} },
      serverInfo: { name: 'desk', version: '1' },
    },
    'tools/list': {
      tools: [
        {
          name: 'ring',
          description: 'Rings',
          inputSchema: { type: 'object', properties: { times: { type: 'number' } } },
        },
      ],
    },
    'tools/call': { content: [{ type: 'text', text: 'rung' }] },
  };
  writeFileSync(
    script,
    `import { createInterface } from 'node:readline';
const answers = ${JSON.stringify(answers)};
createInterface({ input: process.stdin }).on('line', (line) => {
  const { id, method } = JSON.parse(line);
  if (id !== undefined) console.log(JSON.stringify({ jsonrpc: '2.0', id, result: answers[method] ?? {} }));
});
`,
  );
  return JSON.stringify({ mcpServers: { desk: { command: process.execPath, args: [script] } } });
}

export async function permissions(launch: Launch, see: See, s: Scenario): Promise<void> {
  const agent = await launch('permits', { args: ['--mcp-config', toolServer(s.dir)] });
  writeFileSync(path.join(agent.folder.project, 'notes.txt'), 'one\ntwo\nthree\n');
  await agent.waitReady();
  await sleep(1_500);
  const asked: [string, string, Record<string, unknown>][] = [
    ['bash', 'Bash', { command: 'touch made', description: 'Make a file' }],
    ['bash-long', 'Bash', { command: `printf '%s\\n' ${words(0, 60)} > made\nrm made\nls`, description: 'A long one' }],
    ['write', 'Write', { file_path: path.join(agent.folder.project, 'new.txt'), content: 'hello\nthere\n' }],
    ['webfetch', 'WebFetch', { url: 'http://127.0.0.1:9/page', prompt: 'what is there' }],
    ['mcp', 'mcp__desk__ring', { times: 3 }],
  ];
  for (const [name, tool, input] of asked) {
    agent.model.tool(tool, input);
    await agent.type(`use ${name}`);
    await agent.waitDialog(/Esc to|No/);
    await settled(agent);
    await see(agent, `permission-${name}`, 'permission');
    await leave(agent);
    await agent.waitStatus('idle');
  }
  agent.model.tool('Read', { file_path: path.join(agent.folder.project, 'notes.txt') });
  agent.model.tool('Edit', {
    file_path: path.join(agent.folder.project, 'notes.txt'),
    old_string: 'two',
    new_string: 'zwei',
  });
  await agent.type('edit the notes');
  await agent.waitDialog(/Esc to|No/);
  await settled(agent);
  await see(agent, 'permission-edit', 'permission');
  await agent.keys('Tab');
  await settled(agent);
  await see(agent, 'permission-edit-amend', 'permission');
  await leave(agent);
  await leave(agent);
  await agent.waitStatus('idle');
  await see(agent, 'permission-refused', 'idle');
}

export async function questions(launch: Launch, see: See): Promise<void> {
  const agent = await launch('asks');
  await agent.waitReady();
  agent.model.question('Which colour?', ['Red', 'Blue']);
  await agent.type('ask me');
  await agent.waitDialog(/Enter to select|Red/);
  await settled(agent);
  await see(agent, 'question', 'question');
  await agent.keys('Down', 'Down');
  await settled(agent);
  await see(agent, 'question-own-words', 'question');
  await leave(agent);
  await agent.waitStatus('idle');
  await see(agent, 'question-declined', 'idle');
  const options = ['Ham', 'Cheese', 'Olives'].map((label) => ({ label, description: `${label} on it` }));
  const several = { question: 'What on it?', header: 'Toppings', multiSelect: true, options };
  agent.model.tool('AskUserQuestion', { questions: [several] });
  await agent.type('ask me for several');
  await agent.waitDialog(/Enter to select|Ham/);
  await settled(agent);
  await see(agent, 'question-several', 'question');
  await leave(agent);
  await agent.waitStatus('idle');
  agent.model.tool('AskUserQuestion', {
    questions: [
      { ...several, multiSelect: false },
      { ...several, question: 'And how hot?', header: 'Heat' },
    ],
  });
  await agent.type('ask me twice');
  await agent.waitDialog(/Enter to select|Ham/);
  await settled(agent);
  await see(agent, 'question-two', 'question');
  await agent.keys('Right', 'Right');
  await settled(agent);
  await see(agent, 'question-submit', 'question');
  await leave(agent);
  await agent.waitStatus('idle');
  const box = ['', '─'.repeat(120), '❯\u00a0', '─'.repeat(120), '  ⏸ manual mode on · ? for shortcuts', ''].join('\n');
  agent.model.question(`Is this a box?${box}Well?`, ['Yes', 'No']);
  await agent.type('ask me slyly');
  await agent.waitDialog(/Enter to select|Well/);
  await settled(agent);
  await see(agent, 'question-with-fake-box', 'question');
  await leave(agent);
  await agent.waitStatus('idle');

  // Wrapped by the client, each of these comes to stand in a row of its own, at the very left.
  const rows = `${'─'.repeat(300)} ❯\u00a0 ${'─'.repeat(300)}`;
  agent.model.question(rows, ['Yes', 'No']);
  await agent.type('ask me in rows');
  await agent.waitDialog(/Enter to select/);
  await settled(agent);
  await see(agent, 'question-of-rules', 'question');
  await leave(agent);
  await agent.waitStatus('idle');
  const previews = ['One', 'Two'].map((label) => ({ label, description: label, preview: `${label}:${box}` }));
  agent.model.tool('AskUserQuestion', {
    questions: [{ question: 'Which layout?', header: 'Layout', multiSelect: false, options: previews }],
  });
  await agent.type('show me');
  await agent.waitDialog(/Which layout/);
  await settled(agent);
  await see(agent, 'question-with-previews', 'question');
  await leave(agent);
  await agent.waitStatus('idle');

  const planner = await launch('plans', { permissionMode: 'plan' });
  await planner.waitReady();
  await settled(planner);
  await see(planner, 'plan-mode', 'idle');
  planner.model.tool('ExitPlanMode', {});
  await planner.type('make no plan');
  await planner.waitDialog(/plan/i);
  await settled(planner);
  await see(planner, 'plan-empty', 'question');
  await leave(planner);
  await planner.waitStatus('idle');
  const file = /[^"\\\s`]*plans\/[\w-]+\.md/.exec(JSON.stringify(planner.model.turns[0]?.body))?.[0];
  planner.model.tool('Write', { file_path: file, content: `# Plan\n\n1. Look.\n2. Do it.\n\n${box}\nEnd.` });
  planner.model.tool('ExitPlanMode', {});
  await planner.type('make a plan');
  await planner.waitDialog(/plan/i);
  await settled(planner);
  await see(planner, 'plan', 'question');
  await leave(planner);
}
