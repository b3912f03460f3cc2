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
  it("lists every value once with its origin, and what the project's file says apart", () => {
    const { v, values, project, files } = configDocument(load('\nspawn: {progress: never}\n'));
    expect(v).toBe(1);
    expect(values).toHaveLength(configKeys.length);
    expect(values).toContainEqual({ key: 'handoff.dir', value: '.watchkeeper/handoffs', origin: 'default' });
    expect(project).toEqual({
      directory: root,
      values: [{ key: 'spawn.progress', value: 'never', origin: `${root}/watchkeeper.yaml:2` }],
    });
    expect(files.map((file) => file.found)).toEqual([false, true]);
  });

  it("shows the project's rules beside the machine's, since both are in force", () => {
    const { values, project } = configDocument(load('agents: []\nmode: watch\n'));
    expect(values.find((row) => row.key === 'agents')?.value).toEqual([{ match: '*-ps', authority: 'manage' }]);
    expect(project?.values).toEqual([
      { key: 'mode', value: 'watch', origin: `${root}/watchkeeper.yaml:2` },
      { key: 'agents', value: [], origin: `${root}/watchkeeper.yaml:1` },
    ]);
  });

  it('is one printable line a value', () => {
    const text = configText(load('handoff: {dir: "a\\nb\\e[1m"}\n'));
    const lines = text.trimEnd().split('\n');
    expect(lines.slice(configKeys.length, -1)).toEqual(['', `for agents in ${root}:`]);
    expect(lines.at(-1)).toContain('handoff.dir: a\\nb\\x1b[1m');
    expect(text).not.toContain('\x1b');
  });
});
