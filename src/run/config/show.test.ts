import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { loadConfig } from './load.ts';
import { configKeys } from './narrow.ts';
import { configDocument, configText } from './show.ts';

let root = '';
beforeEach(() => {
  root = mkdtempSync(path.join(tmpdir(), 'wk-show-'));
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

function load(project: string) {
  writeFileSync(path.join(root, 'watchkeeper.yaml'), project);
  const loaded = loadConfig({ file: null, home: root, projectDir: root });
  if (!loaded.ok) throw new Error(loaded.message);
  return loaded.value;
}

describe('config show', () => {
  it('lists every value once with its origin', () => {
    const { v, values, files } = configDocument(load('\ntickSeconds: 3\n'));
    expect(v).toBe(1);
    expect(values).toHaveLength(configKeys.length);
    expect(values).toContainEqual({ key: 'tickSeconds', value: 3, origin: `${root}/watchkeeper.yaml:2` });
    expect(values).toContainEqual({ key: 'handoff.dir', value: '.watchkeeper/handoffs', origin: 'default' });
    expect(files.map((file) => file.found)).toEqual([false, true]);
  });

  it("shows the project's rules beside the machine's, since both are in force", () => {
    const { values } = configDocument(load('agents: []\n'));
    expect(values.filter((row) => /agents/i.test(row.key))).toEqual([
      { key: 'agents', value: [{ match: '*-ps', authority: 'manage' }], origin: 'default' },
      { key: 'projectAgents', value: [], origin: `${root}/watchkeeper.yaml:1` },
    ]);
  });

  it('is one printable line a value', () => {
    const text = configText(load('handoff: {dir: "a\\nb\\e[1m"}\n'));
    expect(text.trimEnd().split('\n')).toHaveLength(configKeys.length);
    expect(text).toContain('handoff.dir: a\\nb\\x1b[1m');
    expect(text).not.toContain('\x1b');
  });
});
