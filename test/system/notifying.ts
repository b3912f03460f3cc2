// One message to a person, and the folder of its test.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, expect } from 'vitest';
import { type NotifyConfig, openChannel } from '../../src/act/notify/channel.ts';
import type { HumanMessage } from '../../src/act/notify/message.ts';
import { defaultConfig } from '../../src/config/schema.ts';

export const message: HumanMessage = {
  v: 1,
  id: '3f2a',
  agent: 'consilio-ps',
  project: 'consilio',
  host: 'workshop',
  check: 'waiting-human',
  subject: null,
  severity: 'warning',
  event: 'opened',
  since: '2026-01-22T15:30:00.000Z',
  title: 'consilio-ps waits for a permission',
  text: 'Bash: npm test',
  what_to_do: ['Attach and answer the dialog.'],
  attach: "tmux -S /tmp/tmux-0/default attach -t '=consilio-ps'",
};
const footer = 'consilio-ps (consilio) on workshop, waiting-human, warning, since 2026-01-22T15:30:00.000Z';
export const body = `Bash: npm test\nAttach: ${message.attach}\n- Attach and answer the dialog.\n${footer}`;
export const shortMs = 700;
// Does not compile if the configuration allows an entry that no channel takes.
defaultConfig().notify satisfies NotifyConfig[];

export let dir = '';
beforeEach(() => {
  dir = mkdtempSync(path.join(tmpdir(), 'wk-notify-'));
});
afterEach(() => rmSync(dir, { recursive: true, force: true }));

/** Programs find `node` and nothing of the test's own environment. */
const environment = (more: NodeJS.ProcessEnv = {}): NodeJS.ProcessEnv => ({
  PATH: `${dir}:${process.env.PATH}`,
  HOME: dir,
  ...more,
});

export function send(
  config: object,
  given: Partial<HumanMessage> = {},
  env: NodeJS.ProcessEnv = {},
  timeoutMs?: number,
) {
  const channel = openChannel({ channel: 'ops', ...config } as NotifyConfig, environment(env), timeoutMs);
  expect(channel.name).toBe('ops');
  return channel.send({ ...message, ...given });
}
