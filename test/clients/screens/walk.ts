// Leads the real client through all it shows, and keeps each screen with its truth and with what is read from it.
import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { stripVTControlCharacters } from 'node:util';
import { claudeCode } from '../../../src/clients/claude-code/client.ts';
import type { ScreenReading } from '../../../src/clients/client.ts';
import { until } from '../../../src/conform/until.ts';
import { type LaunchOptions, launchAgent } from '../agent.ts';
import type { Scenario } from '../scenario.ts';
import { permissions, questions } from './asking.ts';
import { context, dialogs, inTheBox, limits, wholeScreen } from './at-the-prompt.ts';
import { background, errors, hooks, turns } from './at-work.ts';
import { fakes, setup } from './edges.ts';
import type { Act } from './stage.ts';

export const acts: Act[] = [
  { name: 'at the prompt', play: inTheBox },
  { name: 'turns', play: turns },
  { name: 'hooks', play: hooks },
  { name: 'permissions', play: permissions },
  { name: 'questions and plans', play: questions },
  { name: 'errors', play: errors },
  { name: "the client's own dialogs", play: dialogs },
  { name: 'the whole screen', play: wholeScreen },
  { name: 'context', play: context },
  { name: 'background', play: background },
  { name: 'limits', play: limits },
  { name: 'before the first prompt', play: setup },
  { name: 'fakes', play: fakes },
];

export interface Variant extends Pick<LaunchOptions, 'size' | 'statusLine'> {
  /** What tmux tells programs to be, and so the colours the client uses. */
  term: string;
  env?: Record<string, string>;
}

export interface SeenScreen {
  name: string;
  truth: ScreenReading['shows'];
  reading: ScreenReading | null;
  /** The same without styles. */
  plain: ScreenReading | null;
  title: string;
}

/** The screen comes a little after the registry: read at once, it may be the one before. */
const beforeMs = 600;
/** How long after the truth a screen may still be drawn. */
const drawnMs = 2_000;

/** With `goldens`, the screens are also written there. */
export async function walk(s: Scenario, act: Act, variant: Variant, goldens: string | null): Promise<SeenScreen[]> {
  const { size, statusLine, term } = variant;
  const seen: SeenScreen[] = [];
  await s.tmux.run('new-session', '-d', '-s', 'keep', 'cat', ';', 'set', '-g', 'default-terminal', term);
  await act.play(
    (session, options = {}) =>
      launchAgent({
        scenario: s,
        session,
        ...(size === undefined ? {} : { size }),
        ...(statusLine === undefined ? {} : { statusLine }),
        ...options,
        env: { TERM: term, ...variant.env, ...options.env },
      }),
    async (agent, name, truth) => {
      const pane = agent.terminal.pane ?? '';
      let screen = '';
      const look = async () => {
        screen = await s.tmux.run('capture-pane', '-p', '-e', '-t', pane);
        return claudeCode.sources.screen.read(screen)?.shows === truth;
      };
      await sleep(beforeMs);
      await until(`${truth} on the screen`, look, drawnMs).catch(() => null);
      const title = (await s.tmux.run('display-message', '-p', '-t', pane, '#{pane_title}')).trim();
      const reading = claudeCode.sources.screen.read(screen);
      seen.push({
        name,
        truth,
        reading,
        plain: claudeCode.sources.screen.read(stripVTControlCharacters(screen)),
        title,
      });
      if (goldens !== null) writeGolden(goldens, name, screen.replaceAll(s.dir, '/tmp/work'));
    },
    s,
  );
  return seen;
}

function writeGolden(folder: string, name: string, screen: string): void {
  mkdirSync(folder, { recursive: true });
  writeFileSync(path.join(folder, `${name}.ansi.txt`), screen);
}

const forbidden: ScreenReading['shows'][] = ['permission', 'question', 'setup', 'dialog', 'left'];
const working: ScreenReading['shows'][] = ['busy', 'retrying', 'api-stall', 'compacting', 'limited'];

/** Would somebody who believes it type where nothing may be typed, or take work for rest? */
export function isDangerous(truth: ScreenReading['shows'], reading: ScreenReading | null): boolean {
  if (reading === null) return false;
  if (forbidden.includes(truth)) return reading.takesPrompts || !forbidden.includes(reading.shows);
  return working.includes(truth) && reading.shows === 'idle';
}
