// A message to a person leaves through a program of theirs; and what can go wrong on the way is a failure with a
// reason, within its time.
import { chmodSync, existsSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { openChannel } from '../../src/act/notify/channel.ts';
import { until } from '../../src/conform/until.ts';
import { body, dir, message, send, shortMs } from './notifying.ts';

/** An executable in the test's folder. */
function script(name: string, text: string): string {
  const file = path.join(dir, name);
  writeFileSync(file, text);
  chmodSync(file, 0o755);
  return file;
}

const isAlive = (pid: number) => {
  try {
    // A killed process that nobody has collected yet is dead too.
    return !/^State:\s+Z/m.test(readFileSync(`/proc/${pid}/status`, 'utf8'));
  } catch {
    return false;
  }
};

describe('through a command', () => {
  it('which gets the message on its standard input, its arguments as they are, and little else', async () => {
    const tell = script(
      'tell',
      `#!/bin/sh\ncat > ${dir}/in\nprintf '%s\\n' "$@" > ${dir}/args\nenv > ${dir}/env\npwd > ${dir}/cwd\n`,
    );
    const words = ['--now', '$(touch canary)', '; touch canary', '*', ''];
    const env = { LANG: 'C', DATABASE_URL: 'postgresql://s3cret', SLACK_URL: 's3cret', LD_PRELOAD: '' };
    expect(await send({ type: 'command', command: [tell, ...words] }, {}, env)).toEqual({ ok: true });
    const written = (name: string) => readFileSync(path.join(dir, name), 'utf8');
    expect(JSON.parse(written('in'))).toEqual(message);
    expect(written('args')).toBe(`${words.join('\n')}\n`);
    expect(written('cwd')).toBe('/\n');
    const names = written('env')
      .trim()
      .split('\n')
      .map((line) => line.split('=')[0]);
    // The last three are the shell's own.
    expect(names.filter((name) => !['PWD', 'OLDPWD', 'SHLVL', '_'].includes(name ?? '')).sort()).toEqual([
      'HOME',
      'LANG',
      'PATH',
    ]);
    expect(existsSync(path.join(dir, 'canary'))).toBe(false);
  });

  it('which is found on PATH', async () => {
    script('tell-on-path', `#!/bin/sh\ntouch ${dir}/told\n`);
    expect(await send({ type: 'command', command: ['tell-on-path'] })).toEqual({ ok: true });
    expect(existsSync(path.join(dir, 'told'))).toBe(true);
  });

  it('which need not read what it is given, however much', async () => {
    const what_to_do = Array(20).fill('日'.repeat(500));
    expect(await send({ type: 'command', command: ['true'] }, { text: '日'.repeat(5_000_000), what_to_do })).toEqual({
      ok: true,
    });
  });

  it('which may write much, to nowhere', async () => {
    const loud = script('loud', '#!/bin/sh\nhead -c 50000000 /dev/zero\nhead -c 50000000 /dev/zero >&2\n');
    expect(await send({ type: 'command', command: [loud] })).toEqual({ ok: true });
  });

  it('which may leave something running', async () => {
    const leaves = script('leaves', `#!/bin/sh\nsleep 40 &\nexit 0\n`);
    const started = performance.now();
    expect(await send({ type: 'command', command: [leaves] })).toEqual({ ok: true });
    expect(performance.now() - started).toBeLessThan(2_500);
  });

  it.each<[string, () => string[], RegExp]>([
    ['fails', () => ['false'], /^the command exited with 1$/],
    ['dies', () => [script('dies', '#!/bin/sh\nkill -TERM $$\n')], /^the command ended by SIGTERM$/],
    ['does not exist', () => ['/nowhere/tell'], /^\/nowhere\/tell was not found: /],
    ['is not on PATH', () => ['wk-no-such-program'], /^wk-no-such-program was not found: /],
    ['is a relative path', () => ['./tell'], /^\.\/tell was not found: an absolute path /],
    ['is a folder', () => [dir], /may not be executed$/],
    ['is no program', () => [script('text', 'just words')], /ENOEXEC|exited with 127$/],
    ['has an argument without end', () => ['true', 'x'.repeat(3_000_000)], /^true could not be started \(E2BIG\)$/],
    ['is empty', () => [], /^the command is empty$/],
  ])('a command that %s is a failure', async (_name, command, reason) => {
    const sent = await send({ type: 'command', command: command() });
    expect(sent).toEqual({ ok: false, reason: expect.stringMatching(reason) });
  });

  it('one that hangs is killed, with all it has started', async () => {
    const hangs = script(
      'hangs',
      `#!/bin/sh\ntrap '' TERM INT HUP\nsleep 600 &\necho $$ $! > ${dir}/pids\nwait\nwait\n`,
    );
    const started = performance.now();
    expect(await send({ type: 'command', command: [hangs] }, {}, {}, shortMs)).toEqual({
      ok: false,
      reason: 'the command did not end within 0.7 s and was killed',
    });
    expect(performance.now() - started).toBeLessThan(5_000);
    const pids = readFileSync(path.join(dir, 'pids'), 'utf8').trim().split(' ').map(Number);
    expect(pids).toHaveLength(2);
    await until('the whole group is gone', () => !pids.some(isAlive));
  });

  it('one that hangs without reading is killed as well', async () => {
    const sent = await send(
      { type: 'command', command: ['sleep', '600'] },
      { text: 'x'.repeat(5_000_000) },
      {},
      shortMs,
    );
    expect(sent).toEqual({ ok: false, reason: 'the command did not end within 0.7 s and was killed' });
  });

  it('ten seconds are the limit unless told otherwise', async () => {
    const started = performance.now();
    expect(await send({ type: 'command', command: ['sleep', '600'] })).toMatchObject({ ok: false });
    const tookMs = performance.now() - started;
    expect(tookMs).toBeGreaterThan(9_500);
    expect(tookMs).toBeLessThan(15_000);
  });
});

describe('on the desktop', () => {
  const standIn = () => script('notify-send', `#!/bin/sh\nprintf '%s\\0' "$@" > ${dir}/args\nenv > ${dir}/env\n`);
  const args = () => readFileSync(path.join(dir, 'args'), 'utf8').split('\0').slice(0, -1);

  it('notify-send gets title and body', async () => {
    standIn();
    const env = { DBUS_SESSION_BUS_ADDRESS: 'unix:path=/run/bus', DATABASE_URL: 'postgresql://s3cret' };
    expect(await send({ type: 'desktop' }, {}, env)).toEqual({ ok: true });
    expect(args()).toEqual(['--app-name=Watchkeeper', '--urgency=normal', '--', message.title, body]);
    const seen = readFileSync(path.join(dir, 'env'), 'utf8');
    expect(seen).toContain('DBUS_SESSION_BUS_ADDRESS=unix:path=/run/bus');
    expect(seen).not.toContain('s3cret');
  });

  it('nothing in it is an option, markup or an escape', async () => {
    standIn();
    await send({ type: 'desktop' }, { severity: 'critical', title: '--help', text: '<b>&\\033[1m\u001b' });
    expect(args().slice(1, 4)).toEqual(['--urgency=critical', '--', '--help']);
    expect(args()[4]?.split('\n')[0]).toBe('&lt;b&gt;&amp;\\\\033[1m\\\\x1b');
  });

  it('a huge message is cut', async () => {
    standIn();
    expect(await send({ type: 'desktop' }, { text: '🎉'.repeat(2_000_000) })).toEqual({ ok: true });
    expect(args()[4]?.length).toBeLessThan(2_000);
  });

  it('a machine without it says so', async () => {
    const channel = openChannel({ channel: 'me', type: 'desktop' }, { PATH: dir });
    expect(await channel.send(message)).toEqual({
      ok: false,
      reason: expect.stringMatching(/^notify-send was not found/),
    });
  });

  it('a desktop that is not there is a failure', async () => {
    script('notify-send', '#!/bin/sh\nexit 1\n');
    expect(await send({ type: 'desktop' })).toEqual({ ok: false, reason: 'the command exited with 1' });
  });
});
