// What people do with the commands, on the real client.
import { expect, test } from 'vitest';
import type { PromptResult } from '../../src/actions/actions.ts';
import { launchAgent } from './agent.ts';
import { scenario } from './scenario.ts';
import { watched } from './watching.ts';

test(
  'an observed agent can be given more authority, and a standing text asks it for its context',
  watched(async (s, watch) => {
    const agent = await launchAgent({ scenario: s, session: 'other', shell: 'sh' });
    await agent.waitReady();
    await watch.expect('other', 'idle', Date.now());
    expect((await s.watchkeeper(['prompt', 'other', 'hello'])).code).toBe(1);
    expect((await s.watchkeeper(['authority', 'other', 'nudge'])).code).toBe(0);
    agent.model.reply('Context: 31.6% (63,153/200,000 tokens)');
    const asked = await s.watchkeeper(['prompt', 'other', '--template', 'context-check', '--wait', '20', '--json']);
    expect(asked.json<PromptResult>()).toMatchObject({
      outcome: 'confirmed',
      answer: { text: 'Context: 31.6% (63,153/200,000 tokens)' },
    });
    const rows = (await s.watchkeeper(['db', 'export'])).stdout;
    expect(rows).toContain('"context": {"used": 63153, "window": 200000'.replaceAll(': ', ':').replaceAll(', ', ','));
    expect((await s.watchkeeper(['prompt', 'nobody', 'hello'])).code).toBe(4);
    expect((await s.watchkeeper(['prompt', 'other', '--template', 'spawn-stalled'])).code).toBe(2);
    expect((await s.watchkeeper(['authority', 'other', 'observe'])).code).toBe(0);
    expect((await s.watchkeeper(['prompt', 'other', 'hello'])).code).toBe(1);
    const why = await s.watchkeeper(['why', 'other']);
    expect(why.stdout).toContain('other is idle; Watchkeeper may observe');
    expect(why.stdout).toContain('silent-stop: the last turn ended ok');
    // It is a person's word: a restart does not forget it.
    await s.watchkeeper(['authority', 'other', 'manage']);
    watch.stop();
    await s.watchkeeper(['down']);
    await watch.start();
    await s.until('authority kept', async () => (await watch.status('other'))?.authority === 'manage');
  }),
);

test(
  "an agent at its prompt compacts by the client's own command; a busy one is left alone",
  watched(async (s, watch) => {
    const agent = await launchAgent({ scenario: s, session: 'full-ps', shell: 'bash' });
    await agent.waitReady();
    agent.model.usage({ input: 50_000 });
    await agent.type('one');
    await watch.turn('full-ps', 'ok');
    const long = agent.model.hold();
    await agent.type('two');
    await long.arrived;
    await watch.expect('full-ps', 'working/thinking', Date.now());
    expect((await s.watchkeeper(['compact', 'full-ps', '--json'])).json()).toMatchObject({
      outcome: 'refused',
      reason: 'busy',
    });
    long.release();
    await agent.waitStatus('idle');
    await watch.expect('full-ps', 'idle', Date.now());
    const done = await s.watchkeeper(['compact', 'full-ps', '--json']);
    expect(done.json()).toMatchObject({ outcome: 'confirmed' });
    expect(done.code).toBe(0);
    await s.until('compacted', async () => ((await watch.status('full-ps'))?.context?.used ?? 50_000) < 50_000);
    expect(agent.model.requests.filter((request) => request.kind === 'compaction').length).toBe(1);
  }),
);

test(
  'one round without a daemon finds a failed agent, continues it, and says so by its exit code',
  scenario(async (s) => {
    const agent = await launchAgent({ scenario: s, session: 'cron-ps', shell: 'bash' });
    await agent.waitReady();
    expect((await s.watchkeeper(['check'])).code).toBe(0);
    agent.model.overloaded(3);
    await agent.type('work');
    await agent.waitForScreen(/529/);
    await agent.waitStatus('idle');
    const check = await s.watchkeeper(['check', '--json']);
    expect(check.code).toBe(1);
    expect(check.json()).toMatchObject({ items: [{ agent: 'cron-ps', findings: [{ check: 'silent-stop' }] }] });
    await s.until('continued', () => agent.model.turns.at(-1)?.prompt.includes('[wk-'));
    await agent.waitStatus('idle');
    expect((await s.watchkeeper(['check'])).code).toBe(0);
    expect((await s.watchkeeper(['status'])).code).toBe(3);
  }),
);
