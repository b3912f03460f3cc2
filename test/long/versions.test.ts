// Four versions of the last months: each is taken through `conformance`, which comes to a verdict whatever it cannot play,
// and hands its context over. docs/reports/versions.md has the figures. The versions are brought into .clients/ by the test.
import { type ExecFileSyncOptionsWithStringEncoding, execFileSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, expect, test } from 'vitest';
import type { HandoffDocument } from '../../src/handoff/documents.ts';
import type { ConformanceResult } from '../../src/watch/conformance-results.ts';
import { launchAgent } from '../clients/agent.ts';
import { Conformance } from '../clients/conforming.ts';
import { ended, Handing, wholeWay } from '../clients/handing-over.ts';
import { scenario } from '../clients/scenario.ts';

const root = path.join(path.dirname(fileURLToPath(import.meta.url)), '../..');
const quiet: ExecFileSyncOptionsWithStringEncoding = { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] };
const install = (version: string) =>
  execFileSync(process.execPath, [path.join(root, 'scripts/install-clients.mjs'), version], quiet).trim();
const newest = () => execFileSync('npm', ['view', '@anthropic-ai/claude-code', 'version'], quiet).trim();

const versions = ['2.1.200', '2.1.250', '2.1.300', 'the newest'];
/** It says that it waits for the service of its own service only, and there is none here. */
const cannotBePlayed = new Map([['2.1.200', ['all: stall', 'bare: stall']]]);
const verdicts = new Map<string, ConformanceResult>();
const handoffs = new Map<string, HandoffDocument>();

const programs = new Map<string, { version: string; program: string }>();
function bring(name: string): { version: string; program: string } {
  const version = name === 'the newest' ? newest() : name;
  const known = programs.get(name) ?? { version, program: install(version) };
  programs.set(name, known);
  return known;
}

test.each(versions)(
  'Claude Code %s: a verdict, whatever it cannot be taken through',
  async (name) => {
    const { version, program } = bring(name);
    await scenario(async (s) => {
      const run = new Conformance(s, ['--program', program]);
      const { code, stdout, stderr } = await run.ended(700_000);
      const result = run.result(version);
      expect(result, stdout + stderr).not.toBeNull();
      if (result === null) return;
      verdicts.set(version, result);
      expect(code).toBe(result.signals.every(({ holds }) => holds) ? 0 : 1);
      expect(result.fused.dangerous, stdout).toBe(0);
      const unplayed = result.unplayed.map(({ scenario: what }) => what);
      expect(unplayed).toEqual(expect.arrayContaining(cannotBePlayed.get(name) ?? []));
      run.leftNothing();
    })();
  },
  900_000,
);

test.each(versions)(
  'Claude Code %s is handed over to a fresh context',
  async (name) => {
    const { version, program } = bring(name);
    await scenario(async (s) => {
      const agent = await launchAgent({
        scenario: s,
        session: 'old-ps',
        program,
        shell: 'bash',
        permissionMode: 'auto',
      });
      const model = new Handing(agent);
      await agent.waitReady(60_000);
      const up = await s.watchkeeper(['up', '--detach', '--tmux-socket', s.tmux.socket]);
      expect(up.code, up.stderr).toBe(0);
      await s.until('seen', async () => (await s.watchkeeper(['status', 'old-ps'])).code === 0);
      await model.fill(40);
      await agent.waitStatus('idle', 60_000);
      await s.watchkeeper(['handoff', 'old-ps']);
      const handoff = await ended(s, 'old-ps', 1, 240_000);
      handoffs.set(version, handoff);
      expect(handoff).toMatchObject({ step: 'done', reason: null });
      expect(handoff.steps.map(({ step }) => step)).toEqual(wholeWay);
    })();
  },
  600_000,
);

afterAll(() => {
  const rows = [...programs.values()].map(({ version }) => {
    const verdict = verdicts.get(version);
    const handoff = handoffs.get(version);
    const off = verdict?.signals.flatMap(({ source, off }) => off.map((fact) => `${source}: ${fact}`)) ?? [];
    const missed = verdict?.signals.flatMap(({ source, missed }) => missed.map((what) => `${source}: ${what}`)) ?? [];
    const unplayed = verdict?.unplayed.map(({ scenario }) => scenario) ?? [];
    const right = verdict === undefined ? '-' : `${verdict.fused.right} of ${verdict.fused.said}`;
    const list = (words: string[]) => (words.length === 0 ? '-' : words.join('<br>'));
    const end = handoff === undefined ? '-' : `${handoff.step}${handoff.reason === null ? '' : `: ${handoff.reason}`}`;
    return `| ${version} | ${right} | ${list(off)} | ${list(missed)} | ${list(unplayed)} | ${end} |`;
  });
  const text = [
    '# What older versions of Claude Code tell, and how a handoff on them ends',
    '',
    'Written by `test/long/versions.test.ts`: `watchkeeper conformance` and one handoff on each.',
    '',
    '| version | right, all sources together | switched off | missed | not played | handoff |',
    '|---|---|---|---|---|---|',
    ...rows,
    '',
  ].join('\n');
  const folder = path.join(root, process.env.WATCHKEEPER_REPORTS ?? 'test-results');
  mkdirSync(folder, { recursive: true });
  writeFileSync(path.join(folder, 'versions.md'), text);
});
