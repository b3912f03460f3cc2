// What judging costs while agents are at work: the daemon's own way from a line of a transcript to a view, its rows and its findings,
// without files, tmux and database.
import { claudeCode } from '../dist/clients/claude-code/client.js';
import { valuesOf } from '../dist/detect/checks.js';
import { examine } from '../dist/detect/health.js';
import { Counters } from '../dist/model/counters.js';
import { AgentInbox } from '../dist/watch/agent-inbox.js';
import { WatchedAgent } from '../dist/watch/watched-agent.js';
import { transcriptLines } from './transcript.mjs';

const agents = 1_000;
const recordsPerSecond = 10;
const looksPerSecond = 2;
const simulatedSeconds = 20;
const sessions = 8;
const longRecords = 100_000;
const limits = valuesOf();

/** A watched agent whose transcript is handed in. */
function openAgent(place) {
  const process = {
    pid: 1_000 + place,
    startTicks: String(place),
    ppid: 1,
    uid: 0,
    command: 'claude',
    runState: 'S',
    processGroup: place,
    terminalGroup: place,
  };
  const sessionId = `00000000-0000-4000-8000-${String(place).padStart(12, '0')}`;
  let lines = [];
  let offset = 0;
  let restarted = true;
  let atMs = 0;
  const follower = {
    registeredSession: sessionId,
    poll() {
      const events = [];
      for (const line of lines) {
        const parsed = claudeCode.sources.record.parseLine(line, String(offset));
        offset += line.length + 1;
        if (!parsed.ok) throw new Error('a made-up line could not be read');
        for (const event of parsed.events) {
          events.push({ event, offset });
          atMs = Math.max(atMs, event.atMs);
        }
      }
      const entry = {
        pid: process.pid,
        startTicks: process.startTicks,
        sessionId,
        cwd: '/home/user/project',
        version: '2.1.325',
        startedAtMs: 0,
        interactive: true,
        activity: 'busy',
        sinceMs: atMs,
      };
      const observation = {
        alive: true,
        suspended: false,
        seenAtMs: atMs,
        registry: { entry, seenAtMs: atMs },
        sessionId,
        restarted,
        transcript: {
          path: `/home/user/.claude/projects/p/${sessionId}.jsonl`,
          inode: '1',
          size: offset,
          seenAtMs: atMs,
        },
        events,
        compactAskedMs: null,
        registryLeft: false,
        trouble: { registry: null, transcript: null },
        more: false,
      };
      restarted = false;
      return observation;
    },
  };
  const agent = new WatchedAgent({
    name: `agent${place}`,
    host: { id: 'host', name: 'host' },
    seen: { client: claudeCode, process, configDir: '/home/user/.claude', place: null },
    follower,
    subagents: { poll: () => new Map() },
    inbox: new AgentInbox(new Counters()),
    startedAtMs: 0,
    authority: () => 'observe',
    stored: null,
    told: () => {},
    hooked: () => {},
    broken: () => new Set(),
    bands: () => [30, 50, 70, 85],
    limits: () => limits,
  });
  return (more) => {
    lines = more;
    const { events } = agent.look(atMs, { inbox: [], screen: null, process, taken: () => new Set() });
    const { view, loops } = agent;
    const asked = { unansweredSinceMs: null, answerMs: 30_000, completion: null, missedSince: () => 0 };
    const { findings } = examine({ view, nowMs: atMs, loops, ...asked }, limits);
    return { rows: events.length, findings: findings.length };
  };
}

function take(source, count) {
  const lines = [];
  for (const line of source) {
    lines.push(line);
    if (lines.length === count) break;
  }
  return lines;
}

function cpuMs() {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
}

/** So many agents at work at once: the share of one core they take, and what they hold in memory. */
function manyAgents() {
  const perLook = recordsPerSecond / looksPerSecond;
  const needed = simulatedSeconds * recordsPerSecond;
  const pools = Array.from({ length: sessions }, (_, seed) => take(transcriptLines(seed + 1), needed * 5));
  global.gc?.();
  const heldBefore = process.memoryUsage().heapUsed;
  const looks = Array.from({ length: agents }, (_, place) => openAgent(place));
  const usedMs = [];
  for (let turn = 0; turn < simulatedSeconds * looksPerSecond; turn += 1) {
    const began = cpuMs();
    for (const [place, look] of looks.entries()) {
      const pool = pools[place % sessions];
      const from = ((place * 7) % (needed * 4)) + turn * perLook;
      look(pool.slice(from, from + perLook));
    }
    usedMs.push(cpuMs() - began);
  }
  global.gc?.();
  const heldMb = (process.memoryUsage().heapUsed - heldBefore) / 1e6;
  // Still in use, so that they are counted.
  for (const look of looks) look([]);
  const settled = usedMs.slice(usedMs.length / 2);
  const share = settled.reduce((sum, ms) => sum + ms, 0) / settled.length / (1000 / looksPerSecond);
  return { share, heldMb, rssMb: process.memoryUsage().rss / 1e6 };
}

/** One session without an end: microseconds per record, in its first tenth and in its last. */
function longSession() {
  const perLook = 5;
  const warm = openAgent(1);
  const before = transcriptLines(99);
  for (let count = 0; count < 20_000; count += perLook) warm(nextLines(before, perLook));
  const look = openAgent(2);
  const source = transcriptLines(7);
  const tenths = Array.from({ length: 10 }, () => 0);
  for (let count = 0; count < longRecords; count += 1_000) {
    const batches = Array.from({ length: 1_000 / perLook }, () => nextLines(source, perLook));
    const began = cpuMs();
    for (const lines of batches) look(lines);
    tenths[Math.floor((count * 10) / longRecords)] += cpuMs() - began;
  }
  const perRecord = tenths.map((ms) => (ms * 1000) / (longRecords / 10));
  return { first: perRecord[0], last: perRecord[9] };
}

function nextLines(source, count) {
  return Array.from({ length: count }, () => source.next().value);
}

export function judgingLines() {
  process.stderr.write(`bench: judging, ${agents} agents\n`);
  const { share, heldMb, rssMb } = manyAgents();
  process.stderr.write(`bench: judging, a session of ${longRecords} records\n`);
  const { first, last } = longSession();
  return [
    '## Judging',
    '',
    'From a line of a transcript (2.7 KB in the mean) to the view of its agent, its rows and its findings, as the daemon does it, without files, tmux and',
    `database. ${agents} agents at work write ${recordsPerSecond} records a second each and are looked at ${looksPerSecond} times a second.`,
    '',
    '| what | |',
    '|---|---|',
    `| share of one core for ${agents} agents | ${(share * 100).toFixed(0)} % |`,
    `| held in memory for each of them | ${((heldMb * 1000) / agents).toFixed(0)} KB |`,
    `| memory of the whole process at its end | ${rssMb.toFixed(0)} MB |`,
    `| one record in the first tenth of a session of ${longRecords} records | ${first.toFixed(0)} µs |`,
    `| one record in its last tenth | ${last.toFixed(0)} µs |`,
  ];
}
