import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { installable } from '../clients/clients.ts';
import { versionsInUse } from './client-version.ts';

let home = '';
beforeEach(() => {
  home = mkdtempSync(path.join(tmpdir(), 'wk-versions-'));
});
afterEach(() => rmSync(home, { recursive: true, force: true }));

function put(file: string, text = ''): string {
  const place = path.join(home, file);
  mkdirSync(path.dirname(place), { recursive: true });
  writeFileSync(place, text);
  return place;
}

function link(target: string, name: string): void {
  mkdirSync(path.dirname(path.join(home, name)), { recursive: true });
  symlinkSync(target, path.join(home, name));
}

const native = (version: string) => put(`.local/share/claude/versions/${version}`);
function packaged(folder: string, version: string): string {
  put(`${folder}/package.json`, JSON.stringify({ name: '@anthropic-ai/claude-code', version }));
  return put(`${folder}/cli.js`);
}

const found = (searched = '') =>
  versionsInUse(installable(), { PATH: searched }, home, { configDirs: [], project: null });

it('is found on the PATH, and then only there', () => {
  link(native('2.1.327'), 'bin/claude');
  link(packaged('old', '2.1.200'), '.npm-global/bin/claude');
  expect(found(`relative:${home}/nowhere:${home}/bin`)).toEqual(['2.1.327']);
  link(packaged('new', '2.1.300'), 'other/claude');
  expect(found(`${home}/other:${home}/bin`)).toEqual(['2.1.300']);
});

it.each([
  ['.local/bin/claude', () => native('2.1.327')],
  [
    '.claude/local/node_modules/.bin/claude',
    () => packaged('.claude/local/node_modules/@anthropic-ai/claude-code', '2.1.327'),
  ],
  ['.npm-global/bin/claude', () => packaged('lib', '2.1.327')],
  ['.nvm/versions/node/v22.1.0/bin/claude', () => packaged('lib', '2.1.327')],
  ['.local/share/fnm/node-versions/v20/installation/bin/claude', () => packaged('lib', '2.1.327')],
  ['.volta/tools/image/packages/@anthropic-ai/claude-code/bin/claude', () => packaged('lib', '2.1.327')],
  ['.bun/bin/claude', () => packaged('lib', '2.1.327')],
  ['prefix/bin/claude', () => packaged('lib', '2.1.327')],
])('is found at ~/%s, to which no PATH leads', (place, program) => {
  put('.npmrc', `prefix = ${home}/prefix\n`);
  link(program(), place);
  expect(found()).toContain('2.1.327');
});

it('is not taken from what is no version, nor from another package', () => {
  put('one/package.json', JSON.stringify({ name: '@anthropic-ai/claude-code', version: 'latest; rm -rf' }));
  link(put('one/cli.js'), '.npm-global/bin/claude');
  put('two/package.json', JSON.stringify({ name: 'claude', version: '9.9.9' }));
  link(put('two/cli.js'), '.bun/bin/claude');
  link('nowhere', '.local/bin/claude');
  expect(found()).not.toContain('9.9.9');
  expect(found().every((version) => /^[\d.]+$/.test(version))).toBe(true);
});
