// The trends on the real client: each raised by an agent that does just that, and none by healthy work.
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import { type Agent, launchAgent } from '../clients/agent.ts';
import { watched } from '../clients/watching.ts';

const warm = { input: 5, cacheRead: 30_000, cacheCreate: 500, output: 200 };
const trends = [
  'repetition',
  'error-acceleration',
  'token-burn',
  'entropy',
  'cost-spike',
  'low-cache',
  'low-efficiency',
  'cognitive-decay',
];

type Figures = Partial<typeof warm>;

/** What the model does, and what each of its replies is said to have taken. */
class Work {
  readonly #agent: Agent;
  #turn = 0;

  constructor(agent: Agent) {
    this.#agent = agent;
  }

  bash(command: string, usage: Figures = warm): this {
    this.#turn += 1;
    this.#agent.model.tool('Bash', { command, description: `step ${this.#turn}` }, { usage });
    return this;
  }

  /** A look at something new. */
  news(n: number, usage: Figures = warm): this {
    for (let turn = 0; turn < n; turn += 1) this.bash(`echo ${this.#turn} ${'news '.repeat(60)}`, usage);
    return this;
  }

  fails(n: number, usage: Figures = warm): this {
    for (let turn = 0; turn < n; turn += 1) this.bash(`echo part ${'x'.repeat(this.#turn)} is broken; exit 3`, usage);
    return this;
  }

  read(file: string, usage: Figures = warm): this {
    this.#agent.model.tool('Read', { file_path: path.join(this.#agent.folder.project, file) }, { usage });
    return this;
  }

  changes(n: number, usage: (turn: number) => Figures = () => warm): this {
    for (let turn = 0; turn < n; turn += 1) {
      this.#turn += 1;
      const file = path.join(this.#agent.folder.project, `made-${this.#turn}.txt`);
      this.#agent.model.tool('Write', { file_path: file, content: `text ${this.#turn}\n` }, { usage: usage(turn) });
    }
    return this;
  }

  times(n: number, what: (work: this, turn: number) => void): this {
    for (let turn = 0; turn < n; turn += 1) what(this, turn);
    return this;
  }
}

const cold = { input: 5, cacheRead: 0, cacheCreate: 40_000, output: 200 };
const long = { input: 5, cacheRead: 120_000, cacheCreate: 500, output: 200 };

const cases: [string | null, string, (work: Work) => unknown][] = [
  [null, 'long healthy work', (work) => work.times(4, (one) => one.news(8).changes(2).fails(1))],
  ['low-cache', 'a cache that is never read', (work) => work.news(14, cold)],
  [
    'repetition',
    'a file that is read over and over',
    (work) => work.times(9, (one) => one.read('same.txt').changes(1)),
  ],
  [
    'low-efficiency',
    'changes that take more and more',
    (work) =>
      work
        .changes(14, (turn) => ({ input: 5, cacheRead: 20_000 + turn * 300, output: 100 }))
        .changes(5, (turn) => ({ input: 5, cacheRead: 42_000 + turn * 18_000, output: 100 })),
  ],
  [
    'entropy',
    'ever the same few actions',
    (work) =>
      work
        .news(45)
        .times(24, (one, turn) => one.bash(['date +%N', 'cat /proc/uptime', 'pwd; date +%N'][turn % 3] ?? '')),
  ],
  [
    'cognitive-decay',
    'work that gets worse in a long context',
    (work) => work.news(26).times(10, (one) => one.fails(1, long).bash('echo known', long).news(1, long)),
  ],
  ['error-acceleration', 'errors that become many', (work) => work.news(22).times(3, (one) => one.news(1).fails(2))],
  [
    'cost-spike',
    'requests that become dear',
    (work) => work.news(28).news(9, { input: 5, cacheRead: 0, cacheCreate: 80_000, output: 5_000 }),
  ],
  [
    'token-burn',
    'much spent on searches that find nothing',
    (work) => work.times(16, (one, turn) => one.bash(`find . -name "Class${turn}.java"`, { ...long, output: 2_000 })),
  ],
];

describe('on the real client', () => {
  test.each(cases)('%s: %s', (check, what, script) =>
    watched(async (s, watch) => {
      const extraSettings = { permissions: { allow: ['Bash', 'Read', 'Write', 'Edit'] } };
      const agent = await launchAgent({
        scenario: s,
        session: 'trend-ps',
        shell: 'bash',
        permissionMode: 'acceptEdits',
        extraSettings,
      });
      await agent.waitReady();
      await watch.expect('trend-ps', 'idle', Date.now());
      writeFileSync(path.join(agent.folder.project, 'same.txt'), 'one\ntwo\nthree\n');
      script(new Work(agent));
      const thinking = agent.model.hold();
      await agent.type(what);
      await s.until('all steps made', () => thinking.arrived, 300_000);
      const found = async () => (await watch.status('trend-ps'))?.findings.map((finding) => finding.check) ?? [];
      if (check !== null)
        await s.until(`${check} in \`status\``, async () => (await found()).includes(check as never), 30_000);
      else {
        // What would be found is found when the last step is on record.
        await watch.expect('trend-ps', 'working/thinking', Date.now(), 20_000);
        expect((await found()).filter((name) => trends.includes(name))).toEqual([]);
      }
      thinking.release();
      await watch.turn('trend-ps', 'ok', 30_000);
      expect((await s.watchkeeper(['audit', '--json'])).json<{ items: unknown[] }>().items).toEqual([]);
    })(),
  );
});
