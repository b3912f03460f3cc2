// A short half of test/long/judge.test.ts: what the judge raises and what it does not, on the real client, live.
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';
import { bash, judging } from './judging.ts';

test(
  'a loop and an edit that always fails are raised while they last; tests that fail while they are fixed are not',
  judging(async (j) => {
    const [looping, failing, fixing] = await Promise.all([
      j.agent('loop-ps', { shell: 'bash' }),
      j.agent('edit-ps', { shell: 'sh', permissionMode: 'acceptEdits' }),
      j.agent('fix-ps'),
    ]);
    const file_path = path.join(failing.folder.project, 'code.txt');
    writeFileSync(file_path, 'text\n');
    looping.model.behave(() => bash('echo same', { delayMs: 200 }));
    failing.model.behave(({ count }) => ({
      tools: [{ name: 'Edit', input: { file_path, old_string: `absent ${count}`, new_string: 'x' } }],
      delayMs: 200,
    }));
    fixing.model.behave(({ count }) => {
      if (count > 16) return null;
      const test = 'echo "1 test failed: expected 3, got 4"; exit 1';
      return bash(count % 2 === 1 ? `echo 'attempt ${count}' > code.txt` : test);
    });
    for (const agent of [looping, failing, fixing]) await agent.type('work');

    const loop = await j.raised(looping, 'looping');
    expect(loop.evidence[0]?.text).toContain('the same call with the same output');
    const failure = await j.raised(failing, 'repeated-error');
    expect(failure.evidence[0]?.text).toContain('steps failed');
    for (const agent of [looping, failing]) {
      agent.model.behave(() => null);
      await j.finished(agent, 30_000);
      await j.healthy(agent);
    }

    await j.finished(fixing, 60_000);
    expect(fixing.model.turns.length).toBe(17);
    expect(await j.ever(fixing)).toEqual([]);
  }),
);
