// Starts the client for the table of states, set up in one of the ways.
import { existsSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import type { Sandbox } from '../../../conform/sandbox.ts';
import type { Setup, Stage } from '../../../conform/setup.ts';
import { findHome } from '../../../home/home.ts';
import { quoted } from '../../inbox.ts';
import { hookScript } from '../hook-script.ts';
import { type ClientAgent, type ClientOptions, launchClient } from './agent.ts';
import type { FakeModel } from './fake-model.ts';

export async function launch(
  { world, program }: Stage<FakeModel>,
  setup: Setup,
  session: string,
  more: Partial<ClientOptions> = {},
): Promise<ClientAgent> {
  if (world.ending) throw new Error('the run is over');
  const configDir = path.join(world.dir, session, 'config');
  mkdirSync(configDir, { recursive: true });
  // A file where the client wants to keep its registry: it goes on without one.
  if (!setup.registry) writeFileSync(path.join(configDir, 'sessions'), '');
  return launchClient({
    world,
    program,
    session,
    shell: setup.shell,
    permissionMode: setup.mode,
    configDir,
    extraSettings: { permissions: { allow: ['Bash'], ask: ['Bash(touch:*)'] }, ...statusLineAlone(world, setup) },
    prepared: () => installHooks(world, program, setup, configDir),
    ...more,
  });
}

async function installHooks(world: Sandbox, program: string, setup: Setup, configDir: string): Promise<void> {
  if (!setup.hooks) return;
  const words = ['init', '--config-dir', configDir, ...(setup.statusLine ? ['--statusline'] : [])];
  const done = await world.watchkeeper(words, {
    env: { PATH: `${programFolder(world, program)}:${process.env.PATH}` },
  });
  if (done.code !== 0) throw new Error(`init ended with ${done.code}: ${done.stderr}`);
}

/** `init` looks for the client on the PATH: which events it may add depends on the version. */
function programFolder(world: Sandbox, program: string): string {
  const folder = path.join(world.dir, 'bin');
  mkdirSync(folder, { recursive: true });
  const link = path.join(folder, 'claude');
  if (!existsSync(link)) symlinkSync(program, link);
  return folder;
}

/** `init` knows no status line without hooks. */
function statusLineAlone(world: Sandbox, setup: Setup): Record<string, unknown> {
  if (!setup.statusLine || setup.hooks) return {};
  const script = path.join(world.dir, 'claude-code.sh');
  const home = findHome({ WATCHKEEPER_HOME: world.watchkeeperHome });
  writeFileSync(script, hookScript(home.inbox, home.allowancesDir), { mode: 0o700 });
  return { statusLine: { type: 'command', command: `${quoted(script)} statusline` } };
}
