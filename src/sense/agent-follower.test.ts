// Input that is broken, huge or hostile changes a counter: what is known of the agent is what the good lines alone say.
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { claudeCode } from '../clients/claude-code/client.ts';
import { newSession, takeEvent } from '../detect/session.ts';
import { Counters } from '../model/counters.ts';
import type { ProcessInfo } from '../model/world.ts';
import { AgentFollower, type Observation } from './agent-follower.ts';
import { ownFiles } from './files.ts';
import type { SeenAgent } from './fleet.ts';
import { TypedCommands } from './typed-commands.ts';

const session = '0b7e8a52-0000-4000-8000-000000000000';
const nowMs = Date.parse('2026-11-18T12:00:00Z');
const info: ProcessInfo = {
  ...{ bootId: 'b', pid: 7, startTicks: '70', ppid: 1, uid: 1, command: 'claude', runState: 'S' },
  ...{ processGroup: 7, terminal: 34_817, terminalGroup: 7 },
};

let dir: string;
let registry: string;
let transcript: string;

beforeEach(() => {
  dir = mkdtempSync(path.join(os.tmpdir(), 'wk-follower-'));
  mkdirSync(path.join(dir, 'sessions'));
  mkdirSync(path.join(dir, 'projects', '-p'), { recursive: true });
  registry = path.join(dir, 'sessions', '7.json');
  transcript = path.join(dir, 'projects', '-p', `${session}.jsonl`);
  write({});
});
afterEach(() => rmSync(dir, { recursive: true, force: true }));

function write(more: object): void {
  const entry = { pid: 7, procStart: '70', sessionId: session, cwd: '/p', status: 'busy', statusUpdatedAt: nowMs };
  writeFileSync(registry, JSON.stringify({ ...entry, ...more }));
}

function follower() {
  const files = ownFiles(process.getuid?.() ?? 0);
  const counters = new Counters();
  const processes = { info: () => info, startedAtMs: () => 0, directory: () => '/p', uid: 1 } as never;
  const clock = { nowMs: () => nowMs, monotonicMs: () => nowMs };
  const sources = { processes, files, clock, counters, typed: new TypedCommands(files) };
  const one = new AgentFollower(sources, { client: claudeCode, process: info, configDir: dir } as SeenAgent);
  const look = () => {
    const seen: Observation['events'] = [];
    for (;;) {
      const observation = one.poll({ told: null, taken: () => null }, info);
      seen.push(...observation.events);
      if (!observation.more) return { ...observation, events: seen };
    }
  };
  return { look, counters };
}

const record = (type: string, n: number, more: object) =>
  JSON.stringify({
    type,
    uuid: `u${n}`,
    sessionId: session,
    timestamp: new Date(nowMs - 60_000 + n).toISOString(),
    ...more,
  });
const good = [
  record('user', 1, { message: { role: 'user', content: 'fix it' } }),
  record('assistant', 2, {
    message: {
      id: 'm',
      model: 'claude-sonnet-4-5',
      content: [{ type: 'tool_use', id: 't', name: 'Bash', input: { command: 'ls' } }],
    },
  }),
  record('user', 3, { message: { role: 'user', content: [{ type: 'tool_result', tool_use_id: 't', content: 'a' }] } }),
];

/** What is known by these lines. */
function known(lines: (string | Buffer)[]) {
  writeFileSync(transcript, Buffer.concat(lines.flatMap((line) => [Buffer.from(line), Buffer.from('\n')])));
  const { look, counters } = follower();
  const { events, registry: entry, sessionId } = look();
  const facts = newSession();
  for (const { event } of events) takeEvent(facts, event);
  return {
    facts,
    told: events.map(({ event }) => event.fact.kind),
    activity: entry?.entry.activity,
    sessionId,
    counters,
  };
}

const hostile: [string, string | Buffer][] = [
  ['bytes that are no text', Buffer.from([0xff, 0xfe, 0x00, 0x80])],
  ['half a record', good[1]?.slice(0, 60) ?? ''],
  ['what is no object', '[1, 2, 3]'],
  ['a word', 'null'],
  ['nesting without end', `${'['.repeat(100_000)}${']'.repeat(100_000)}`],
  ['a kind nobody knows', record('__proto__', 9, { message: { content: 'x' } })],
  ['a line beyond every limit', 'x'.repeat(17 * 1024 * 1024)],
];

describe('a transcript with lines that are no records', () => {
  it.each(hostile)('says what its good lines say: %s', (_what, line) => {
    const clean = known(good);
    expect(clean.told).toEqual(expect.arrayContaining(['prompt', 'tool-call', 'tool-result']));
    const between = known(good.flatMap((each) => [line, each]));
    expect(between.told).toEqual(clean.told);
    expect(between.facts).toEqual(clean.facts);
    expect([between.activity, between.sessionId]).toEqual(['busy', session]);
  });

  it.each(hostile.filter(([what]) => !/kind/.test(what)))('counts them: %s', (what, line) => {
    const { counters } = known([...good, line]);
    const name = /beyond/.test(what) ? 'transcript.oversized' : 'transcript.invalid-line';
    expect(counters.all()).toMatchObject({ [name]: 1 });
  });
});

describe('a record whose last line cannot be read', () => {
  it('is in trouble until the next good one: nobody knows what was said last', () => {
    const { look } = follower();
    const good = `${record('user', 1, { message: { role: 'user', content: 'do it' } })}\n`;
    writeFileSync(transcript, good);
    expect(look().trouble.transcript).toBeNull();
    writeFileSync(transcript, `${good}{"half": \n`);
    expect(look().trouble.transcript).toBe('its last line cannot be read');
    writeFileSync(transcript, `${good}{"half": \n${good}`);
    expect(look().trouble.transcript).toBeNull();
  });
});

describe('a registry entry that cannot be believed', () => {
  const broken: [string, string, string][] = [
    ['half written', '{"pid": 7, "proc', 'registry.invalid'],
    ['no object', '[]', 'registry.invalid'],
    ['binary', '\u0000\u0001', 'registry.invalid'],
    ['huge', `{"pid":7,"x":"${'x'.repeat(8 * 1024 * 1024)}"}`, 'registry.too-big'],
  ];
  it.each(broken)('%s: counted, and the last word stands', (_what, text, counter) => {
    const { look, counters } = follower();
    expect(look().registry?.entry.activity).toBe('busy');
    writeFileSync(registry, text);
    expect(look()).toMatchObject({ registry: { entry: { activity: 'busy' } }, sessionId: session });
    expect(counters.all()).toMatchObject({ [counter]: 1 });
  });

  it.each<[string, object]>([
    ['of another process', { pid: 8 }],
    ['of one that had its pid before', { procStart: '60' }],
  ])('%s: its word does not count', (_what, more) => {
    write({ ...more, status: 'idle' });
    const { look, counters } = follower();
    expect(look().registry).toBeNull();
    expect(counters.all()).toMatchObject({ 'registry.other-process': 1 });
  });

  it('a status nobody knows is unclear, not idle', () => {
    write({ status: 'pondering' });
    expect(follower().look().registry?.entry.activity).toBe('unclear');
  });

  it('a time that has not come yet is now', () => {
    write({ statusUpdatedAt: nowMs + 86_400_000 });
    expect(follower().look().registry?.entry.sinceMs).toBe(nowMs);
  });
});
