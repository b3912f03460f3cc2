// Handoffs that begin before `atPercent` on the real client, by the command line alone: on a window of 200,000 tokens its
// usable end, or the compaction that is coming, is nearer.
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, expect, test } from 'vitest';
import type { StatusDocument } from '../../src/daemon/status.ts';
import { clientOnPath, launchAgent } from '../clients/agent.ts';
import { ended, Handing, handoffs, wholeWay } from '../clients/handing-over.ts';
import { configure } from '../clients/prompting.ts';
import { scenario } from '../clients/scenario.ts';

const window = 200_000;
/** Smaller than the least that a step is taken to be. */
const grows = 7_000;
/** What a handoff is reckoned with. */
const writing = 16_000;
/** Some ticks: by then one that is due has begun. */
const restMs = 1_500;

const kinds = [
  // The one model family that does not compact by itself.
  { session: 'end-ps', model: 'claude-sonnet-4-5', reason: 'usable-end', mark: 180_000, shell: 'bash' },
  { session: 'compacts-ps', model: 'claude-opus-4-6', reason: 'compaction', mark: 167_000, shell: 'direct' },
] as const;

interface Begun {
  /** Tokens in use when it was asked for its document. */
  used: number;
  seconds: number;
  compactions: number;
}
const begun = new Map<string, Begun>();
afterAll(writeReport);

test.each(kinds)(
  'on $model a handoff begins before $mark tokens, by the $reason, and goes its whole way',
  async ({ session, model, reason, mark, shell }) => {
    await scenario(async (s) => {
      configure(s, JSON.stringify({ tickSeconds: 0.3, handoff: { deadlineMinutes: 2 } }));
      expect((await s.watchkeeper(['up', '--detach'])).code).toBe(0);
      const configDir = path.join(s.dir, session, 'config');
      const agent = await launchAgent({
        scenario: s,
        session,
        modelName: model,
        permissionMode: 'default',
        shell,
        configDir,
        // The next step may be done; that the document may be written is Watchkeeper's doing.
        extraSettings: { permissions: { allow: ['Bash(touch:*)'] } },
        prepared: async () => {
          const done = await s.watchkeeper(['init', '--config-dir', configDir], { env: clientOnPath });
          expect(done.code, done.stderr).toBe(0);
        },
      });
      await agent.waitReady(30_000);
      const working = new Handing(agent, undefined, window);
      const hasBegun = async () => (await handoffs(s, session)).length > 0;
      const isAtRest = async () => {
        const { state, since } =
          (await s.watchkeeper(['status', session, '--json'])).json<StatusDocument>().agents[0] ?? {};
        return state === 'idle' && Date.now() - Date.parse(since ?? '') > restMs;
      };
      // Small steps from half of it on, where a handoff may begin at all.
      let used = window / 2;
      let beganMs = Date.now();
      while (!(await hasBegun())) {
        used += grows;
        expect(used, 'there is room left to write one').toBeLessThan(mark - writing);
        beganMs = Date.now();
        const turns = agent.model.turns.length;
        await working.fill((used / window) * 100);
        await s.until('its turn', () => agent.model.turns.length > turns);
        await s.until('a handoff, or none is due', async () => (await hasBegun()) || (await isAtRest()));
      }
      const handoff = await ended(s, session, 1, 90_000);
      expect(handoff).toMatchObject({ trigger: `rule:${reason}`, step: 'done', reason: null });
      expect(handoff.steps.map((taken) => taken.step)).toEqual(wholeWay);
      await s.until('the next step of its document', () => existsSync(working.stepFile(1)), 20_000);
      const rows = (await s.watchkeeper(['db', 'export'])).stdout.split('\n').filter(Boolean);
      const points = rows
        .map((line) => JSON.parse(line) as { table: string; row: { used: number; compacted: string | null } })
        .filter(({ table }) => table === 'context_points');
      const compactions = points.filter(({ row }) => row.compacted !== null).length;
      begun.set(session, { used, seconds: (Date.now() - beganMs) / 1_000, compactions });
      expect(compactions, 'the client never had to').toBe(0);
      expect((used / window) * 100).toBeLessThan(85);
    })();
  },
);

function writeReport(): void {
  const rows = kinds.flatMap(({ session, model, reason, mark }) => {
    const one = begun.get(session);
    if (one === undefined) return [];
    const { used, seconds, compactions } = one;
    const [percent, room] = [((used / window) * 100).toFixed(1), (mark - used).toLocaleString('en-US')];
    return [
      `| ${model} | ${reason} | ${used.toLocaleString('en-US')} (${percent} %) | ${mark.toLocaleString('en-US')} | ${room} | ${compactions} | ${seconds.toFixed(0)} s |`,
    ];
  });
  const text = [
    '# Handoffs that began before 85 percent, on the real client',
    '',
    'Written by `test/long/handoff-trigger.test.ts`: one agent each, on a window of 200,000 tokens that fills in steps of 7,000,',
    'with the real Claude Code 2.1.325. Each went its whole way, from the request to the next step of its document. How often and',
    'how early it begins over thousands of courses: [handoff-trigger.md](handoff-trigger.md).',
    '',
    '| model | begun by | at (of the window) | the end it came before | room left | compactions | until done |',
    '|---|---|---|---|---|---|---|',
    ...rows,
    '',
  ].join('\n');
  const root = path.join(path.dirname(fileURLToPath(import.meta.url)), '../..');
  const folder = path.join(root, process.env.WATCHKEEPER_REPORTS ?? 'test-results');
  mkdirSync(folder, { recursive: true });
  writeFileSync(path.join(folder, 'handoff-begun.md'), text);
}
