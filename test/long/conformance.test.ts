// `watchkeeper conformance` from beginning to end: on the real client, on one whose registry lies, and on one that does
// not come up.
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { Conformance } from '../clients/conforming.ts';
import { type Scenario, scenario } from '../clients/scenario.ts';
import { standInProgram } from '../system/stand-in.ts';

const runMs = 240_000;
const version = '2.1.325';

test(
  'every signal of the reference version holds, and nothing is left of the run but its result',
  scenario(async (s) => {
    const run = new Conformance(s);
    const { code, stdout, stderr } = await run.ended(runMs);
    expect(stdout, stderr).toMatch(new RegExp(`Every signal holds in Claude Code ${version}`));
    expect(code).toBe(0);
    run.leftNothing();
    const result = run.result(version);
    expect(result?.signals.map(({ source }) => source)).toEqual([
      'registry',
      'hook',
      'transcript',
      'statusline',
      'screen',
    ]);
    for (const { source, holds, said, right, missed } of result?.signals ?? []) {
      expect({ source, holds, missed }).toEqual({ source, holds: true, missed: [] });
      expect(right / said, source).toBeGreaterThan(0.95);
    }
    expect(result?.unplayed).toEqual([]);
    expect(result?.fused.dangerous).toBe(0);
  }),
);

/** Says "idle" wherever the client says "busy". */
function makeRegistryLie(run: Conformance): NodeJS.Timeout {
  return setInterval(() => {
    for (const file of run.registryFiles()) {
      try {
        const text = readFileSync(file, 'utf8');
        if (text.includes('"status":"busy"')) writeFileSync(file, text.replace('"status":"busy"', '"status":"idle"'));
      } catch {
        // Replaced or gone at this moment.
      }
    }
  }, 100);
}

test(
  'a registry that calls a busy client idle is not believed on turns any more; on dialogs, and everything else, is',
  scenario(async (s) => {
    const run = new Conformance(s);
    const lying = makeRegistryLie(run);
    const { code, stdout, stderr } = await run.ended(runMs).finally(() => clearInterval(lying));
    expect(stdout, stderr).toMatch(
      new RegExp(
        `The registry's word on [\\w, ]*turns.* is not used for judging or acting\\s+in Claude Code ${version}`,
      ),
    );
    expect(code).toBe(1);
    run.leftNothing();
    const broken = run.result(version)?.signals.filter(({ holds }) => !holds) ?? [];
    expect(broken.map(({ source }) => source)).toEqual(['registry']);
    expect(broken[0]?.off).toContain('turns');
    expect(broken[0]?.off).not.toContain('dialogs');
    expect(broken[0]?.missed).toContain('thinking: idle');
    expect(broken[0]?.missed).not.toContain('permission dialog: idle');
  }),
);

test(
  'a client that does not come up is no result: nothing is written, nothing is left',
  scenario(async (s: Scenario) => {
    const run = new Conformance(s, ['--program', standInProgram(s), '--json']);
    const { code, stdout } = await run.ended(runMs);
    expect(code).toBe(6);
    expect(JSON.parse(stdout)).toMatchObject({ v: 1, error: { code: 'timeout' } });
    run.leftNothing();
    expect(run.result(version)).toBeNull();
  }),
);

/** In the place of the client, a script that asks the proxy it was given for something outside. */
function curiousProgram(s: Scenario): string {
  const program = standInProgram(s);
  const lines = [
    '#!/bin/bash',
    'exec 3<>"/dev/tcp/127.0.0.1/$(cut -d: -f3 <<< "$HTTP_PROXY")"',
    "printf 'GET http://example.invalid/ HTTP/1.0\\r\\n\\r\\n' >&3",
    'cat <&3',
  ];
  rmSync(program);
  writeFileSync(program, `${lines.join('\n')}\n`, { mode: 0o755 });
  return program;
}

test(
  'a client that tries to reach anything beyond loopback fails the run',
  scenario(async (s: Scenario) => {
    const run = new Conformance(s, ['--program', curiousProgram(s)]);
    const { code, stderr } = await run.ended(runMs);
    expect(stderr).toMatch(/the client tried to reach GET http:\/\/example\.invalid\//);
    expect(code).toBe(1);
    run.leftNothing();
    expect(run.result(version)).toBeNull();
  }),
);
