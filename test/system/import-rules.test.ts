// The check of the import directions is itself checked: on the real src/, and on small trees that break each rule.
import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';

const check = path.resolve(import.meta.dirname, '../../scripts/check-imports.mjs');

function runCheck(files: Record<string, string> | null): { code: number | null; said: string[] } {
  const args = [check];
  if (files !== null) {
    const src = mkdtempSync(path.join(os.tmpdir(), 'wk-imports-'));
    onTestFinished(() => rmSync(src, { recursive: true, force: true }));
    for (const [name, text] of Object.entries(files)) {
      mkdirSync(path.dirname(path.join(src, name)), { recursive: true });
      writeFileSync(path.join(src, name), text);
    }
    args.push(src);
  }
  const { status, stderr } = spawnSync(process.execPath, args, { encoding: 'utf8' });
  return { code: status, said: stderr.split('\n').filter((line) => line !== '') };
}

describe('the import check', () => {
  it('passes the project', () => {
    expect(runCheck(null)).toEqual({ code: 0, said: [] });
  });

  it.each([
    ['clients', `import type { A } from '../model/a.ts';`],
    ['decide', `import { a } from '../detect/a.ts';`],
    ['daemon', `import { a } from '../record/a.ts';\nimport { b } from '../actions/b.ts';`],
    ['serve', `import { a } from '../daemon/a.ts';\nimport fs from 'node:fs';`],
    ['detect', `import path from 'node:path';\nimport { a } from './checks/a.ts';`],
    ['record', `import pg from 'pg';`],
    ['clients/one', `const load = () => import('./conform/trial.ts');`],
    ['clients/one/conform', `import { until } from '../../../conform/until.ts';`],
  ])('allows %s: %s', (folder, text) => {
    expect(runCheck({ [`${folder}/file.ts`]: text })).toEqual({ code: 0, said: [] });
  });

  it.each([
    ['model', `import { a } from '../daemon/a.ts';`, 'model imports nothing'],
    ['model', `import { readFileSync } from 'node:fs';`, 'model is pure'],
    ['clients', `import { a } from '../sense/a.ts';`, 'clients imports only model'],
    ['clients/one', `import { trial } from './conform/trial.ts';`, 'clients imports only model'],
    ['clients/one', `import('../two/conform/trial.ts');`, 'clients imports only model'],
    ['clients/one/conform', `import { a } from '../../../findings/a.ts';`, 'conform imports only'],
    ['sense', `import { a } from '../record/a.ts';`, 'sense imports only model, clients'],
    ['act', `import { a } from '../decide/a.ts';`, 'act imports only model, clients'],
    ['record', `export { a } from '../sense/a.ts';`, 'record imports only model, clients'],
    ['detect', `import { a } from '../decide/a.ts';`, 'detect imports only model, clients'],
    ['detect', `import { a } from '../record/a.ts';`, 'detect imports only model, clients'],
    ['detect', `import { setTimeout } from 'node:timers/promises';`, 'detect is pure'],
    ['detect', `import os from 'os';`, 'detect is pure'],
    ['decide', `import pg from 'pg';`, 'decide is pure'],
    ['decide', `const { spawn } = await import('node:child_process');`, 'decide is pure'],
    ['daemon', `import { a } from '../serve/cli/a.ts';`, 'daemon imports only'],
    ['findings', `import { a } from '../watch/a.ts';`, 'findings imports only'],
    ['watch', `import { a } from '../rules/a.ts';`, 'watch imports only'],
    ['actions', `import { a } from '../rules/a.ts';`, 'actions imports only'],
    ['handoff', `import { a } from '../rules/a.ts';`, 'handoff imports only'],
    ['serve', `import { a } from '../record/a.ts';`, 'serve imports only model, clients, home'],
    ['serve', `import '../detect/a.ts';`, 'serve imports only model, clients, home'],
    ['daemon', `import { a } from '../../test/a.ts';`, 'src imports nothing outside of itself'],
    ['helpers', `import { a } from '../model/a.ts';`, 'src/helpers has no rule'],
  ])('refuses in %s: %s', (folder, text, rule) => {
    const { code, said } = runCheck({ [`${folder}/file.ts`]: `// Why.\n${text}\n` });
    expect(code).toBe(1);
    expect(said).toHaveLength(1);
    expect(said[0]).toContain(`src/${folder}/file.ts:2: imports '`);
    expect(said[0]).toContain(rule);
    // What to do instead.
    expect(said[0]).toMatch(/; \S+/);
  });

  it('names the line on which a long import ends, and every forbidden import of a file', () => {
    const text = `import {\n  a,\n  b,\n} from '../daemon/a.ts';\nimport { c } from '../act/c.ts';\n`;
    const { said } = runCheck({ 'detect/file.ts': text });
    expect(said.map((line) => line.split(' ')[0])).toEqual(['src/detect/file.ts:4:', 'src/detect/file.ts:5:']);
  });

  it('finds the ring of a part that is given one which is made after it', () => {
    const wired = (first: string, second: string) =>
      `class A {\n  #b;\n  #c;\n  constructor() {\n    this.#${first} = new X({ ask: () => this.#c.say() });\n    this.#${second} = new Y();\n  }\n  d() {\n    this.#c.say();\n  }\n}\n`;
    const { code, said } = runCheck({ 'daemon/a.ts': wired('b', 'c') });
    expect([code, said]).toEqual([1, [expect.stringContaining('src/daemon/a.ts:5: names #c, which is made after it')]]);
    expect(runCheck({ 'daemon/a.ts': wired('c', 'b') }).code).toBe(0);
  });

  it.each([
    ['a lambda that calls a method of the class', 'new X({ ask: () => this.#say() })'],
    ['a method that is handed over as it is', 'new X(this.#say)'],
    ['a field whose value is a function', 'new X(this.#saying)'],
    ['a method that calls another', 'new X({ ask: () => this.ask() })'],
  ])('finds it also by way of %s', (_what, made) => {
    const wired = (first: string, second: string) =>
      `export class A<T> extends B<T> {\n  readonly #b: X;\n  readonly #c: Y;\n  readonly #saying = (): void => this.#say();\n\n  constructor(\n    given: T,\n  ) {\n    super();\n    this.#${first} = ${made};\n    this.#${second} = new Y();\n  }\n\n  async ask(): Promise<void> {\n    await this.#say();\n  }\n\n  #say(): void {\n    this.#c.say();\n  }\n}\n`;
    const { code, said } = runCheck({ 'daemon/a.ts': wired('b', 'c') });
    expect([code, said]).toEqual([
      1,
      [expect.stringMatching(/^src\/daemon\/a\.ts:10: names #c by #?\w+, which is made/)],
    ]);
    expect(runCheck({ 'daemon/a.ts': wired('c', 'b') }).code).toBe(0);
  });

  it('finds it in a field that is made with the class, and in the second class of a file', () => {
    const text = `class One {\n  #a = 1;\n}\n\nclass A {\n  readonly #b = new X({ ask: () => this.#say() });\n  readonly #c = new Y();\n\n  #say() {\n    return this.#c;\n  }\n}\n`;
    expect(runCheck({ 'daemon/a.ts': text }).said).toEqual([
      expect.stringContaining('src/daemon/a.ts:6: names #c by #say, which is made after it'),
    ]);
  });

  it('lets a method be handed over that uses what was made before, or what it is given', () => {
    const text = `class A {\n  #b;\n  #c;\n  #d = 0;\n\n  constructor() {\n    this.#b = new X();\n    this.#c = new Y(() => this.#say());\n    this.#d = 2;\n  }\n\n  #say() {\n    return this.#b.ask(this.#d);\n  }\n\n  late() {\n    return this.#c;\n  }\n}\n`;
    expect(runCheck({ 'daemon/a.ts': text })).toEqual({ code: 0, said: [] });
  });

  it('holds the name of a client, and the words that are its alone, to its folder', () => {
    const { code, said } = runCheck({
      'clients/one-cli/client.ts': `export const one = { name: 'one-cli', clear: '/fresh' }; // UNO_HOME`,
      'clients/one-cli/words.json': '{ "names": ["uno"], "words": ["/fresh", "AskAway"] }',
      'clients/all.ts': `export { one } from './one-cli/client.ts';`,
      'clients/two/client.ts': '// unlike One-CLI',
      'watch/a.ts': `// As UNO_HOME says.\nconst a = 'juno ./fresh.ts askaway';\nconst b = '/fresh';`,
      'detect/b.ts': `const tool = 'AskAway';`,
      'detect/b.test.ts': `const tool = 'AskAway';`,
    });
    expect(code).toBe(1);
    expect(said.map((line) => line.split('; ')[0])).toEqual([
      `src/clients/two/client.ts:1: says 'One-CLI', a word of one-cli`,
      `src/detect/b.ts:1: says 'AskAway', a word of one-cli`,
      `src/watch/a.ts:1: says 'UNO', a word of one-cli`,
      `src/watch/a.ts:3: says '/fresh', a word of one-cli`,
    ]);
  });

  it('leaves tests alone', () => {
    const files = { 'detect/a.ts': '', 'detect/a.test.ts': `import { readFileSync } from 'node:fs';` };
    expect(runCheck(files).code).toBe(0);
  });

  it('does not pass where there is nothing to check', () => {
    expect(runCheck({}).code).toBe(1);
  });
});
