// Compiles src/ to dist/. Built beside and swapped in, so that a running CLI never meets a half-written tree.
import { spawnSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, renameSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

const root = path.dirname(path.dirname(fileURLToPath(import.meta.url)));
const out = path.join(root, `dist.tmp-${process.pid}`);
const tsc = path.join(path.dirname(createRequire(import.meta.url).resolve('typescript/package.json')), 'bin', 'tsc');
const built = spawnSync(process.execPath, [tsc, '-p', 'tsconfig.build.json', '--outDir', out], {
  cwd: root,
  stdio: ['ignore', 2, 2],
});
if (built.status !== 0) {
  rmSync(out, { recursive: true, force: true });
  process.exit(built.status ?? 1);
}
cpSync(path.join(root, 'src/record/migrations'), path.join(out, 'record/migrations'), { recursive: true });
const dist = path.join(root, 'dist');
const old = path.join(root, `dist.old-${process.pid}`);
if (existsSync(dist)) renameSync(dist, old);
try {
  renameSync(out, dist);
} catch (error) {
  // Two builds at once: the other one's result is as good as ours.
  if (!existsSync(dist)) throw error;
  rmSync(out, { recursive: true, force: true });
}
rmSync(old, { recursive: true, force: true });
mkdirSync(dist, { recursive: true });
