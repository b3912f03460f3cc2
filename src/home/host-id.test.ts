import { cpSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { findHome, type Home } from './home.ts';
import { claimHost, ownHost } from './host-id.ts';

const dir = mkdtempSync(path.join(os.tmpdir(), 'wk-host-'));
afterAll(() => rmSync(dir, { recursive: true, force: true }));

function newHome(): Home {
  return homeAt(mkdtempSync(path.join(dir, 'home-')));
}

function homeAt(place: string): Home {
  mkdirSync(place, { recursive: true });
  return findHome({ WATCHKEEPER_HOME: place });
}

function claimed(home: Home) {
  const host = claimHost(home);
  if (!host.ok) throw new Error(host.message);
  return host.value;
}

/** As it would be on a machine with another id. */
function onOtherMachine(home: Home): void {
  const file = JSON.parse(readFileSync(home.hostFile, 'utf8'));
  writeFileSync(home.hostFile, JSON.stringify({ ...file, machine: 'f'.repeat(32) }));
}

describe('a data directory', () => {
  it('has an id of its own, the same at every start, for nobody else to read', () => {
    const home = newHome();
    const { id, name, copyOf } = claimed(home);
    expect({ name, copyOf }).toEqual({ name: os.hostname(), copyOf: null });
    expect(claimed(home)).toMatchObject({ id, copyOf: null });
    expect(ownHost({ WATCHKEEPER_HOME: home.dir })).toBe(id);
    expect(statSync(home.hostFile).mode & 0o777).toBe(0o600);
    expect(claimed(newHome()).id).not.toBe(id);
  });

  it('that was moved, or put back at its place, keeps it', () => {
    const home = newHome();
    const { id } = claimed(home);
    renameSync(home.dir, `${home.dir}-moved`);
    const moved = homeAt(`${home.dir}-moved`);
    expect(claimed(moved).id).toBe(id);
    cpSync(moved.dir, `${moved.dir}-saved`, { recursive: true });
    rmSync(moved.dir, { recursive: true });
    renameSync(`${moved.dir}-saved`, moved.dir);
    expect(claimed(moved).id).toBe(id);
  });

  it('that is a copy beside the first is another host, and says of whom; the first stays what it was', () => {
    const home = newHome();
    const { id } = claimed(home);
    cpSync(home.dir, `${home.dir}-copy`, { recursive: true });
    const copy = claimed(homeAt(`${home.dir}-copy`));
    expect(copy.id).not.toBe(id);
    expect(copy.copyOf).toBe(id);
    expect(claimed(homeAt(`${home.dir}-copy`)).id).toBe(copy.id);
    expect(claimed(home).id).toBe(id);
  });

  it.skipIf(claimed(newHome()).machine === null)('that came from another machine is another host', () => {
    const home = newHome();
    const { id } = claimed(home);
    onOtherMachine(home);
    expect(claimed(home)).toMatchObject({ copyOf: id });
    expect(ownHost({ WATCHKEEPER_HOME: home.dir })).not.toBe(id);
  });

  it.each(['', '{', '[]', 'null', '{"v":1,"id":"../x","dir":"/"}', '{"v":2}'])(
    'with an id that nobody wrote like this (%s) is not begun anew',
    (text) => {
      const home = newHome();
      writeFileSync(home.hostFile, text);
      expect(claimHost(home)).toMatchObject({ ok: false, reason: 'unusable' });
      expect(readFileSync(home.hostFile, 'utf8')).toBe(text);
    },
  );

  it('that is a copy stays one until it was entered, however often its start fails', () => {
    const home = newHome();
    const { id } = claimed(home);
    cpSync(home.dir, `${home.dir}-copy`, { recursive: true });
    const copy = homeAt(`${home.dir}-copy`);
    for (let start = 0; start < 3; start += 1) expect(claimed(copy).copyOf).toBe(id);
  });

  it('whose id cannot be read is not begun anew', () => {
    const home = newHome();
    mkdirSync(home.hostFile);
    expect(claimHost(home)).toMatchObject({ ok: false, reason: 'unusable' });
  });
});
