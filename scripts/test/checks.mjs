// The checks that run nothing of the project. Each counts as one test; its output is shown when it fails.
import { program, run } from './children.mjs';

const limitMs = 5 * 60_000;

const commands = {
  biome: [program('@biomejs/biome', 'bin/biome'), 'check', '.'],
  types: [program('typescript', 'bin/tsc'), '-p', 'tsconfig.json'],
  imports: ['scripts/check-imports.mjs'],
  lock: ['scripts/check-lock.mjs'],
  mutants: ['scripts/mutate.mjs', '--check'],
  docs: ['scripts/docs.mjs', '--check'],
  knip: [program('knip', 'bin/knip.js')],
};

export async function runCheck(name) {
  const startMs = performance.now();
  const { code, output } = await run(process.execPath, commands[name], { limitMs });
  const ok = code === 0;
  process.stdout.write(`${ok ? 'ok' : 'not ok'} - ${name}\n${ok ? '' : output}`);
  return {
    name,
    passed: ok ? 1 : 0,
    failed: ok ? 0 : 1,
    skipped: 0,
    failures: ok ? [] : [`ended with ${code}, see above`],
    seconds: Math.round((performance.now() - startMs) / 1000),
  };
}
