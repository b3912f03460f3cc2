import { z } from 'zod';
import type { Authority, Mode } from '../model/agent.ts';
import { judging } from './checks.ts';
import { clientSections } from './clients.ts';
import { amount, amountFromZero, list, minutesMax, oneOf, secondsMax, section, text } from './fields.ts';
import { handoff } from './handoff.ts';
import { health } from './health.ts';
import { bands, spawn, stall, waiting } from './judging.ts';
import { notifyReceiver } from './receivers.ts';
import { templates } from './templates.ts';

const daysMax = 3_650;

const modes = ['act', 'watch'] as const satisfies readonly Mode[];
const authorities = ['observe', 'nudge', 'manage'] as const satisfies readonly Authority[];

const agentRule = section({
  match: text('an agent name, where * stands for any characters and ? for one')
    .max(200, { error: 'an agent name or pattern of at most 200 characters' })
    .describe('An agent name, where * stands for any characters and ? for one.'),
  authority: oneOf(authorities).describe(
    'How far Watchkeeper may go: observe looks and tells, nudge also prompts, manage also hands over, compacts and interrupts.',
  ),
});

export const configSchema = section({
  mode: oneOf(modes)
    .default('act')
    .describe(
      'Whether Watchkeeper acts (act) or only decides and records what it would do (watch); in a project, watch means that its agents are only observed.',
    ),
  tickSeconds: z
    .number({ error: 'a number from 0.1 to 60' })
    .min(0.1, { error: 'a number from 0.1 to 60' })
    .max(60, { error: 'a number from 0.1 to 60' })
    .default(2)
    .describe('How often Watchkeeper looks at every agent.'),
  healthIntervalMinutes: amount(minutesMax)
    .default(10)
    .describe('How often a summary of all checks is recorded for each agent.'),
  retentionDays: amount(daysMax).default(30).describe('How long events and health records are kept.'),
  start: section({
    firstQuietSeconds: amountFromZero(secondsMax)
      .default(120)
      .describe('How long rules do nothing after the first start, the one that finds an empty database.'),
    quietSeconds: amountFromZero(secondsMax).default(10).describe('How long rules do nothing after every later start.'),
  })
    .prefault({})
    .describe(
      'How long rules do nothing after a start, as the file says it at that start; what people ask for is done at once.',
    ),
  agents: list(agentRule, 'rules, each with match and authority')
    .default([{ match: '*-ps', authority: 'manage' }])
    .describe(
      'What Watchkeeper may do to which agent: the first rule that matches counts, an agent that none matches is only observed.',
    ),
  prompt: section({
    minIntervalMinutes: amount(minutesMax)
      .default(5)
      .describe('The least time between two prompts of rules to one agent.'),
    humanQuietSeconds: amount(secondsMax)
      .default(30)
      .describe('How long nobody may have typed at a pane before Watchkeeper types there.'),
    answerSeconds: amount(secondsMax)
      .default(30)
      .describe('How long to wait for proof that a prompt has arrived and been taken up.'),
  })
    .prefault({})
    .describe('When and how agents are prompted.'),
  spawn,
  stall,
  waiting,
  health,
  judging,
  bands,
  handoff,
  notify: list(notifyReceiver, 'receivers, each with channel and type')
    .default([])
    .describe('Who is told, and how; secrets are named by environment variable and never stand in the file.'),
  templates,
  clients: clientSections,
});

/** What one file says, with the defaults for what it leaves out. */
export type FileConfig = z.output<typeof configSchema>;
export type AgentRule = FileConfig['agents'][number];

/** What is in force: the machine's file, narrowed by the project's. */
export interface Config extends FileConfig {
  /** The project's own rules. They can only lower what `agents` grants; null without any. */
  projectAgents: AgentRule[] | null;
}

export function defaultConfig(): Config {
  return { ...configSchema.parse({}), projectAgents: null };
}
