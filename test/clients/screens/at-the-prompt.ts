// A person at the prompt: drafts, menus, the client's own commands, a full context, a limit.
import { setTimeout as sleep } from 'node:timers/promises';
import { limitHeaders } from '../../../src/clients/claude-code/conform/limit-headers.ts';
import { errorBody } from '../../../src/clients/claude-code/conform/model-script.ts';
import { until } from '../../../src/conform/until.ts';
import { type Launch, leave, type See, settled, unboxed } from './stage.ts';

const dialogCommands = [
  'help',
  'config',
  'model',
  'resume',
  'permissions',
  'hooks',
  'memory',
  'theme',
  'status',
  'tasks',
  'effort',
  'export',
  'skills',
  'add-dir',
];

export async function inTheBox(launch: Launch, see: See): Promise<void> {
  const agent = await launch('box', { shell: 'bash' });
  await agent.waitReady();
  await settled(agent);
  await see(agent, 'fresh', 'idle');
  await agent.draft('half a thought');
  await see(agent, 'draft', 'idle');
  await agent.keys('C-s');
  await agent.waitForScreen(/stashed/);
  await see(agent, 'stashed', 'idle');
  await agent.keys('C-s');
  await agent.waitForScreen(/half a thought/);
  await agent.keys('C-u');
  await settled(agent);
  for (const [key, name, truth] of [
    ['!', 'shell-mode', 'dialog'],
    ['/', 'slash-menu', 'idle'],
    ['@', 'file-menu', 'idle'],
    ['?', 'shortcuts', 'idle'],
    ['C-r', 'history-search', 'dialog'],
  ] as const) {
    await agent.keys(key);
    await settled(agent);
    await see(agent, name, truth);
    await leave(agent);
    if (name !== 'shortcuts' && name !== 'history-search') await agent.keys('BSpace');
    await settled(agent);
  }
  await agent.keys('C-c');
  await settled(agent);
  await see(agent, 'ctrl-c-once', 'idle');
  await sleep(1_500);
  await agent.exit();
  await settled(agent);
  await see(agent, 'exited', 'left');
  for (const shell of ['bash', 'sh'] as const) {
    const killed = await launch(`killed-${shell}`, { shell });
    await killed.waitReady();
    await settled(killed);
    killed.kill('SIGKILL');
    await until('gone', () => killed.pid() === null);
    await settled(killed);
    await see(killed, `killed-${shell}`, 'left');
  }
}

export async function dialogs(launch: Launch, see: See): Promise<void> {
  const agent = await launch('dialogs');
  await agent.waitReady();
  agent.model.reply('One.');
  await agent.type('say one');
  await until('answered', () => agent.model.turns.length === 1);
  await agent.waitStatus('idle');
  await sleep(800);
  for (const command of dialogCommands) {
    await agent.type(`/${command}`);
    await sleep(900);
    await settled(agent);
    await see(agent, `command-${command}`, 'dialog');
    await leave(agent);
  }
  await agent.keys('Escape');
  await sleep(150);
  await agent.keys('Escape');
  await unboxed(agent);
  await settled(agent);
  await see(agent, 'rewind', 'dialog');
  await leave(agent);
  await agent.type('/color pink');
  await see(agent, 'pink', 'idle');
  await agent.type('/rename a good name');
  await see(agent, 'renamed', 'idle');
}

export async function context(launch: Launch, see: See): Promise<void> {
  const agent = await launch('context', { modelName: 'claude-opus-4-6' });
  await agent.waitReady();
  agent.model.reply('Much.', { usage: { input: 155_000 } });
  await agent.type('use a lot');
  await until('answered', () => agent.model.turns.length === 1);
  await agent.waitForScreen(/until auto-compact/, 30_000);
  await see(agent, 'context-low', 'idle');
  const byHand = agent.model.compaction.hold();
  await agent.type('/compact');
  await byHand.arrived;
  await see(agent, 'compacting', 'compacting');
  byHand.release();
  await agent.waitStatus('idle');
  await see(agent, 'compacted', 'idle');
  agent.model.reply('Some.', { usage: { input: 50_000 } });
  await agent.type('use some');
  await until('answered', () => agent.model.turns.length === 2);
  await agent.waitStatus('idle');
  agent.model.reply('More.', { usage: { input: 170_000 } });
  await agent.type('use more');
  await until('answered', () => agent.model.turns.length === 3);
  const byItself = agent.model.compaction.hold();
  await agent.type('go on');
  await byItself.arrived;
  await see(agent, 'compacting-by-itself', 'compacting');
  byItself.release();
  await agent.waitStatus('idle');

  const off = await launch('full', { modelName: 'claude-opus-4-6', env: { DISABLE_AUTO_COMPACT: '1' } });
  await off.waitReady();
  off.model.reply('Much.', { usage: { input: 170_000 } });
  await off.type('use a lot');
  await until('answered', () => off.model.turns.length === 1);
  await off.waitForScreen(/Context low/, 30_000);
  await see(off, 'context-low-no-auto', 'idle');
  off.model.reply('Full.', { usage: { input: 181_000 } });
  await off.type('use the rest');
  await until('answered', () => off.model.turns.length === 2);
  await off.waitStatus('idle');
  await off.type('over it');
  await off.waitForScreen(/limit reached/);
  await see(off, 'context-limit', 'idle');
}

export async function limits(launch: Launch, see: See): Promise<void> {
  // As a subscriber: only then does the client read the limit's headers.
  const env = { ANTHROPIC_API_KEY: '', CLAUDE_CODE_OAUTH_TOKEN: 'dummy' };
  const inSeconds = (seconds: number) => Math.floor(Date.now() / 1000) + seconds;
  const body = errorBody('rate_limit_error', 'limit');
  const agent = await launch('limits', { env });
  await agent.waitReady();
  agent.model.error(429, body, { headers: limitHeaders(inSeconds(7_200)) });
  await agent.type('reach the limit');
  await agent.waitForScreen(/ontinuing automatically/);
  await see(agent, 'limit-row', 'limited');
  await agent.keys('Escape');
  await agent.waitForScreen(/cancelled/);
  await see(agent, 'limit-row-cancelled', 'idle');
  agent.model.error(429, body, { headers: limitHeaders(inSeconds(3 * 86_400), 'seven_day') });
  await agent.type('reach the weekly limit');
  await agent.waitForScreen(/What do you want to do/);
  await settled(agent);
  await see(agent, 'limit-dialog', 'limited');
  await leave(agent);
  await see(agent, 'limit-dialog-left', 'idle');
}

/** Only where the client has the whole screen for itself: elsewhere the terminal scrolls, and commands wait. */
export async function wholeScreen(launch: Launch, see: See): Promise<void> {
  const agent = await launch('whole');
  await agent.waitReady();
  agent.model.reply(Array.from({ length: 60 }, (_, n) => `Line ${n} of a long answer.`).join('\n\n'));
  await agent.type('fill the screen');
  await agent.waitForScreen(/Line 59/);
  await agent.waitStatus('idle');
  const behind = agent.model.hold('Something new.');
  await agent.type('answer while I read');
  await behind.arrived;
  await sleep(800);
  await agent.keys('PPage');
  await agent.waitForScreen(/ctrl\+End/);
  await see(agent, 'scrolled-busy', 'busy');
  behind.release();
  await agent.waitStatus('idle');
  await see(agent, 'scrolled', 'idle');
  await agent.keys('C-End');
  await settled(agent);
  const held = agent.model.hold('Thinking of it.');
  await agent.type('be busy');
  await agent.waitForScreen(/Thinking of it/);
  await agent.type('/config');
  await unboxed(agent);
  await see(agent, 'command-config-busy', 'dialog');
  await leave(agent);
  await see(agent, 'command-config-busy-left', 'busy');
  held.release();
  await agent.waitStatus('idle');
}
