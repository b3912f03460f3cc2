// A check is one file and one line: by exactly the steps of CONTRIBUTING.md a made-up one is added to a copy of the tree, and works.
import { spawnSync } from 'node:child_process';
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { agentView, viewNowMs } from '../runs/agent-view.ts';

const root = path.resolve(import.meta.dirname, '../..');
let copy: string;

const definition = `import { healthCheck, onRecord, tells } from '../check.ts';
import { minuteMs, minutes } from '../thresholds.ts';

declare module '../../model/check.ts' {
  interface CheckNames {
    'naps-long': true;
  }
}

export const napsLong = healthCheck({
  name: 'naps-long',
  title: 'naps for long',
  evidence: 'how long it is at its prompt',
  why: 'Made up for a test.',
  thresholds: { 'judging.napMinutes': minutes(7, 'How long an agent may nap.') },
  ladder: tells('once'),
  worth: onRecord('the nap itself', 'It napped.'),
  look({ view, nowMs }, limits) {
    const { state, sinceMs } = view.reading;
    if (state !== 'idle') return { fine: \`it is \${state}\` };
    if (nowMs - sinceMs < limits['judging.napMinutes'] * minuteMs) return { fine: 'a short nap', coming: true };
    const evidence = [{ source: 'registry' as const, atMs: sinceMs, text: 'it naps' }];
    return { found: { severity: 'warning', confidence: 1, sinceMs, evidence, action: null } };
  },
});
`;

beforeAll(() => {
  copy = mkdtempSync(path.join(tmpdir(), 'wk-made-up-'));
  for (const name of ['src', 'bin', 'scripts', 'package.json', 'tsconfig.json', 'tsconfig.build.json'])
    cpSync(path.join(root, name), path.join(copy, name), { recursive: true });
  symlinkSync(path.join(root, 'node_modules'), path.join(copy, 'node_modules'));
  writeFileSync(path.join(copy, 'src/detect/checks/naps-long.ts'), definition);
  const list = path.join(copy, 'src/detect/checks/all.ts');
  writeFileSync(list, `${readFileSync(list, 'utf8')}export { napsLong } from './naps-long.ts';\n`);
}, 60_000);
afterAll(() => rmSync(copy, { recursive: true, force: true }));

function run(...argv: string[]) {
  const env = { PATH: process.env.PATH ?? '', HOME: copy, WATCHKEEPER_HOME: path.join(copy, 'data') };
  return spawnSync(process.execPath, argv, { cwd: copy, encoding: 'utf8', env });
}

it('it compiles, keeps the import rules, and is known to everybody', async () => {
  expect(run('scripts/build.mjs')).toMatchObject({ status: 0 });
  expect(run('scripts/check-imports.mjs')).toMatchObject({ status: 0, stderr: '' });
  expect(run('bin/watchkeeper', 'accuracy', '--markdown').stdout).toMatch(
    /^\| `naps-long` \| naps for long \| .* \| `judging\.napMinutes` \| tells \| record: the nap itself \| It napped\. \|$/m,
  );
  const schema = JSON.parse(run('bin/watchkeeper', 'config', 'schema').stdout);
  expect(schema.properties.judging.properties.napMinutes).toMatchObject({ default: 7, type: 'number' });
  const { examine } = await import(pathToFileURL(path.join(copy, 'dist/detect/health.js')).href);
  const { valuesOf } = await import(pathToFileURL(path.join(copy, 'dist/detect/checks.js')).href);
  const found = (config: object) =>
    examine(
      {
        ...{ view: agentView('idle', null, 5), nowMs: viewNowMs, answerMs: 1, unansweredSinceMs: null },
        ...{ loops: [], completion: null, missedSince: () => 0 },
      },
      valuesOf(config),
    ).findings.map(({ check }: { check: string }) => check);
  expect(found({})).toEqual([]);
  expect(found({ judging: { napMinutes: 4 } })).toEqual(['naps-long']);
});

it('a name without a definition does not compile', () => {
  const list = path.join(copy, 'src/detect/checks/all.ts');
  const all = readFileSync(list, 'utf8');
  writeFileSync(list, all.replace(/.*naps-long.*\n/, ''));
  const built = run('scripts/build.mjs');
  writeFileSync(list, all);
  expect(built.status).not.toBe(0);
  expect(built.stderr + built.stdout).toContain('naps-long');
});
