// Which hooks `init` installs: those that the versions of Claude Code in use know, wherever these are found.
import { spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { copyFileSync, existsSync, mkdirSync, rmSync, symlinkSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { hookEvents } from '../../src/clients/claude-code/hooks.ts';
import { until } from '../../src/conform/until.ts';
import { readProcess } from '../../src/record/own-process.ts';
import { eventsIn, type SetupWorld, setupWorld } from './setup-world.ts';

/** Places of this machine that are looked at whoever asks. */
const isOnMachine = ['/usr/local/bin', '/opt/homebrew/bin', '/home/linuxbrew/.linuxbrew/bin'].some((folder) =>
  existsSync(path.join(folder, 'claude')),
);

describe('an older client gets only the events it knows', () => {
  const noClient = `${path.dirname(process.execPath)}:/usr/bin:/bin`;
  const native = (world: SetupWorld, version: string) =>
    world.put(path.join(world.home, `.local/share/claude/versions/${version}`), '');
  const link = (target: string, name: string) => {
    rmSync(name, { force: true });
    mkdirSync(path.dirname(name), { recursive: true });
    symlinkSync(target, name);
  };
  const events = (world: SetupWorld) => eventsIn(world.settings, world.script);
  const all = hookEvents.length;

  it.skipIf(isOnMachine)('and the others once it is updated', async () => {
    const world = setupWorld();
    world.env = { PATH: `${world.home}:${noClient}` };
    const unknown = (await world.good('init')).stderr.replaceAll(/\s+/g, ' ');
    expect(unknown).toContain('no `claude` on the PATH, running or in the usual places: hooks for the 9 events');
    expect(unknown).toContain('without PermissionRequest a handoff of an agent in manual mode waits for a person');
    expect(events(world)).toBe(9);
    expect(await world.hooksCheck()).toMatchObject({ ok: false, detail: expect.stringContaining('PermissionRequest') });
    link(native(world, '2.0.10'), path.join(world.home, 'claude'));
    expect((await world.good('init')).stderr).toContain('Claude Code 2.0.10 knows 9 of our events');
    expect(events(world)).toBe(9);
    link(native(world, '2.1.325'), path.join(world.home, 'claude'));
    // After an update doctor says that there is more to be had.
    expect(await world.hooksCheck()).toMatchObject({
      ok: false,
      detail: expect.stringMatching(/lacks our hooks for .*PermissionRequest/),
      fix: expect.stringContaining('init'),
    });
    expect(await world.did('init')).toEqual(['updated']);
    expect(events(world)).toBe(all);
    expect(await world.hooksCheck()).toMatchObject({ ok: true });
    await world.good('uninstall');
    expect(world.look()).toEqual({});
  });

  it('of several in use those of the oldest, as the running agents tell, and the others when it is gone', async () => {
    const world = setupWorld();
    const program = path.join(world.dir, 'lib/node_modules/@anthropic-ai/claude-code/bin/claude');
    mkdirSync(path.dirname(program), { recursive: true });
    copyFileSync('/usr/bin/sleep', program);
    const env = { HOME: world.home };
    const running = spawn(program, ['infinity'], { cwd: world.dir, env, stdio: 'ignore' });
    onTestFinished(() => void running.kill('SIGKILL'));
    const pid = running.pid ?? 0;
    await until('it runs', () => readProcess(pid) !== null);
    const entry = { pid, procStart: readProcess(pid)?.startTicks, sessionId: randomUUID(), version: '2.1.200' };
    world.put(path.join(world.home, `.claude/sessions/${pid}.json`), JSON.stringify(entry));
    expect((await world.good('init')).stderr).toContain(`Claude Code 2.1.200 knows ${all - 3} of our events`);
    expect(events(world)).toBe(all - 3);
    expect(await world.hooksCheck()).toMatchObject({ ok: true });
    // Another user's agents, or those of another home, say nothing about these settings.
    world.put(
      path.join(world.home, `.claude/sessions/${process.pid}.json`),
      JSON.stringify({ ...entry, pid: process.pid, version: '1.0.0' }),
    );
    expect(await world.hooksCheck()).toMatchObject({ ok: true });
    running.kill('SIGKILL');
    await until('it is gone', () => readProcess(pid) === null);
    expect(await world.hooksCheck()).toMatchObject({
      ok: false,
      detail: expect.stringContaining('lacks our hooks for PreModelSwitch, PostModelSwitch, DirectoryAdded'),
    });
    await world.good('init');
    expect(events(world)).toBe(all);
  });
});
