// Context as Watchkeeper reads it from the transcript, against the client's own status line.
import { describe, expect, test } from 'vitest';
import { errorBody } from '../../src/clients/claude-code/conform/model-script.ts';
import { wholePercent } from '../../src/model/percent.ts';
import { type Agent, launchAgent } from './agent.ts';
import type { Scenario } from './scenario.ts';
import { type Watching, watched } from './watching.ts';

interface ContextWindow {
  total_input_tokens: number;
  context_window_size: number;
  used_percentage: number | null;
}

/** The newest figure the status line was told, once it speaks of this many tokens. */
async function statusLine(s: Scenario, agent: Agent, used: number): Promise<ContextWindow> {
  return s.until(`status line at ${used}`, () => {
    const told = agent.statusLines().at(-1)?.told.context_window as ContextWindow | undefined;
    return told?.total_input_tokens === used ? told : null;
  });
}

async function expectEqual(s: Scenario, watch: Watching, agent: Agent, used: number): Promise<void> {
  const told = await statusLine(s, agent, used);
  const context = await s.until(`watchkeeper at ${used}`, async () => {
    const seen = (await watch.status(agent.session))?.context;
    return seen?.used === used ? seen : null;
  });
  expect(context.window).toBe(told.context_window_size);
  expect(wholePercent(context.percent)).toBe(told.used_percentage);
  expect(context.usable).toBe(told.context_window_size - 20_000);
}

async function turn(agent: Agent, text: string, used: number): Promise<void> {
  const step = agent.model.reply('Done.', { usage: { input: 10, cacheRead: used - 1_010, cacheCreate: 1_000 } });
  await agent.type(text);
  await step.ended;
  await agent.waitStatus('idle');
}

function contextScenario(
  modelName: string | null,
  permissionMode: 'default' | 'auto',
  shell: 'direct' | 'bash' | 'sh',
) {
  return watched(async (s, watch) => {
    // Only observed, so that nobody says "continue" when a turn fails.
    const agent = await launchAgent({
      scenario: s,
      session: 'demo',
      statusLine: true,
      shell,
      permissionMode,
      extraSettings: { permissions: { allow: ['Bash'] } },
      ...(modelName === null ? {} : { modelName }),
    });
    await agent.waitReady();
    expect((await s.until('agent', () => watch.status('demo'))).context).toBeNull();

    for (const used of [13_690, 50_000, 101_000]) {
      await turn(agent, `use ${used}`, used);
      await expectEqual(s, watch, agent, used);
    }

    // A tool's turn has two requests: the second one counts. A subagent's figures are its own.
    agent.model.tool('Bash', { command: 'echo hi', description: 'say hi' }, { usage: { input: 110_000 } });
    await turn(agent, 'use a tool', 112_500);
    await expectEqual(s, watch, agent, 112_500);
    agent.model.subagent.reply('Seen.', { usage: { input: 77_000 } });
    agent.model.tool('Agent', { description: 'look', prompt: 'look', subagent_type: 'general-purpose' });
    agent.model.usage({ input: 115_000 });
    await agent.type('start an agent');
    await s.until('subagent reported', () => agent.model.turns.at(-1)?.prompt.includes('task-notification'));
    await agent.waitStatus('idle');
    await expectEqual(s, watch, agent, 115_000);

    // A turn that fails has no figures: the last ones stand.
    agent.model.error(400, errorBody('invalid_request_error', 'Your credit balance is too low'));
    await agent.type('fail');
    await watch.turn('demo', 'failed');
    await expectEqual(s, watch, agent, 115_000);

    await agent.type('/compact');
    await s.until('compacted', async () => ((await watch.status('demo'))?.context?.used ?? 115_000) < 115_000);
    await agent.waitStatus('idle');
    await turn(agent, 'after the compaction', 21_000);
    await expectEqual(s, watch, agent, 21_000);

    await agent.type('/clear');
    await s.until('no context', async () => (await watch.status('demo'))?.context === null);
    await turn(agent, 'after the clear', 15_000);
    await expectEqual(s, watch, agent, 15_000);
  });
}

describe("context equals the status line's figure after every turn, through failures, compaction and /clear", () => {
  test('on the default model with its window of 1,000,000', contextScenario(null, 'default', 'direct'));
  test('on a model with a window of 200,000', contextScenario('claude-sonnet-4-5', 'auto', 'bash'));
  test('on the same model with the larger window', contextScenario('claude-sonnet-4-5[1m]', 'default', 'sh'));
});
