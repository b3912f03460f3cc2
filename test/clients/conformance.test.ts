// `watchkeeper conformance` on the real client, stopped in the middle. The whole of it: test/long/conformance.test.ts.
import { expect, test } from 'vitest';
import { until } from '../../src/conform/until.ts';
import { Conformance } from './conforming.ts';
import { scenario } from './scenario.ts';

test(
  'Ctrl-C while its daemon is being started leaves nothing either',
  scenario(async (s) => {
    const run = new Conformance(s);
    await run.says(/about two minutes/);
    await until('its daemon on the way', () => run.processes().length > 1);
    run.stop('SIGINT');
    expect(await run.ended()).toMatchObject({
      code: 130,
      stdout: '',
      stderr: expect.stringContaining('stopped before its end'),
    });
    run.leftNothing();
  }),
);

test(
  'Ctrl-C in the middle of a run leaves no process, folder or result behind',
  scenario(async (s) => {
    const run = new Conformance(s);
    await run.says(/ s {2}thinking$/m);
    expect(run.processes().length).toBeGreaterThan(3);
    run.stop('SIGINT');
    expect(await run.ended()).toMatchObject({
      code: 130,
      stdout: '',
      stderr: expect.stringContaining('stopped before its end'),
    });
    run.leftNothing();
    expect(run.result('2.1.325')).toBeNull();
  }),
);
