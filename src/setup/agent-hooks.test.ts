import { appendFileSync, mkdirSync, mkdtempSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { agentView } from '../../test/runs/agent-view.ts';
import { claudeCode } from '../clients/claude-code/client.ts';
import { eventsFor } from '../clients/claude-code/event-versions.ts';
import { addToSettings } from '../clients/claude-code/settings.ts';
import { findHome } from '../home/home.ts';
import type { AgentView } from '../model/agent.ts';
import { ownFiles } from '../sense/files.ts';
import { AgentHooksLook } from './agent-hooks.ts';

let dir = '';
let look: AgentHooksLook;
let nowMs = 0;
const settingsMs = Date.parse('2026-01-02T00:00:00Z');

beforeEach(() => {
  dir = mkdtempSync(path.join(tmpdir(), 'wk-hooks-'));
  for (const folder of ['home/.claude', 'project/.claude', 'data'])
    mkdirSync(path.join(dir, folder), { recursive: true });
  const clock = { nowMs: () => nowMs, monotonicMs: () => nowMs };
  look = new AgentHooksLook({
    home: home(),
    files: ownFiles(process.getuid?.() ?? 0),
    clock,
  });
});
afterEach(() => rmSync(dir, { recursive: true, force: true }));

const home = () => findHome({ WATCHKEEPER_HOME: path.join(dir, 'data') });

/** As `init` leaves the settings for this version. */
function installed(file: string, version: string, before = '{}'): void {
  const wanted = {
    script: path.join(home().hooksDir, 'claude-code.sh'),
    events: eventsFor(version),
    statusLine: 'chain',
    below: null,
  } as const;
  const after = addToSettings(before, wanted);
  if (!after.ok) throw new Error(after.message);
  put(file, after.value);
}

function put(file: string, text: string): void {
  const place = path.join(dir, file);
  writeFileSync(place, text);
  utimesSync(place, settingsMs / 1000, settingsMs / 1000);
}

const says = (permissionMode: string) =>
  appendFileSync(
    path.join(dir, 'transcript.jsonl'),
    `${JSON.stringify({ type: 'user', permissionMode, message: {} })}\n`,
  );

function agent(changes: Partial<AgentView> = {}) {
  const view = agentView('idle', null, 1, {
    cwd: path.join(dir, 'project'),
    clientVersion: '2.1.327',
    transcript: path.join(dir, 'transcript.jsonl'),
    authority: 'manage',
    startedAtMs: settingsMs + 1,
    ...changes,
  });
  return { view, seen: { client: claudeCode, configDir: path.join(dir, 'home/.claude') } };
}

const waits = (changes: Partial<AgentView> = {}) => look.of(agent(changes)).handoffWaits;

it.each<[boolean, string, () => void]>([
  [true, 'manual mode and no hooks', () => says('default')],
  [false, 'a mode in which it writes', () => says('acceptEdits')],
  [false, 'no word about the mode yet', () => {}],
  [
    false,
    'a mode that was changed',
    () => {
      says('default');
      says('auto');
    },
  ],
  [
    true,
    'a mode that was changed back',
    () => {
      says('auto');
      says('default');
    },
  ],
  [
    false,
    'hooks for its directory',
    () => {
      says('default');
      installed('project/.claude/settings.local.json', '2.1.200');
    },
  ],
  [
    false,
    'hooks for all of the user',
    () => {
      says('default');
      installed('home/.claude/settings.json', '2.1.327');
    },
  ],
  [
    true,
    'hooks without that one',
    () => {
      says('default');
      installed('home/.claude/settings.json', '2.0.10');
    },
  ],
  [
    true,
    'hooks that are switched off',
    () => {
      says('default');
      installed('home/.claude/settings.json', '2.1.327', '{"disableAllHooks":true}');
    },
  ],
  [
    false,
    'leave to write',
    () => {
      says('default');
      put('home/.claude/settings.json', '{"permissions":{"allow":["Write"]}}');
    },
  ],
  [
    true,
    'leave for something else',
    () => {
      says('default');
      put('home/.claude/settings.json', '{"permissions":{"allow":["Bash(ls)"]}}');
    },
  ],
])('a handoff would stand: %s, with %s', (expected, _what, prepare) => {
  prepare();
  expect(waits()).toBe(expected);
});

it('hooks that came into its settings while it ran count from the first one it sends', () => {
  says('default');
  installed('home/.claude/settings.json', '2.1.327');
  const heard = (atMs: number): AgentView['sources'] => [
    { source: 'hook', health: 'ok', reason: null, atMs, alone: null },
  ];
  expect(waits({ startedAtMs: settingsMs - 1 })).toBe(true);
  expect(waits({ startedAtMs: settingsMs - 1, sources: heard(settingsMs - 1) })).toBe(true);
  expect(waits({ startedAtMs: settingsMs - 1, sources: heard(settingsMs + 1) })).toBe(false);
});

it('says once that an updated client knows more than is installed', () => {
  installed('home/.claude/settings.json', '2.1.200');
  says('acceptEdits');
  const news = () => {
    nowMs += 60_000;
    return look.news([agent(), agent({ agent: 'other-ps' })]);
  };
  expect(news()).toEqual([expect.stringMatching(/^Claude Code 2\.1\.327 knows .*PreModelSwitch.*watchkeeper init/)]);
  expect([news(), news()]).toEqual([[], []]);
  installed('home/.claude/settings.json', '2.1.327');
  expect(news()).toEqual([]);
});

it('says once, of an agent that may be handed over, that it would stand', () => {
  says('default');
  nowMs = 60_000;
  expect(look.news([agent(), agent({ agent: 'seen-ps', authority: 'nudge' })])).toEqual([
    expect.stringMatching(/manual mode/),
  ]);
  nowMs = 120_000;
  expect(look.news([agent()])).toEqual([]);
});
