// What the judge must raise and what it must not, on the real client, live, as `health` tells it.
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import { errorBody, type ModelReply } from '../../src/clients/claude-code/conform/model-script.ts';
import type { Agent } from '../clients/agent.ts';
import { bash, type Judging, judging } from '../clients/judging.ts';

/** Does one thing until it is raised, then answers and is healthy again. */
async function goesRound(
  j: Judging,
  agent: Agent,
  behave: (count: number) => ModelReply,
  check: string,
): Promise<string> {
  agent.model.behave(({ count }) => behave(count));
  await agent.type('work');
  const { evidence } = await j.raised(agent, check);
  agent.model.behave(() => null);
  await j.finished(agent, 30_000);
  await j.healthy(agent);
  return evidence[0]?.text ?? '';
}

describe('is raised', () => {
  test(
    'a looping Bash call with equal output',
    judging(async (j) => {
      const agent = await j.agent('loop-ps', { shell: 'bash' });
      const text = await goesRound(j, agent, () => bash('ls -la', { delayMs: 200 }), 'looping');
      expect(text).toContain('the same call with the same output');
    }),
  );

  test(
    'a cycle of two steps',
    judging(async (j) => {
      const agent = await j.agent('cycle-ps', { shell: 'sh' });
      const steps = ['echo one', 'cat /etc/hostname'];
      const text = await goesRound(j, agent, (count) => bash(steps[count % 2] ?? '', { delayMs: 200 }), 'looping');
      expect(text).toMatch(/the same call|were there before/);
    }),
  );

  test(
    'an edit that fails again and again',
    judging(async (j) => {
      const agent = await j.agent('edit-ps', { permissionMode: 'acceptEdits' });
      const file_path = path.join(agent.folder.project, 'code.txt');
      writeFileSync(file_path, 'text\n');
      agent.model.tool('Read', { file_path });
      const edit = (count: number): ModelReply => ({
        tools: [{ name: 'Edit', input: { file_path, old_string: `absent ${count}`, new_string: 'x' } }],
        delayMs: 200,
      });
      expect(await goesRound(j, agent, edit, 'repeated-error')).toContain('steps failed');
    }),
  );

  test(
    'searches that find nothing for 15 turns',
    judging(async (j) => {
      const agent = await j.agent('search-ps', { shell: 'bash' });
      agent.model.behave(({ count }) => (count <= 15 ? bash(`find . -name "Class${count}.java"`) : { hang: true }));
      await agent.type('find the class');
      const { evidence } = await j.raised(agent, 'no-progress');
      expect(evidence[0]?.text).toContain('brought nothing new');
    }),
  );

  test(
    'a stream that stalls in the middle of a thought',
    judging(
      async (j) => {
        const stalled = await j.agent('stalled-ps', { shell: 'bash' });
        stalled.model.behave(() => ({ thoughts: ['hm, ', 'well, '], delayMs: 500, hang: true }));
        await stalled.type('think');
        const { evidence } = await j.raised(stalled, 'stalled-turn', 240_000);
        expect(evidence[0]?.text).toContain('no sign of life');
      },
      { stall: { thinkingMinutes: 1 } },
    ),
  );

  test(
    'a permission that nobody gives',
    judging(
      async (j) => {
        const agent = await j.agent('ask-ps', { extraSettings: {}, shell: 'sh' });
        agent.model.behave(({ count }) => (count === 1 ? bash('touch made') : null));
        await agent.type('make a file');
        await agent.waitDialog(/Do you want to/);
        await j.raised(agent, 'waiting-human');
        await agent.keys('Enter');
        await j.finished(agent, 30_000);
        await j.healthy(agent);
      },
      { waiting: { notifyMinutes: 0.05 } },
    ),
  );

  test(
    'a context that is nearly full',
    judging(async (j) => {
      const agent = await j.agent('full-ps', { modelName: 'claude-opus-4-5', shell: 'bash' });
      agent.model.reply('Much.', { usage: { input: 175_000 } });
      await agent.type('read all of it');
      await j.finished(agent, 30_000);
      await j.raised(agent, 'context-full');
    }),
  );

  test(
    'a process that is killed at work',
    judging(async (j) => {
      const agent = await j.agent('killed-ps', { shell: 'sh' });
      agent.model.behave(() => ({ hang: true }));
      await agent.type('work');
      await j.watch.expect('killed-ps', 'working/thinking', Date.now(), 30_000);
      agent.kill('SIGKILL');
      await j.raised(agent, 'ended-unexpectedly');
    }),
  );

  test(
    'a service that refuses with 429 until the client gives up',
    judging(async (j) => {
      const agent = await j.agent('limit-ps', { shell: 'bash' });
      const body = errorBody('rate_limit_error', 'too many requests');
      agent.model.behave(() => ({ error: { status: 429, body, headers: { 'x-should-retry': 'false' } } }));
      await agent.type('work');
      const { evidence } = await j.raised(agent, 'rate-limited', 300_000);
      expect(evidence[0]?.text).toMatch(/429|too many requests/i);
    }),
  );

  test(
    'a key that is not accepted',
    judging(async (j) => {
      const agent = await j.agent('auth-ps');
      const body = errorBody('authentication_error', 'invalid x-api-key');
      agent.model.behave(() => ({ error: { status: 401, body, headers: { 'x-should-retry': 'false' } } }));
      await agent.type('work');
      await j.raised(agent, 'auth-failed');
    }),
  );

  test(
    'a turn that ends without the word agreed for it, and not one that ends with it',
    judging(
      async (j) => {
        const forgets = await j.agent('forgets-ps', { shell: 'bash' });
        const says = await j.agent('says-ps', { shell: 'sh' });
        forgets.model.behave(({ count }) => (count === 1 ? bash('echo work') : { text: 'I am done.' }));
        says.model.behave(({ count }) =>
          count === 1 ? bash('echo work') : { text: 'Done. <promise>COMPLETE</promise>' },
        );
        await says.type('work');
        await j.finished(says, 60_000);
        await forgets.type('work');
        const { evidence } = await j.raised(forgets, 'completion-missing');
        expect(evidence[0]?.text).toContain('<promise>COMPLETE</promise>');
        expect(await j.ever(says)).toEqual([]);
      },
      { judging: { completion: [{ match: '*-ps' }], completionMinutes: 0.05 } },
    ),
  );
});

describe('is not raised', () => {
  test(
    'a long build that prints',
    judging(
      async (j) => {
        const agent = await j.agent('build-ps', { shell: 'bash' });
        const command = 'for i in $(seq 1 60); do echo "compiling part $i"; sleep 1; done; echo built';
        agent.model.behave(({ count }) => (count === 1 ? bash(command) : null));
        await agent.type('build it');
        await j.finished(agent, 180_000);
        expect(await j.ever(agent)).toEqual([]);
      },
      { stall: { toolMinutes: 0.25 } },
    ),
  );

  test(
    'polling with a changing output',
    judging(async (j) => {
      const agent = await j.agent('poll-ps', { shell: 'sh' });
      agent.model.behave(({ count }) => (count <= 20 ? bash('date +%s%N') : null));
      await agent.type('wait for it');
      await j.finished(agent, 120_000);
      expect(await j.ever(agent)).toEqual([]);
    }),
  );

  test(
    'parallel batches in which one call fails and takes its siblings along',
    judging(async (j) => {
      const agent = await j.agent('batch-ps', { shell: 'bash' });
      const batch = (n: number): ModelReply => ({
        tools: ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h', 'i', 'j'].map((name) => ({
          name: 'Read',
          input: { file_path: path.join(agent.folder.project, name === 'a' ? `missing-${n}` : name) },
        })),
      });
      for (const name of ['b', 'c', 'd', 'e', 'f', 'g', 'h', 'i', 'j'])
        writeFileSync(path.join(agent.folder.project, name), `${name.repeat(40)}\n`);
      agent.model.behave(({ count }) => {
        if (count === 1) return batch(1);
        if (count === 2)
          return {
            tools: ['false', ...'bcdefghij'].map((what) => ({
              name: 'Bash',
              input: { command: what === 'false' ? 'ls missing' : `cat ${what}`, description: 'look' },
            })),
          };
        return null;
      });
      await agent.type('read them all');
      await j.finished(agent, 120_000);
      expect(await j.ever(agent)).toEqual([]);
    }),
  );

  test(
    'tests that fail while they are being fixed',
    judging(async (j) => {
      const agent = await j.agent('fix-ps', { permissionMode: 'acceptEdits' });
      const file_path = path.join(agent.folder.project, 'sum.js');
      writeFileSync(file_path, 'return 0\n');
      agent.model.behave(({ count }) => {
        if (count === 1) return { tools: [{ name: 'Read', input: { file_path } }] };
        if (count > 25) return null;
        const [from, to] = [count - 2, count].map((n) => (n === 0 ? 'return 0' : `return ${n}`));
        return count % 2 === 0
          ? { tools: [{ name: 'Edit', input: { file_path, old_string: from, new_string: to } }] }
          : bash('echo "FAIL sum.test.js: 1 failed, 3 passed"; exit 1');
      });
      await agent.type('make the tests pass');
      await j.finished(agent, 120_000);
      expect(await j.ever(agent)).toEqual([]);
    }),
  );

  test(
    'a model that thinks for four times the limit, and streams',
    judging(
      async (j) => {
        const agent = await j.agent('think-ps', { shell: 'sh' });
        const thoughts = Array.from({ length: 240 }, (_, n) => `and then ${n}, `);
        agent.model.behave(() => ({ thoughts, delayMs: 1_000, text: 'Now I know.' }));
        await agent.type('think hard');
        await j.finished(agent, 400_000);
        expect(await j.ever(agent)).toEqual([]);
      },
      { stall: { thinkingMinutes: 1 } },
    ),
  );

  test(
    'talk of errors and limits in every field',
    judging(async (j) => {
      const agent = await j.agent('talk-ps', { shell: 'bash' });
      const words =
        'Error: 429 rate limit exceeded, overloaded_error 529, authentication_failed, Prompt is too long, Exception';
      const part = (n: number) => `part-${'abcdefghijkl'[n - 1]}.md`;
      for (let n = 1; n <= 12; n += 1) {
        const story = `${words}\n${part(n)} tells another story: ${'abcdefghijklmnopqrstuvwxyz'.slice(n)}\n`.repeat(n);
        writeFileSync(path.join(agent.folder.project, part(n)), story);
      }
      agent.model.behave(({ count }) =>
        count <= 12 ? bash(`cat ${part(count)} # ${words}`, { text: words }) : { text: words },
      );
      await agent.type(words);
      await j.finished(agent, 120_000);
      expect(await j.ever(agent)).toEqual([]);
    }),
  );
});
