import { rmSync, writeFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { good, home, machineFile, projectDir, projectFile } from '../../test/runs/config-files.ts';
import { configAt } from './load.ts';
import { watchConfig } from './watch.ts';
import { watchOnly } from './watch-only.ts';

it('nothing is done in such a run, whatever the files say and however often they are read anew', () => {
  writeFileSync(machineFile, 'mode: act\ntickSeconds: 3\n');
  writeFileSync(projectFile, 'handoff: {atPercent: 90}\n');
  const watch = watchOnly(watchConfig({ file: null, home, projectDir }, good()));
  const modes = () => [watch.current().config.mode, configAt(watch.current(), [projectDir]).mode];
  expect([modes(), watch.current().config.tickSeconds]).toEqual([['watch', 'watch'], 3]);
  writeFileSync(machineFile, 'mode: act\ntickSeconds: 4\n');
  for (let n = 0; n < 3; n += 1) watch.check();
  expect([modes(), watch.current().config.tickSeconds]).toEqual([['watch', 'watch'], 4]);
  rmSync(projectFile);
  expect(watch.current()).toBe(watch.current());
});
