import { spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { cost } from '../../bench/measure.mjs';
import { writeTranscript } from '../../bench/transcript.mjs';

const program = path.resolve(import.meta.dirname, '../../bin/watchkeeper');

function emptyHome() {
  const home = mkdtempSync(path.join(tmpdir(), 'wk-replay-'));
  onTestFinished(() => rmSync(home, { recursive: true, force: true }));
  return { home, env: { HOME: home, PATH: path.dirname(process.execPath) } };
}

async function output(args: string[], env: Record<string, string>): Promise<string> {
  const child = spawn(process.execPath, [program, ...args], { env, stdio: ['ignore', 'pipe', 'inherit'] });
  let text = '';
  for await (const chunk of child.stdout) text += chunk;
  return text;
}

test('a transcript of a gigabyte is read in little memory', async () => {
  const { home, env } = emptyHome();
  const file = path.join(home, 'long.jsonl');
  writeTranscript(file, 1_000_000_000, 3);
  const { peakMb } = await cost([process.execPath, program, 'replay', '--json', file], env);
  console.log(`a transcript of 1 GB: ${peakMb.toFixed(0)} MB at most`);
  expect(peakMb).toBeGreaterThan(0);
  expect(peakMb).toBeLessThan(400);
});

test('several threads say the same as one, in the order of the records', async () => {
  const { home, env } = emptyHome();
  const folder = path.join(home, '.claude/projects/p');
  mkdirSync(folder, { recursive: true });
  const files = [150, 40, 110].map((megabytes, index) => {
    const file = path.join(folder, `${index}.jsonl`);
    writeTranscript(file, megabytes * 1_000_000, index + 1);
    return file;
  });
  const together = (await output(['replay', '--json', ...files], env)).trimEnd().split('\n');
  const alone: string[] = [];
  for (const file of files) alone.push(...(await output(['replay', '--json', file], env)).trimEnd().split('\n'));
  const total = JSON.parse(together.pop() ?? '') as { summary: { files: number; lines: number } };
  expect(together).toEqual(alone);
  const lines = files.reduce((sum, file) => sum + readFileSync(file, 'latin1').split('\n').length - 1, 0);
  expect(total.summary).toMatchObject({ files: 3, lines, malformed: 0 });
  // No path at all: the same records, found in the home.
  const own = (await output(['replay', '--json'], env)).trimEnd().split('\n');
  expect(JSON.parse(own.at(-1) ?? '')).toEqual(total);
});
