// What the real client writes down, put through `watchkeeper replay`: trouble is told, hard work is not.
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';
import type { HealthDocument } from '../../src/daemon/status.ts';
import type { ReplayLine } from '../../src/replay/replay.ts';
import { type Agent, launchAgent } from './agent.ts';
import { type Scenario, scenario } from './scenario.ts';
import { watched } from './watching.ts';

interface Turn {
  what: string;
  script: (agent: Agent) => void;
  raises: string[];
}

const bash = (agent: Agent, command: string) => agent.model.tool('Bash', { command, description: 'look' });
const times = (n: number, what: (turn: number) => void) => Array.from({ length: n }, (_, turn) => what(turn));

const turns: Turn[] = [
  {
    what: 'polling with a changing output',
    script: (agent) => times(10, () => bash(agent, 'date +%N')),
    raises: [],
  },
  {
    what: 'the same call with the same output',
    script: (agent) => times(7, () => bash(agent, 'echo same')),
    raises: ['looping'],
  },
  {
    what: 'a test that fails while it is being fixed',
    script: (agent) =>
      times(7, (turn) => {
        bash(agent, `echo ${turn} > code.txt`);
        bash(agent, 'echo "1 test failed"; exit 1');
      }),
    raises: [],
  },
  {
    what: 'a cycle of two steps',
    script: (agent) => times(5, () => ['echo one', 'echo two'].map((command) => bash(agent, command))),
    raises: ['looping'],
  },
  {
    what: 'files that talk of errors and limits',
    script: (agent) =>
      times(8, (turn) =>
        bash(agent, `echo "Error: 429 rate limit, overloaded, Exception in part ${'abcdefgh'[turn]}"`),
      ),
    raises: [],
  },
  {
    what: 'an edit that fails again and again',
    script: (agent) =>
      times(9, (turn) => {
        const file_path = path.join(agent.folder.project, 'none.txt');
        agent.model.tool('Edit', { file_path, old_string: `absent ${turn}`, new_string: 'x' });
      }),
    raises: ['repeated-error'],
  },
  {
    what: 'searches that find nothing for 15 turns',
    script: (agent) => times(15, (turn) => bash(agent, `find . -name "Class${turn}.java"`)),
    raises: ['no-progress'],
  },
];

test(
  'loops, errors and fruitless searches of the real client are told, hard work is not',
  scenario(async (s) => {
    const extraSettings = { permissions: { allow: ['Bash', 'Edit', 'Read'] } };
    const agent = await launchAgent({
      scenario: s,
      session: 'demo-ps',
      shell: 'bash',
      permissionMode: 'acceptEdits',
      extraSettings,
    });
    await agent.waitReady();
    writeFileSync(path.join(agent.folder.project, 'none.txt'), 'text\n');
    let told = 0;
    for (const { what, script, raises } of turns) {
      script(agent);
      agent.model.reply(`Done with ${what}.`);
      await agent.type(what);
      await s.until(
        `the end of ${what}`,
        () => JSON.stringify(agent.transcripts()).includes(`Done with ${what}.`),
        60_000,
      );
      await agent.waitReady();
      const found = await opened(s, agent);
      const fresh = found.slice(told);
      expect([...new Set(fresh)], what).toEqual(raises.length === 0 ? [] : expect.arrayContaining(raises));
      told = found.length;
    }
  }),
);

test(
  'a loop of the real client is in `health` and on record while it lasts, and nothing is said to anybody',
  watched(async (s, watch) => {
    const extraSettings = { permissions: { allow: ['Bash'] } };
    const agent = await launchAgent({ scenario: s, session: 'loop-ps', shell: 'bash', extraSettings });
    await agent.waitReady();
    await watch.expect('loop-ps', 'idle', Date.now());
    times(8, () => bash(agent, 'echo same'));
    const thinking = agent.model.hold();
    await agent.type('go round');
    await thinking.arrived;
    const health = await s.until('the loop in `health`', () => loopIn(s), 20_000);
    expect(health).toMatchObject({ status: 'warning', findings: [{ check: 'looping', action: null }] });
    expect(health.findings[0]?.evidence[0]?.text).toContain('the same call with the same output');
    thinking.release();
    await watch.expect('loop-ps', 'idle', Date.now());
    await s.until('the loop over', async () => (await loopIn(s)) === null);
    const rows = await s.until('both rows', async () => {
      const all = (await s.watchkeeper(['db', 'export'])).stdout
        .split('\n')
        .filter((line) => line.includes('"looping"'));
      return all.some((line) => line.includes('"ok"')) && all.some((line) => line.includes('"warning"')) ? all : null;
    });
    expect(rows.length).toBeGreaterThan(0);
    expect((await s.watchkeeper(['prompts', '--json'])).json<{ items: unknown[] }>().items).toEqual([]);
    // Eight calls and the last word: nothing of ours.
    expect(agent.model.turns).toHaveLength(9);
  }),
);

async function loopIn(s: Scenario): Promise<HealthDocument | null> {
  const asked = await s.watchkeeper(['health', 'loop-ps', '--json']);
  const health = asked.code === 0 ? asked.json<HealthDocument>() : null;
  return health?.findings.some(({ check }) => check === 'looping') ? health : null;
}

async function opened(s: Scenario, agent: Agent): Promise<string[]> {
  const file = agent.transcripts().at(-1)?.file ?? '';
  const { stdout, code } = await s.watchkeeper(['replay', '--json', file]);
  expect(code).toBe(0);
  const lines = stdout
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as ReplayLine);
  expect(lines.at(-1)).toMatchObject({ v: 1, summary: { format: 'claude-code', malformed: 0 } });
  return lines.flatMap((line) => ('finding' in line && line.event === 'open' ? [line.finding.check] : []));
}
