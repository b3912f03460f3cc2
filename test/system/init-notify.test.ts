// `init --notify` adds a way to reach a person to the configuration, and shows at once whether it works.
import { chmodSync, existsSync, readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import path from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { type InitDocument, type SetupWorld, setupWorld } from './setup-world.ts';

function configFile(world: SetupWorld): string {
  return path.join(world.home, '.config/watchkeeper/config.yaml');
}

/** A receiver that keeps what it got, and answers with this. */
async function receiver(status: number): Promise<{ url: string; got: string[] }> {
  const got: string[] = [];
  const server = createServer((request, response) => {
    let body = '';
    request
      .on('data', (chunk) => (body += chunk))
      .on('end', () => {
        got.push(body);
        response.writeHead(status).end();
      });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void server.close());
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook`, got };
}

describe('a channel', () => {
  it('by a command is written down, and its test message arrives', async () => {
    const world = setupWorld();
    const got = path.join(world.dir, 'got');
    const program = world.put(path.join(world.dir, 'tell'), `#!/bin/sh\ncat > '${got}'\n`);
    chmodSync(program, 0o755);
    const args = ['init', '--no-hooks', '--notify', 'command', '--channel', 'me', '--command', program, '--command=-x'];
    const said = await world.good(...args);
    expect(said.stdout).toBe(`installed: ${configFile(world)} (channel me)\ntest message through me: arrived\n`);
    expect(JSON.parse(readFileSync(got, 'utf8'))).toMatchObject({
      v: 1,
      check: 'test',
      title: 'Watchkeeper can reach you',
    });
    expect(world.look()).toEqual({});
    expect(readFileSync(configFile(world), 'utf8')).toContain(`command:\n      - ${program}\n      - -x\n`);
    const again = await world.json(...args);
    expect(again).toMatchObject({
      channels: [{ did: 'already-there', channel: 'me' }],
      tests: [{ channel: 'me', ok: true }],
    });
    expect((await world.good('init', '--test-notify')).stdout).toBe('test message through me: arrived\n');
  });

  it('is added to what is configured, and comments stay', async () => {
    const world = setupWorld();
    const { url, got } = await receiver(204);
    const before =
      '# my machine\ntickSeconds: 1 # quick\n\nnotify:\n  # the phone\n  - channel: phone\n    type: desktop\n';
    world.put(configFile(world), before);
    await world.good('init', '--no-hooks', '--notify', 'webhook', '--url', url);
    const after = readFileSync(configFile(world), 'utf8');
    expect(after).toBe(`${before}  - channel: webhook\n    type: webhook\n    url: ${url}\n`);
    expect(got).toHaveLength(1);
    await world.good('config', 'check');
  });

  it('whose address is a secret is named by its variable, which alone is written', async () => {
    const world = setupWorld();
    const { url, got } = await receiver(200);
    world.env = { HOOK_URL: `${url}/secret` };
    await world.good('init', '--no-hooks', '--notify', 'slack', '--url-env', 'HOOK_URL');
    expect(readFileSync(configFile(world), 'utf8')).not.toContain('secret');
    expect(got[0]).toContain('Watchkeeper can reach you');
  });

  it('that does not work is said to, with exit code 1', async () => {
    const world = setupWorld();
    const { url } = await receiver(500);
    const said = await world.run('init', '--no-hooks', '--notify', 'ntfy', '--url', url, '--json');
    expect(said.code).toBe(1);
    const { tests } = JSON.parse(said.stdout) as InitDocument;
    expect(tests).toEqual([{ channel: 'ntfy', ok: false, reason: 'the receiver answered 500' }]);
    expect(existsSync(configFile(world))).toBe(false);
    expect((await world.run('init', '--notify', 'ntfy', '--url', url)).stderr).toContain('ntfy is not added');
  });

  it('that was there and does not work any more stays, and is taken out by its name; all else stays', async () => {
    const world = setupWorld();
    const { url } = await receiver(500);
    const others = 'tickSeconds: 1 # quick\nnotify:\n  # the phone\n  - channel: phone\n    type: desktop\n';
    const before = `${others}  - channel: hook\n    type: webhook\n    url: ${url}\n`;
    world.put(configFile(world), before);
    const again = await world.run('init', '--notify', 'webhook', '--channel', 'hook', '--url', url);
    expect(again).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('`watchkeeper init --remove-notify hook`'),
    });
    expect(readFileSync(configFile(world), 'utf8')).toBe(before);
    expect((await world.run('init', '--remove-notify', 'nobody')).stderr).toMatch(
      /no channel `nobody`: it has phone, hook\n$/,
    );
    expect((await world.good('init', '--remove-notify', 'hook')).stdout).toBe(
      `removed: ${configFile(world)} (channel hook)\n`,
    );
    expect(readFileSync(configFile(world), 'utf8')).toBe(others);
    await world.good('init', '--remove-notify', 'phone');
    expect(readFileSync(configFile(world), 'utf8')).toBe('tickSeconds: 1 # quick\n');
    expect((await world.run('init', '--remove-notify', 'phone')).code).toBe(4);
  });

  it('alone adds no hooks, and says so; with the directory named it does', async () => {
    const world = setupWorld();
    const { url } = await receiver(200);
    const said = await world.good('init', '--notify', 'webhook', '--url', url);
    expect(said.stderr).toContain('no hooks were added');
    expect(world.look()).toEqual({});
    await world.good('init', '.', '--notify', 'webhook', '--url', url);
    expect(existsSync(world.settings)).toBe(true);
  });

  it.each<[string, string[], RegExp]>([
    ['a secret address in the open', ['slack', '--url', 'https://hooks.example.org/x'], /url.*: give --url-env/],
    ['no address', ['ntfy'], /exactly one of url and urlEnv: give --url/],
    ['no command', ['command'], /missing: .*: give the program/],
    ['no http', ['webhook', '--url', 'ftp://x'], /http or https/],
    ['a password in the address', ['webhook', '--url', 'http://u:p@x/'], /http or https/],
    ['a bad name', ['desktop', '--channel', 'a b'], /1 to 64 letters/],
    ['something it has no use for', ['desktop', '--url', 'http://x/'], /unknown key `url`/],
  ])('with %s is refused, and nothing is written', async (_what, args, words) => {
    const world = setupWorld();
    const said = await world.run('init', '--no-hooks', '--notify', ...args);
    expect(said).toMatchObject({ code: 2, stdout: '' });
    expect(said.stderr).toMatch(/^watchkeeper: [^\n]+\n$/);
    expect(said.stderr).toMatch(words);
    expect(existsSync(configFile(world))).toBe(false);
  });

  it('of a name that is taken is refused, and its first one stays', async () => {
    const world = setupWorld();
    world.put(configFile(world), 'notify:\n  - channel: webhook\n    type: desktop\n');
    const before = readFileSync(configFile(world), 'utf8');
    const said = await world.run('init', '--no-hooks', '--notify', 'webhook', '--url', 'http://127.0.0.1:9/');
    expect(said).toMatchObject({ code: 2, stdout: '' });
    expect(said.stderr).toMatch(/^watchkeeper: [^\n]+ has another channel `webhook` already: .*--channel[^\n]+\n$/);
    expect(readFileSync(configFile(world), 'utf8')).toBe(before);
  });

  it('is not added to a configuration that is wrong already', async () => {
    const world = setupWorld();
    world.put(configFile(world), 'tickSeconds: soon\n');
    const said = await world.run('init', '--no-hooks', '--notify', 'desktop');
    expect(said).toMatchObject({ code: 2, stderr: expect.stringContaining('config.yaml:1:14') });
    expect(readFileSync(configFile(world), 'utf8')).toBe('tickSeconds: soon\n');
  });

  it('that is wrong keeps init from all else, and a dry run from writing', async () => {
    const world = setupWorld();
    expect((await world.run('init', '--notify', 'slack')).code).toBe(2);
    expect(world.look()).toEqual({});
    const dry = await world.good('init', '--dry-run', '--notify', 'desktop');
    expect(dry.stdout).toContain(`would be installed: ${configFile(world)} (channel desktop)`);
    expect(existsSync(configFile(world))).toBe(false);
  });

  it('is wanted before it can be tried', async () => {
    const world = setupWorld();
    const said = await world.run('init', '--test-notify');
    expect(said).toMatchObject({ code: 1, stderr: expect.stringContaining('init --notify TYPE') });
  });
});
