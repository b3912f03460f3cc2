// A small set of our own, in the words of three clients: made up, and labelled by what a senior engineer who looks over
// the agent's shoulder would say. Each is a way the checks were wrong once, or might be.
import { describe, expect, it } from 'vitest';
import { healthy } from '../../test/runs/made/healthy.ts';
import { lost } from '../../test/runs/made/lost.ts';
import { MadeRun } from '../../test/runs/made/made-run.ts';
import { type MadeFormat, written } from '../../test/runs/made/written.ts';
import { judge } from '../../test/runs/scripted-run.ts';
import { parseTranscriptLine } from '../clients/claude-code/transcript.ts';
import { parseRolloutLine } from '../clients/codex/rollout.ts';
import { parseNeutralLine } from '../clients/neutral-run.ts';
import type { RunEvent } from '../model/run-event.ts';
import { families, familyChecks } from './score.ts';

const formats: MadeFormat[] = ['claude-code', 'codex', 'neutral'];

/** Lost, and nobody says so. What is mended leaves this list. */
const knownMisses: Record<string, string> = {
  'docker: the same step breaks, with new hashes': 'a bare fraction may be a time or a value that gets better',
  'the list of tasks is rewritten and nothing else': 'some clients write down each item of a plan by itself',
  'a filter that matches no test': 'only its words tell it from a check that passes',
  'repeats a query over a changing counter': 'a changed output is what one polls for',
};

function eventsOf(lines: string[], format: MadeFormat): RunEvent[] {
  return lines.flatMap((line, index) => {
    if (format === 'claude-code') {
      const parsed = parseTranscriptLine(line, String(index));
      return parsed.ok ? parsed.events.map((event) => ({ ...event, index, side: parsed.sidechain })) : [];
    }
    const parsed = format === 'codex' ? parseRolloutLine(line, index) : parseNeutralLine(line);
    return parsed.ok ? parsed.events : [];
  });
}

function judged(make: (run: MadeRun) => void, seed: number, format: MadeFormat) {
  const run = new MadeRun(seed);
  make(run);
  const { lines, onset } = written(run, format);
  const events = eventsOf(lines, format);
  expect(events.length).toBeGreaterThan(run.steps.length / 2);
  return { findings: judge(events).map(({ check, index }) => ({ check, index })), onset, trouble: run.trouble };
}

const cases = (table: typeof healthy) => Object.entries(table).map(([name, make], seed) => ({ name, make, seed }));
const isOfFamily = ({ check }: { check: string }) => (familyChecks.loop as readonly string[]).includes(check);

describe.each(formats)('made-up runs, as %s would write them down', (format) => {
  it.each(cases(healthy))('nothing is raised by hard work: $name', ({ make, seed }) => {
    const { findings, trouble } = judged(make, seed, format);
    expect(trouble).toBeNull();
    expect(findings.filter(isOfFamily)).toEqual([]);
  });

  it.each(cases(lost).filter(({ name }) => knownMisses[name] === undefined))('found: $name', ({ make, seed }) => {
    const { findings, onset, trouble } = judged(make, seed, format);
    expect(families.loop).toContain(trouble?.label);
    expect(findings.filter(isOfFamily).map(({ index }) => index >= (onset ?? 0))).toContain(true);
  });

  it.each(cases(lost).filter(({ name }) => knownMisses[name] !== undefined))('missed, known: $name', ({ make, seed }) =>
    expect(judged(make, seed, format).findings.filter(isOfFamily)).toEqual([]),
  );
});

it('the known misses are runs of the set', () => {
  expect(Object.keys(lost)).toEqual(expect.arrayContaining(Object.keys(knownMisses)));
});
