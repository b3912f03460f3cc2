import { execFileSync } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { localGit } from './git.ts';

const dir = mkdtempSync(path.join(os.tmpdir(), 'wk-git-'));
const repository = path.join(dir, 'repository');
const empty = path.join(dir, 'empty');
const canary = path.join(dir, 'canary');
let head = '';

beforeAll(() => {
  const git = (...args: string[]) =>
    execFileSync('git', ['-c', 'user.name=A', '-c', 'user.email=a@example.org', ...args], { cwd: dir })
      .toString()
      .trim();
  git('init', '-q', repository);
  git('init', '-q', empty);
  writeFileSync(path.join(repository, 'a'), 'a');
  git('-C', repository, 'add', 'a');
  git('-C', repository, 'commit', '-qm', 'one');
  head = git('-C', repository, 'rev-parse', 'HEAD');
  // What a hostile repository would have git start.
  const script = path.join(dir, 'evil.sh');
  writeFileSync(script, `#!/bin/sh\ntouch ${canary}\n`, { mode: 0o755 });
  git('-C', repository, 'config', 'core.fsmonitor', script);
  git('-C', repository, 'config', 'core.pager', script);
});
afterAll(() => rmSync(dir, { recursive: true, force: true }));

describe('whether a commit exists', () => {
  const git = localGit();

  it('its own HEAD, in full and short', async () => {
    expect(await git.head(repository)).toBe(head);
    expect(await git.hasCommit(repository, head)).toBe('yes');
    expect(await git.hasCommit(repository, head.slice(0, 8))).toBe('yes');
  });

  it.each(['0123456789abcdef0123456789abcdef01234567', 'deadbee', 'HEAD', '--help', '; touch x'])(
    'not %s',
    async (id) => expect(await git.hasCommit(repository, id)).toBe('no'),
  );

  it('without a repository, a commit or a directory there is none', async () => {
    expect(await git.head(empty)).toBeNull();
    expect(await git.head(dir)).toBeNull();
    expect(await git.head(path.join(dir, 'nowhere'))).toBeNull();
    expect(await git.hasCommit(dir, head)).toBe('unknown');
  });

  it('nothing that the repository names is started', () => expect(existsSync(canary)).toBe(false));
});
