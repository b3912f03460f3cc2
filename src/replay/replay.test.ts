import { mkdirSync, mkdtempSync, rmSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { gzipSync } from 'node:zlib';
import { afterAll, describe, expect, it } from 'vitest';
import { defaultConfig } from '../config/schema.ts';
import { readRun } from './read-run.ts';
import { findRecords, ownHistory } from './records.ts';
import { judgeLimits, type ReplayLine, replayFile } from './replay.ts';
import { replayAll } from './totals.ts';

const folder = mkdtempSync(path.join(tmpdir(), 'wk-replay-'));
afterAll(() => rmSync(folder, { recursive: true }));
const limits = judgeLimits(defaultConfig());
const nowMs = Date.parse('2026-11-16T00:00:00Z');

async function replay(name: string, content: string | Buffer, given = limits, sinceMs: number | null = null) {
  const file = path.join(folder, name);
  writeFileSync(file, content);
  const lines: ReplayLine[] = [];
  return {
    done: await replayFile({ file, name }, { limits: given, sinceMs, nowMs }, (line) => lines.push(line)),
    lines,
  };
}

function neutral(records: object[]): string {
  return records.map((record, i) => JSON.stringify({ i, src_index: i, side: false, ...record })).join('\n');
}

/** The same command over and over, with these outputs, as Claude Code writes it. */
function transcript(outputs: string[]): string {
  let seconds = 0;
  const record = (more: object) => {
    seconds += 1;
    const timestamp = new Date(1_772_359_200_000 + seconds * 1000).toISOString();
    return JSON.stringify({ parentUuid: 'p', sessionId: 's', ...more, uuid: `u${seconds}`, timestamp });
  };
  const steps = outputs.flatMap((content, at) => {
    const call = { type: 'tool_use', id: `t${at}`, name: 'Bash', input: { command: 'make' } };
    const result = { tool_use_id: `t${at}`, type: 'tool_result', content };
    return [
      record({ type: 'assistant', message: { model: 'm', id: `m${at}`, content: [call], stop_reason: 'tool_use' } }),
      record({ type: 'user', message: { role: 'user', content: [result] }, toolUseResult: { stdout: content } }),
    ];
  });
  return [record({ type: 'user', message: { role: 'user', content: 'go' } }), ...steps].join('\n');
}

const question = [
  { kind: 'user', text: 'go', ts: 1_000 },
  { kind: 'tool_call', tool: 'AskUserQuestion', call_id: 'a', args_hash: 'x', ts: 1_001 },
  { kind: 'tool_result', call_id: 'a', is_error: false, out_hash: 'y', out_len: 3, text: 'yes', ts: 1_001 + 420 },
];

describe('replay', () => {
  it('tells states and findings in order, and the summary last', async () => {
    const { lines } = await replay('q.ndjson', neutral(question));
    expect(
      lines.map((line) =>
        'state' in line ? line.state : 'finding' in line ? `${line.event} ${line.finding.check}` : 'summary',
      ),
    ).toEqual(['working', 'waiting', 'open waiting-human', 'close waiting-human', 'working', 'summary']);
    expect(lines[2]).toMatchObject({
      v: 1,
      index: 1,
      at: '1970-01-01T00:22:41.000Z',
      finding: { since: '1970-01-01T00:16:41.000Z', action: null },
    });
  });

  it('reads gzipped files, and other thresholds give other findings', async () => {
    const { waiting, ...rest } = defaultConfig();
    const patient = judgeLimits({ ...rest, waiting: { ...waiting, notifyMinutes: 10 } });
    expect((await replay('q.ndjson.gz', gzipSync(neutral(question)))).done).toMatchObject({
      value: { findings: { 'waiting-human': 1 } },
    });
    const { done } = await replay('q.ndjson.gz', gzipSync(neutral(question)), patient);
    expect(done.ok && done.value.findings).toEqual({});
  });

  it('counts broken lines, lines that come twice, orphan results and a clock that goes back', async () => {
    const odd = [...question, { kind: 'tool_result', call_id: 'zz', is_error: true, out_hash: 'q', out_len: 0, ts: 5 }];
    const twice = `${neutral(odd)}\n{"half":\n${neutral(odd)}\n\u0000\n`;
    expect((await replay('odd.ndjson', twice)).done).toMatchObject({
      value: {
        malformed: 2,
        findings: { 'waiting-human': 1 },
        set_aside: { orphan_results: 1, clock_back: 1, repeated_events: 4 },
      },
    });
  });

  it('a run without times has findings but no silences', async () => {
    const timeless = question.map(({ ts: _, ...record }) => record);
    const { done } = await replay('t.ndjson', neutral(timeless));
    expect(done.ok && [done.value.findings, done.value.open_turn_s]).toEqual([{}, 0]);
  });

  it.each([
    ['as they are', (text: string) => text, 'jsonl'],
    ['packed', gzipSync, 'jsonl.gz'],
  ])('long outputs, %s, are compared to their end', async (_, packed, ending) => {
    // Longer together than what is read at once.
    const all = Array.from({ length: 400 }, (_, at) => `line ${at} of a long → output `).join('\n');
    const equal = transcript(Array.from({ length: 150 }, () => `${all} the end`));
    const others = transcript(Array.from({ length: 150 }, (_, at) => `${all} the end of ${at}`));
    expect((await replay(`equal.${ending}`, packed(equal))).done).toMatchObject({
      value: { findings: { looping: 1 } },
    });
    expect((await replay(`others.${ending}`, packed(others))).done).toMatchObject({ value: { findings: {} } });
  });

  it('a line that never ends is left out', async () => {
    const long = `${neutral(question)}\n${JSON.stringify({ src_index: 9, kind: 'user', text: 'x'.repeat(17_000_000) })}\n${neutral([{ kind: 'user', text: 'x', i: 77 }])}`;
    expect((await replay('long.ndjson', long)).done).toMatchObject({ value: { oversized: 1, malformed: 0, lines: 5 } });
  });

  it('says what it cannot read', async () => {
    expect(
      await replayFile({ file: path.join(folder, 'none'), name: 'none' }, { limits, sinceMs: null, nowMs }, () => {}),
    ).toMatchObject({ reason: 'not-found' });
    expect(await replayFile({ file: folder, name: 'x' }, { limits, sinceMs: null, nowMs }, () => {})).toMatchObject({
      reason: 'unreadable',
    });
    expect((await replay('cut.gz', Buffer.from('1f8b0800', 'hex'))).done).toMatchObject({ reason: 'unreadable' });
    expect((await replay('text.txt', 'a\nb\n')).done).toMatchObject({ reason: 'unknown-format' });
  });

  it('with a time given, only what was told since is told and counted', async () => {
    const asked = (at: number, id: string) => [
      { kind: 'user', text: 'go', ts: at },
      { kind: 'tool_call', tool: 'AskUserQuestion', call_id: id, args_hash: id, ts: at + 1 },
      { kind: 'tool_result', call_id: id, is_error: false, out_hash: id, out_len: 3, text: id, ts: at + 421 },
      { kind: 'end', ts: at + 422 },
    ];
    const run = neutral([...asked(1_000, 'a'), ...asked(100_000, 'b')]);
    const { done, lines } = await replay('since.ndjson', run, limits, 50_000_000);
    expect(done).toMatchObject({
      value: { lines: 4, events: 4, steps: 1, findings: { 'waiting-human': 1 }, open_turn_s: 422 },
    });
    expect(lines.every((line) => 'summary' in line || (line.at ?? '') > '1970-01-01T13:00')).toBe(true);
    // A turn that was open then counts from then on.
    const within = await replay('since.ndjson', run, limits, 100_221_000);
    expect(within.done).toMatchObject({ value: { findings: { 'waiting-human': 1 }, open_turn_s: 201 } });
    const nothing = await replay('since.ndjson', run, limits, 900_000_000);
    expect(nothing.lines).toHaveLength(1);
    expect(nothing.done).toMatchObject({ value: { lines: 0, events: 0, steps: 0, open_turn_s: 0 } });
    expect(nothing.done.ok && nothing.done.value.findings).toEqual({});
  });
});

describe('folders of records', () => {
  const home = path.join(folder, 'home');
  const session = path.join(home, '.claude/projects/p/one.jsonl');
  const rollout = path.join(home, '.codex/sessions/2026/rollout-1.jsonl');

  function history() {
    for (const file of [session, rollout]) mkdirSync(path.dirname(file), { recursive: true });
    writeFileSync(session, neutral(question));
    writeFileSync(rollout, neutral(question));
    writeFileSync(path.join(path.dirname(session), 'notes.jsonl'), 'no record\n'.repeat(60));
    writeFileSync(path.join(path.dirname(session), 'notes.txt'), 'text');
    symlinkSync(home, path.join(path.dirname(session), 'circle'));
    utimesSync(rollout, 1_000, 1_000);
    return ownHistory(home, () => [path.join(folder, 'nowhere')]);
  }

  it("the user's own history is found, added up, and what is no record counted", async () => {
    const found = findRecords(history(), null);
    if (!found.ok) throw new Error(found.message);
    expect(found.value.jobs.map(({ name }) => name).sort()).toEqual([
      '2026/rollout-1.jsonl',
      'p/notes.jsonl',
      'p/one.jsonl',
    ]);
    const parts: string[] = [];
    const options = { limits, sinceMs: null, nowMs, json: false, states: false };
    const done = await replayAll(found.value.jobs, options, (job, part) => {
      if ('lines' in part) parts.push(`${job.name} ${part.lines.length}`);
    });
    expect(done).toMatchObject({
      value: { files: 2, unreadable: 1, lines: 6, steps: 2, findings: { 'waiting-human': 2 } },
    });
    expect(parts.sort()).toEqual(['2026/rollout-1.jsonl 3', 'p/one.jsonl 3']);
    // What was last written before that time can have nothing since.
    const since = findRecords([path.join(home, '.codex')], 2_000_000);
    expect(since).toMatchObject({ ok: true, value: { jobs: [], closed: 0 } });
  });

  it('a record that is named and cannot be read ends it', async () => {
    const file = path.join(folder, 'named.txt');
    writeFileSync(file, 'text\n');
    const found = findRecords([file], null);
    if (!found.ok) throw new Error(found.message);
    const options = { limits, sinceMs: null, nowMs, json: true, states: true };
    expect(await replayAll(found.value.jobs, options, () => {})).toMatchObject({ ok: false, reason: 'unknown-format' });
    expect(findRecords([path.join(folder, 'gone')], null)).toMatchObject({ ok: false, reason: 'not-found' });
    const empty = path.join(folder, 'empty.jsonl');
    writeFileSync(empty, '');
    expect(await readRun(empty, () => {})).toMatchObject({ ok: false, message: `${empty} is empty` });
  });
});

describe('the word for "done"', () => {
  const done = neutral([
    { kind: 'user', text: 'go', ts: 1_000 },
    { kind: 'assistant', text: 'It is done.', stop: 'end_turn', ts: 1_010 },
  ]);
  const findingsWith = async (completion: { match: string; signal: string }[]) => {
    const { judging, ...rest } = defaultConfig();
    const given = judgeLimits({ ...rest, judging: { ...judging, completion } });
    const result = (await replay('done.ndjson', done, given)).done;
    return result.ok ? result.value.findings : null;
  };

  it('is missed where every agent has agreed on it', async () => {
    expect(await findingsWith([{ match: '*', signal: 'READY' }])).toEqual({ 'completion-missing': 1 });
    expect(await findingsWith([{ match: '*', signal: 'It is done.' }])).toEqual({});
  });

  it('is not where nobody has, or only some: a record does not tell whose it is', async () => {
    expect(await findingsWith([])).toEqual({});
    expect(await findingsWith([{ match: 'batch-*', signal: 'READY' }])).toEqual({});
  });
});
