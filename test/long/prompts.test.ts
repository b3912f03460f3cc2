// Two hundred prompts through the CLI alone, in every state in which an agent can be spoken to, and a refusal in every
// other.
import { afterAll, describe, expect, test } from 'vitest';
import type { StatusDocument } from '../../src/daemon/status.ts';
import { refuseEverywhere } from '../clients/prompt-refusals.ts';
import { PromptReport } from '../clients/prompt-report.ts';
import { converse, type Lane } from '../clients/prompt-states.ts';
import type { Scenario } from '../clients/scenario.ts';
import { watched } from '../clients/watching.ts';

const status = async (s: Scenario) => (await s.watchkeeper(['status', '--json'])).json<StatusDocument>();
/** How many prompts had their time, and how many were answered in it. */
const counted = async (s: Scenario) => (await status(s)).daemon.prompts ?? { given: 0, in_time: 0 };

const report = new PromptReport();
afterAll(() => report.write());

/** Two at a time, so that the time to the proof is not that of a machine with six busy clients. */
const lanes: [Lane, Lane][] = [
  [
    { name: 'direct-manual-ps', shell: 'direct', permissionMode: 'default', sends: 40 },
    { name: 'bash-auto-ps', shell: 'bash', permissionMode: 'auto', sends: 32 },
  ],
  [
    { name: 'direct-auto-ps', shell: 'direct', permissionMode: 'auto', sends: 32 },
    { name: 'sh-manual-ps', shell: 'sh', permissionMode: 'default', sends: 32 },
  ],
  [
    { name: 'bash-manual-ps', shell: 'bash', permissionMode: 'default', sends: 32 },
    { name: 'sh-auto-ps', shell: 'sh', permissionMode: 'auto', sends: 32 },
  ],
];

describe('a prompt arrives exactly where it should', () => {
  test(
    'two hundred times, in every state: once, byte for byte, with the draft restored',
    watched(async (s, watch) => {
      let first = 0;
      for (const pair of lanes) {
        await Promise.all(
          pair.map((lane) => {
            const from = first;
            first += lane.sends;
            return converse(s, watch, lane, from, report);
          }),
        );
      }
      const totals = report.totals;
      expect(totals.wrong).toEqual([]);
      expect(totals).toMatchObject({ sent: 200, exact: totals.taken });
      expect(totals.taken / totals.sent).toBeGreaterThanOrEqual(0.95);
      expect(totals.drafts.back).toBe(totals.drafts.there);
      expect(totals.medianMs).toBeLessThan(1_000);
      const before = await counted(s);
      expect(before.given).toBe(totals.taken);
      expect(before.in_time / before.given).toBeGreaterThanOrEqual(0.95);
      // By the ledger: a daemon that was killed knows it again.
      watch.stop();
      process.kill((await status(s)).daemon.pid, 'SIGKILL');
      await s.watchkeeper(['up', '--detach']);
      expect(await counted(s)).toEqual(before);
      report.answered(before);
    }),
  );

  test(
    'and nowhere else: refused in every state in which it could do harm, nothing typed',
    watched((s, watch) => refuseEverywhere(s, watch, report, 3)),
  );
});
