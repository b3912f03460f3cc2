// The client at work: thinking, streaming, running tools, failing, and what runs behind it.
import { setTimeout as sleep } from 'node:timers/promises';
import { errorBody } from '../../../src/clients/claude-code/conform/model-script.ts';
import { until } from '../../../src/conform/until.ts';
import { type Launch, type See, settled, unboxed, words } from './stage.ts';

export async function turns(launch: Launch, see: See): Promise<void> {
  const agent = await launch('turns', { extraSettings: { permissions: { allow: ['Bash'] } } });
  await agent.waitReady();
  const silent = agent.model.silent();
  await agent.type('think first');
  await silent.arrived;
  await see(agent, 'thinking', 'busy');
  silent.release();
  await agent.waitStatus('idle');
  await see(agent, 'finished', 'idle');

  const first = agent.model.stream(words(0, 30), { chunks: 15, delayMs: 200 });
  await agent.type('stream one paragraph');
  await first.arrived;
  await see(agent, 'streaming-first', 'busy');
  await agent.waitStatus('idle');

  const held = agent.model.hold(`${words(0, 40)}\n\n${words(40, 80)}`);
  await agent.type('stream more');
  await agent.waitForScreen(/word79/);
  await see(agent, 'streaming', 'busy');
  await sleep(4_000);
  await see(agent, 'streaming-quiet', 'busy');
  await agent.draft('a draft while it streams');
  await see(agent, 'streaming-draft', 'busy');
  await agent.keys('C-u');
  await agent.type('queued words');
  await see(agent, 'streaming-queued', 'busy');
  agent.model.reply('Both.');
  held.release();
  await until('both answered', () => agent.model.turns.length >= 4);
  await agent.waitStatus('idle');
  await see(agent, 'finished-queued', 'idle');

  const long = agent.model.hold(Array.from({ length: 60 }, (_, n) => `Line ${n} of a long answer.`).join('\n\n'));
  await agent.type('stream a page');
  await agent.waitForScreen(/Line 59/);
  await see(agent, 'streaming-long', 'busy');
  await agent.keys('Escape');
  await agent.waitStatus('idle');
  await see(agent, 'interrupted', 'idle');
  await long.ended;

  agent.model.silent();
  await agent.type('never mind this');
  await agent.waitStatus('busy');
  await sleep(700);
  await agent.keys('Escape');
  await agent.waitStatus('idle');
  await see(agent, 'taken-back', 'idle');
  await agent.keys('C-u');

  agent.model.tool('Bash', { command: 'sleep 6; echo slept', description: 'Sleep a little' });
  const after = agent.model.hold('After the tool.');
  await agent.type('run a tool');
  await agent.waitForScreen(/sleep 6/);
  await see(agent, 'tool', 'busy');
  await agent.keys('C-o');
  await unboxed(agent);
  await see(agent, 'transcript-view-busy', 'dialog');
  await agent.keys('C-o');
  await sleep(600);
  await after.arrived;
  await see(agent, 'after-tool', 'busy');
  after.release();
  await agent.waitStatus('idle');

  agent.model.tools([
    { name: 'Bash', input: { command: 'sleep 3; echo one', description: 'First' } },
    { name: 'Bash', input: { command: 'sleep 3; echo two', description: 'Second' } },
  ]);
  await agent.type('run two tools');
  await agent.waitForScreen(/Second|echo two/);
  await see(agent, 'two-tools', 'busy');
  await agent.waitStatus('idle');

  await agent.keys('C-o');
  await settled(agent);
  await see(agent, 'transcript-view', 'dialog');
  await agent.keys('C-o');
  await settled(agent);
  await agent.keys('!');
  await agent.type('sleep 4');
  await see(agent, 'own-shell-command', 'busy');
  await agent.waitForScreen(/completed with no output/);
  await agent.waitStatus('idle');
  await see(agent, 'own-shell-command-done', 'idle');
  await agent.type('/clear');
  await see(agent, 'cleared', 'idle');
  await agent.keys('\x1b[O');
  await settled(agent);
  await see(agent, 'unfocused', 'idle');
}

/** A turn has begun before the model is asked, and is not over before the last hook is. */
export async function hooks(launch: Launch, see: See): Promise<void> {
  const slow = [{ hooks: [{ type: 'command', command: 'sleep 3' }] }];
  const extraSettings = {
    hooks: { UserPromptSubmit: slow, Stop: slow, PreToolUse: slow },
    permissions: { allow: ['Bash'] },
  };
  const agent = await launch('hooks', { extraSettings });
  await agent.waitReady();
  agent.model.tool('Bash', { command: 'true', description: 'Nothing' });
  const answer = agent.model.reply('Answered.');
  await agent.type('go through the hooks');
  await see(agent, 'hook-before-prompt', 'busy');
  await until('the first request', () => agent.model.turns.length === 1);
  await see(agent, 'hook-before-tool', 'busy');
  await answer.ended;
  await see(agent, 'hook-after-turn', 'busy');
  await agent.waitStatus('idle');
  await see(agent, 'hooks-over', 'idle');
}

export async function errors(launch: Launch, see: See): Promise<void> {
  const agent = await launch('errors');
  await agent.waitReady();
  agent.model.error(500, errorBody('api_error', 'Internal server error'), { times: 4 });
  await agent.type('fail with 500');
  await agent.waitForScreen(/Retrying|attempt/, 15_000);
  await see(agent, 'retrying-500', 'retrying');
  await see(agent, 'retrying-500-later', 'retrying');
  await agent.waitStatus('idle', 30_000);
  agent.model.error(429, errorBody('rate_limit_error', 'slow down'), { times: 1, headers: { 'retry-after': '4' } });
  await agent.type('fail with 429');
  await agent.waitForScreen(/Retrying|attempt/, 15_000);
  await see(agent, 'retrying-429', 'retrying');
  await agent.waitStatus('idle', 30_000);
  agent.model.overloaded(3);
  await agent.type('fail with 529');
  await agent.waitStatus('idle', 20_000);
  await agent.waitForScreen(/Overloaded/);
  await see(agent, 'api-error', 'idle');
  const refused = await launch('refused', { env: { ANTHROPIC_BASE_URL: 'http://127.0.0.1:9' } });
  await refused.waitReady();
  await refused.type('nobody there');
  await refused.waitForScreen(/Retrying|attempt/, 20_000);
  await see(refused, 'retrying-refused', 'retrying');
}

export async function background(launch: Launch, see: See): Promise<void> {
  const agent = await launch('behind', { extraSettings: { permissions: { allow: ['Bash'] } } });
  await agent.waitReady();
  agent.model.tool('Bash', { command: 'sleep 25', description: 'Wait behind', run_in_background: true });
  await agent.type('wait behind');
  await agent.waitStatus('shell');
  await see(agent, 'background-shell', 'idle');
  agent.model.tool('Agent', { description: 'work', prompt: 'work', subagent_type: 'general-purpose' });
  const sub = agent.model.subagent.hold('Subagent at work.');
  await agent.type('start an agent');
  await sub.arrived;
  await agent.waitForScreen(/Waiting for 1/);
  await see(agent, 'background-agent', 'busy');
  await sleep(6_000);
  await see(agent, 'background-agent-later', 'busy');
  await agent.draft('draft beside an agent');
  await see(agent, 'background-agent-draft', 'busy');
  await agent.keys('C-u');
  sub.release();
  await until('its report', () => agent.model.turns.length >= 5, 20_000);
  await until('at the prompt', () => /idle|shell/.test(agent.registry()?.status ?? ''), 20_000);
  await see(agent, 'background-agent-done', 'idle');
  const work = [1, 2].map((n) => ({ description: `work ${n}`, prompt: 'work', subagent_type: 'general-purpose' }));
  agent.model.tools(work.map((input) => ({ name: 'Agent', input })));
  const more = [agent.model.subagent.hold('Second.'), agent.model.subagent.hold('Third.')];
  await agent.type('start two more');
  await Promise.all(more.map((step) => step.arrived));
  await agent.waitForScreen(/Waiting for 2/);
  await see(agent, 'background-agents', 'busy');
  await agent.keys('Down');
  await see(agent, 'background-chosen', 'dialog');
  await agent.keys('Down');
  await see(agent, 'background-agents-chosen', 'dialog');
  await agent.keys('Down', 'Enter');
  await see(agent, 'subagent-view', 'dialog');
  await agent.keys('Escape');
  await see(agent, 'subagent-view-escaped', 'dialog');
  for (const step of more) step.release();
  await agent.waitStatus('idle', 40_000);
  await see(agent, 'subagent-view-over', 'dialog');
}
