// An agent's context from 10 to 90 percent on the real client: seen, recorded, asked for a handoff once, and let down
// again by /compact and /clear.
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';
import type { AdmissionDocument, ContextDocument } from '../../src/daemon/context-document.ts';
import { type Agent, launchAgent } from './agent.ts';
import { type Scenario, scenario } from './scenario.ts';
import { Watching } from './watching.ts';

const window = 1_000_000;

async function contextOf(s: Scenario, name: string): Promise<ContextDocument> {
  return (await s.watchkeeper(['context', name, '--json'])).json<ContextDocument>();
}

async function fill(s: Scenario, agent: Agent, percent: number): Promise<void> {
  const used = percent * 10_000;
  const step = agent.model.reply('Done.', { usage: { input: 10, cacheRead: used - 1_010, cacheCreate: 1_000 } });
  await agent.type(`use ${percent}`);
  await step.ended;
  await agent.waitStatus('idle');
  // Not the last one where a prompt of ours has begun the next turn.
  const isThere = async () => (await contextOf(s, agent.session)).points.some((point) => point.used === used);
  await s.until(`${percent} on record`, isThere);
}

async function accepts(s: Scenario, size: string): Promise<[number, string | null, string]> {
  const said = await s.watchkeeper(['can-accept', 'fill-ps', '--size', size, '--json']);
  const { band, handoff } = said.json<AdmissionDocument>();
  return [said.code, band, handoff];
}

/** Prompts of ours that the model has read. */
function asked(agent: Agent): string[] {
  return agent.model.turns.map(({ prompt }) => prompt).filter((prompt) => /context window is \d+% full/.test(prompt));
}

function bands(watch: Watching): unknown[] {
  const told = watch.said.filter(({ agent, kind }) => agent === 'fill-ps' && kind === 'band');
  return told.map(({ data }) => data.band);
}

test(
  'from 10 to 90 percent: every band once, one prompt at its moment, and what it takes on',
  scenario(async (s) => {
    const watch = new Watching(s);
    const file = path.join(s.home, 'config.yaml');
    const prompt = { minIntervalMinutes: 0.01, humanQuietSeconds: 1 };
    // Prompted, but not managed: a handoff would begin at 85 percent.
    const agents = [{ match: '*-ps', authority: 'nudge' }];
    writeFileSync(file, JSON.stringify({ tickSeconds: 0.5, prompt, agents }));
    try {
      await watch.start([], { WATCHKEEPER_CONFIG: file });
      // Only observed: nobody asks it for anything.
      const other = await launchAgent({ scenario: s, session: 'seen', shell: 'sh' });
      const agent = await launchAgent({ scenario: s, session: 'fill-ps', shell: 'bash' });
      await other.waitReady();
      await agent.waitReady();
      await s.until('agent', () => watch.status('fill-ps'));
      expect((await s.watchkeeper(['can-accept', 'fill-ps', '--size', 'tiny'])).code).toBe(1);

      await fill(s, agent, 10);
      expect(await accepts(s, 'large')).toEqual([0, '[0,30)', 'none']);
      await fill(s, agent, 40);
      expect(await accepts(s, 'large')).toEqual([0, '[30,50)', 'none']);
      await fill(s, agent, 60);
      expect(await accepts(s, 'large')).toEqual([1, '[50,70)', 'advised']);
      expect(await accepts(s, 'small')).toEqual([0, '[50,70)', 'none']);
      expect(asked(agent)).toEqual([]);

      agent.model.usage({ input: 721_000 });
      await fill(s, agent, 72);
      await s.until('the prompt', () => asked(agent).length > 0);
      await s.until('its answer', async () => (await contextOf(s, 'fill-ps')).context?.used === 721_000);
      await agent.waitStatus('idle');
      expect(await accepts(s, 'small')).toEqual([1, '[70,85]', 'advised']);
      expect(await accepts(s, 'tiny')).toEqual([0, '[70,85]', 'advised']);
      // A wobble, and the rest of the same stay: nothing more is said.
      await fill(s, agent, 69);
      await fill(s, agent, 80);
      await fill(s, other, 75);
      await fill(s, agent, 90);
      expect(await accepts(s, 'tiny')).toEqual([1, '(85,100]', 'required']);
      expect((await s.watchkeeper(['health', 'fill-ps', '--json'])).json()).toMatchObject({ status: 'critical' });
      await s.until('a human is told', async () =>
        (await s.watchkeeper(['inbox', '--json'])).stdout.includes('context-full'),
      );
      expect(bands(watch)).toEqual(['[0,30)', '[30,50)', '[50,70)', '[70,85]', '(85,100]']);
      const drawn = (await s.watchkeeper(['context', 'fill-ps'])).stdout;
      expect(drawn).toMatch(/^fill-ps: 90% of 1M used \(900k\), by its transcript/);
      expect(drawn).toMatch(/forecast: full in about/);

      await agent.type('/compact');
      const compacted = await s.until('compacted', async () => {
        const { points } = await contextOf(s, 'fill-ps');
        return points.find((point) => point.compacted === 'manual');
      });
      expect(compacted.used).toBeLessThan(0.3 * window);
      expect(compacted.used_before).toBeGreaterThan(0);
      await agent.waitStatus('idle');
      await s.until('the lowest band', () => bands(watch).at(-1) === '[0,30)');
      expect((await s.watchkeeper(['health', 'fill-ps', '--json'])).json()).toMatchObject({ status: 'healthy' });

      await agent.type('/clear');
      await s.until('a new history', async () => (await contextOf(s, 'fill-ps')).points.length === 0);
      expect(bands(watch).at(-1)).toBeNull();
      await fill(s, agent, 20);
      expect(await accepts(s, 'large')).toEqual([0, '[0,30)', 'none']);

      expect(asked(agent).length).toBe(1);
      expect(asked(agent)[0]).toMatch(/72% full.*create a handoff document after the current work.*\[wk-/);
      expect(asked(other)).toEqual([]);
    } finally {
      watch.stop();
    }
  }),
);
