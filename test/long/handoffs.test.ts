// Handoffs without end, and the daemon killed after every single step of one.
import { existsSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import { until } from '../../src/conform/until.ts';
import { type Agent, launchAgent } from '../clients/agent.ts';
import { ended, Handing, handoffs, wholeWay } from '../clients/handing-over.ts';
import { configure } from '../clients/prompting.ts';
import { type Scenario, scenario } from '../clients/scenario.ts';

async function up(s: Scenario): Promise<number> {
  const done = await s.watchkeeper(['up', '--detach']);
  if (done.code !== 0) throw new Error(`up failed with ${done.code}: ${done.stderr}`);
  return (await s.watchkeeper(['status', '--json'])).json<{ daemon: { pid: number } }>().daemon.pid;
}

async function begin(
  s: Scenario,
  session: string,
  shell: 'direct' | 'bash',
  extraSettings: Record<string, unknown> = {},
): Promise<Handing> {
  const agent = await launchAgent({ scenario: s, session, shell, permissionMode: 'auto', extraSettings });
  await agent.waitReady(30_000);
  const known = async () => (await s.watchkeeper(['status', '--json'])).stdout.includes(`"${session}"`);
  await until(`${session} known`, known, 20_000);
  return new Handing(agent);
}

/** The conversations of which there is a record: one more for every clear. */
function sessionsOf(agent: Agent): Set<string> {
  return new Set(agent.transcripts().map(({ file }) => file));
}

describe('nobody is there', () => {
  test(
    'thirty handoffs in a row: each is done, each next step is done once',
    scenario(async (s) => {
      configure(s, JSON.stringify({ tickSeconds: 0.3, handoff: { deadlineMinutes: 2 } }));
      await up(s);
      const model = await begin(s, 'many-ps', 'bash');
      for (let n = 1; n <= 30; n += 1) {
        await model.fill(86);
        const handoff = await ended(s, 'many-ps', n, 90_000);
        expect(handoff.steps.map(({ step }) => step)).toEqual(wholeWay);
        await until('the next step', () => existsSync(model.stepFile(n)), 20_000);
        await model.agent.waitStatus('idle', 20_000);
      }
      expect(sessionsOf(model.agent).size).toBe(31);
    }),
  );
});

describe('context is never cleared before a verified handoff exists', () => {
  const steps = wholeWay.slice(0, -1);

  test(
    'the daemon killed after every step, and in the middle of everything it types: done, one clear, one resume',
    scenario(async (s) => {
      configure(s, JSON.stringify({ tickSeconds: 0.5, handoff: { deadlineMinutes: 2 } }));
      let pid = await up(s);
      const model = await begin(s, 'kill-ps', 'direct');
      const rounds: [string, (n: number) => Promise<void>][] = [
        ...steps.map((step): [string, (n: number) => Promise<void>] => [
          `after ${step}`,
          async (n) => {
            const reached = async () =>
              (await handoffs(s, 'kill-ps'))[n - 1]?.steps.some((taken) => taken.step === step);
            await until(`${step} of ${n}`, reached, 60_000);
            process.kill(pid, 'SIGKILL');
          },
        ]),
        ...(['paste-buffer', 'send-keys'] as const).flatMap((command) =>
          // The first of each is the test's own.
          [2, 3, 4].map((time): [string, (n: number) => Promise<void>] => [
            `at ${command} ${time}`,
            () => killAt(s, pid, command, time),
          ]),
        ),
      ];
      const told: string[] = [];
      for (const [index, [when, kill]] of rounds.entries()) {
        const n = index + 1;
        // It is in one from its start, also before the client has written anything of it.
        const before = Math.max(1, sessionsOf(model.agent).size);
        const killed = kill(n);
        await model.fill(86);
        await killed;
        await until('the daemon gone', () => !existsSync(`/proc/${pid}`), 10_000);
        pid = await up(s);
        const handoff = await ended(s, 'kill-ps', n, 180_000);
        told.push(
          `${when}: ${handoff.step} ${handoff.reason ?? ''} (${handoff.steps.map(({ step }) => step).join(' ')})`,
        );
        const clears = sessionsOf(model.agent).size - before;
        expect(clears, when).toBeLessThanOrEqual(1);
        if (clears === 1) {
          expect(
            handoff.steps.map(({ step }) => step),
            when,
          ).toEqual(expect.arrayContaining(['saved', 'resumed']));
          expect(handoff.sha256, when).toMatch(/^[0-9a-f]{64}$/);
        }
        if (handoff.step === 'failed') expect(handoff.reason, when).not.toBeNull();
        else await until('the next step', () => existsSync(model.stepFile(model.documents)), 20_000);
        await model.agent.waitStatus('idle', 20_000);
      }
      process.stderr.write(`daemon killed\n  ${told.join('\n  ')}\n`);
      expect(told.filter((line) => !line.includes(': done'))).toEqual([]);
    }),
  );
});

test(
  'a document that is gone after the clear is put back as it was stored, and the fresh context does what it says',
  scenario(async (s) => {
    configure(s, JSON.stringify({ tickSeconds: 2, handoff: { deadlineMinutes: 2 } }));
    await up(s);
    const session = 'swept-ps';
    const folder = path.join(s.dir, session, 'project', '.watchkeeper');
    // Somebody tidies up in the very moment of the clear.
    const hooks = { SessionStart: [{ matcher: 'clear', hooks: [{ type: 'command', command: `rm -r '${folder}'` }] }] };
    const model = await begin(s, session, 'bash', { hooks });
    await model.fill(86);
    const handoff = await ended(s, session, 1, 90_000);
    expect(handoff.steps.map(({ step, reason }) => (step === 'cleared' ? reason : null)).filter(Boolean)).toEqual([
      'the document was put back',
    ]);
    expect(handoff.step).toBe('done');
    await until('the next step', () => existsSync(model.stepFile(1)), 20_000);
  }),
);

describe('past the deadline', () => {
  const short = JSON.stringify({ tickSeconds: 0.5, handoff: { deadlineMinutes: 0.2 } });

  test(
    'a turn that does not end gets one Escape, and is then handed over',
    scenario(async (s) => {
      configure(s, short);
      await up(s);
      const model = await begin(s, 'stuck-ps', 'bash');
      model.disobey(({ asked }) => (asked === 'work' ? { text: 'Let me see.', hang: true } : undefined));
      await model.fill(30);
      await model.agent.waitStatus('busy');
      const said = await s.watchkeeper(['handoff', 'stuck-ps', '--wait', '55', '--json']);
      expect(said.json()).toMatchObject({ step: 'done' });
      const ledger = (await s.watchkeeper(['audit', 'stuck-ps', '--json'])).json<{ items: { kind: string }[] }>().items;
      expect(ledger.filter(({ kind }) => kind === 'interrupt').length).toBe(1);
    }),
  );

  test(
    'a fresh context that does not read the document: the old session is back, and a human is told',
    scenario(async (s) => {
      configure(s, short);
      await up(s);
      const model = await begin(s, 'deaf-ps', 'direct');
      model.disobey(({ asked }) => (asked === 'resume' ? null : undefined));
      await model.fill(30);
      await model.agent.waitStatus('idle');
      const before = model.agent.registry()?.sessionId;
      const said = await s.watchkeeper(['handoff', 'deaf-ps', '--wait', '55', '--json']);
      expect(said.code).toBe(1);
      expect(said.json()).toMatchObject({ step: 'failed', reason: 'not-confirmed', old_session: before });
      expect(model.agent.registry()?.sessionId).toBe(before);
      const inbox = async () => (await s.watchkeeper(['inbox', '--json'])).stdout;
      await until('a human is told', async () => (await inbox()).includes('"handoff-failed"'), 20_000);
      expect(await inbox()).toContain(String(before));
    }),
  );
});

/** tmux itself kills the daemon after the n-th such command, before it answers. */
async function killAt(s: Scenario, pid: number, command: string, time: number): Promise<void> {
  const mark = path.join(s.dir, `count-${command}-${time}`);
  const script = `echo x >> ${mark}; [ $(wc -l < ${mark}) -eq ${time} ] && kill -9 ${pid}; true`;
  await s.tmux.run('set-hook', '-g', `after-${command}`, `run-shell "${script.replaceAll('$', '\\$')}"`);
  await until(`the daemon killed at ${command} ${time}`, () => !existsSync(`/proc/${pid}`), 90_000);
  await s.tmux.run('set-hook', '-gu', `after-${command}`);
}
