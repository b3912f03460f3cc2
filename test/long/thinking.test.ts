// Twenty minutes of real time with the thresholds as they come: a model that thinks, and a build that prints.
import { expect, test } from 'vitest';
import { judging } from '../clients/judging.ts';

const minutes = 20;

test(
  'a model that thinks for twenty minutes and streams, and a build that prints for as long, raise nothing',
  judging(async (j) => {
    const thinking = await j.agent('think-ps', { shell: 'bash' });
    const thoughts = Array.from({ length: minutes * 30 }, (_, n) => `and then ${n}, `);
    thinking.model.behave(() => ({ thoughts, delayMs: 2_000, text: 'Now I know.' }));
    await thinking.type('think hard');
    const env = { BASH_MAX_TIMEOUT_MS: String((minutes + 5) * 60_000) };
    const building = await j.agent('build-ps', { shell: 'sh', env });
    const command = `for i in $(seq 1 ${minutes * 12}); do echo "compiling part $i"; sleep 5; done; echo built`;
    building.model.behave(({ count }) =>
      count === 1
        ? { tools: [{ name: 'Bash', input: { command, description: 'build', timeout: (minutes + 5) * 60_000 } }] }
        : null,
    );
    await building.type('build it');
    await j.finished(thinking, (minutes + 5) * 60_000);
    await j.finished(building, 5 * 60_000);
    expect(await j.ever(thinking)).toEqual([]);
    expect(await j.ever(building)).toEqual([]);
  }),
  (minutes + 15) * 60_000,
);
