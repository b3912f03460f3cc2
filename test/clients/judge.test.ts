// A short half of test/long/judge.test.ts: what the judge must raise, and what it must not, on the real client.
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import { bash, judging } from './judging.ts';

describe('on the real client', () => {
  test(
    'a call that brings the same again and again is raised, and so is an edit that always fails',
    judging(async (j) => {
      const looping = await j.agent('loop-ps', { shell: 'bash' });
      looping.model.behave(() => bash('echo same', { delayMs: 100 }));
      await looping.type('go round');
      const failing = await j.agent('edit-ps', { shell: 'sh', permissionMode: 'acceptEdits' });
      const file_path = path.join(failing.folder.project, 'code.txt');
      writeFileSync(file_path, 'text\n');
      failing.model.behave(({ count }) => ({
        tools: [{ name: 'Edit', input: { file_path, old_string: `absent ${count}`, new_string: 'x' } }],
        delayMs: 100,
      }));
      await failing.type('change it');
      const loop = await j.raised(looping, 'looping');
      expect(loop.evidence[0]?.text).toContain('the same call with the same output');
      const failure = await j.raised(failing, 'repeated-error');
      expect(failure.evidence[0]?.text).toContain('steps failed');
      looping.model.behave(() => null);
      failing.model.behave(() => null);
      await j.finished(looping, 30_000);
      await j.finished(failing, 30_000);
      // The trouble is over with the turn.
      await j.healthy(looping);
      await j.healthy(failing);
    }),
  );

  test(
    'tests that fail while they are being fixed raise nothing',
    judging(async (j) => {
      const agent = await j.agent('fix-ps', { shell: 'bash' });
      agent.model.behave(({ count }) => {
        if (count > 16) return null;
        return count % 2 === 1
          ? bash(`echo 'attempt ${count}' > code.txt`)
          : bash('echo "1 test failed: expected 3, got 4"; exit 1');
      });
      await agent.type('make the tests pass');
      await j.finished(agent, 60_000);
      expect(agent.model.turns.length).toBe(17);
      expect(await j.ever(agent)).toEqual([]);
    }),
  );
});
