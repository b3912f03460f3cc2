import path from 'node:path';
import { z } from 'zod';
import { checkTemplates, defaultTemplates, type TemplateKey } from '../../decide/templates.ts';
import type { Authority, Mode } from '../../model/agent.ts';

// Every rule's `error` is the phrase that completes "… is not allowed: ", so a message always says what would be.

const secondsMax = 86_400;
const minutesMax = 525_600;
const daysMax = 3_650;
const listItemsMax = 1_000;
const textCharsMax = 1_000;

const modes = ['act', 'watch'] as const satisfies readonly Mode[];
const authorities = ['observe', 'nudge', 'manage'] as const satisfies readonly Authority[];

function amount(max: number) {
  const error = `a number greater than 0 and at most ${max}`;
  return z.number({ error }).gt(0, { error }).lte(max, { error });
}

function percent() {
  const error = 'a number greater than 0 and less than 100';
  return z.number({ error }).gt(0, { error }).lt(100, { error });
}

function oneOf<const T extends readonly string[]>(values: T) {
  return z.enum(values, { error: `one of: ${values.join(', ')}` });
}

function text(error: string) {
  return z
    .string({ error })
    .min(1, { error })
    .max(textCharsMax, { error: `${error}, at most ${textCharsMax} characters` })
    .refine((value) => !value.includes('\0'), { error });
}

function list<T extends z.ZodType>(item: T, what: string) {
  const error = `a list of ${what}, at most ${listItemsMax}`;
  return z.array(item, { error }).max(listItemsMax, { error });
}

/** A mapping without room for unknown keys. For those the message is the bare list of allowed keys. */
function section<T extends z.ZodRawShape>(shape: T) {
  const keys = Object.keys(shape).join(', ');
  return z.strictObject(shape, {
    error: (issue) => (issue.code === 'unrecognized_keys' ? keys : `a mapping with the keys: ${keys}`),
  });
}

function isAnchoredPath(value: string): boolean {
  return path.isAbsolute(value) || value === '~' || value.startsWith('~/');
}

/** Relative and not able to leave the directory it is relative to. */
export function isInsidePath(value: string): boolean {
  return !isAnchoredPath(value) && !value.startsWith('~') && !value.split(/[\\/]/).includes('..');
}

function isHttpUrl(value: string): boolean {
  if (!URL.canParse(value)) return false;
  const { protocol, username, password, hostname } = new URL(value);
  return (protocol === 'http:' || protocol === 'https:') && username === '' && password === '' && hostname !== '';
}

function environmentName() {
  const error = 'the name of an environment variable (letters, digits and _), never the secret itself';
  return z.string({ error }).regex(/^[A-Za-z_][A-Za-z0-9_]{0,127}$/, { error });
}

const urlError = 'an http or https URL without user name or password (a URL that holds a secret goes into urlEnv)';
const url = () =>
  z
    .string({ error: urlError })
    .max(2_000, { error: urlError })
    .regex(/^https?:\/\//, { error: urlError })
    .refine(isHttpUrl, { error: urlError });

const channelError = 'a name of 1 to 64 letters, digits, dots, dashes or underscores';
const channel = z
  .string({ error: channelError })
  .regex(/^[A-Za-z0-9._-]{1,64}$/, { error: channelError })
  .describe('The name under which rules and people address this receiver; several receivers may share one.');

const urlOrEnv = {
  url: url().optional().describe('Where to POST the message; allowed in the file only if it holds no secret.'),
  urlEnv: environmentName().optional().describe('The environment variable that holds the URL, for a secret one.'),
  tokenEnv: environmentName().optional().describe('The environment variable that holds a bearer token to send along.'),
};
const secretUrl = {
  urlEnv: environmentName().describe('The environment variable that holds the webhook URL, which is a secret.'),
};
const hasOneUrl = (receiver: { url?: string | undefined; urlEnv?: string | undefined }) =>
  (receiver.url === undefined) !== (receiver.urlEnv === undefined);
const oneUrl = { error: 'exactly one of url and urlEnv' };

function receiver<const T extends string, S extends z.ZodRawShape>(type: T, shape: S) {
  return section({ channel, type: z.literal(type).describe(receiverTypes[type as ReceiverType]), ...shape });
}

const receiverTypes = {
  command: 'Runs a program of the machine with the message as one JSON document on its standard input.',
  webhook: 'POSTs the message as one JSON document.',
  ntfy: 'Publishes to an ntfy topic, whose full URL is given.',
  slack: 'Posts to a Slack incoming webhook.',
  discord: 'Posts to a Discord webhook.',
  desktop: "Shows a notification on this machine's desktop.",
} as const;
type ReceiverType = keyof typeof receiverTypes;

const notifyReceiver = z.discriminatedUnion(
  'type',
  [
    receiver('command', {
      command: list(text('a word of the command line'), 'words, the program first')
        .min(1, { error: 'a list of words, the program first' })
        .describe('The program and its arguments; no shell reads them.'),
    }),
    receiver('webhook', urlOrEnv).refine(hasOneUrl, oneUrl),
    receiver('ntfy', urlOrEnv).refine(hasOneUrl, oneUrl),
    receiver('slack', secretUrl),
    receiver('discord', secretUrl),
    receiver('desktop', {}),
  ],
  {
    error: (issue) =>
      String(issue.code) === 'invalid_type'
        ? 'a mapping with channel, type and what that type needs'
        : `one of: ${Object.keys(receiverTypes).join(', ')}`,
  },
);

const agentRule = section({
  match: text('an agent name, where * stands for any characters and ? for one')
    .max(200, { error: 'an agent name or pattern of at most 200 characters' })
    .describe('An agent name, where * stands for any characters and ? for one.'),
  authority: oneOf(authorities).describe(
    'How far Watchkeeper may go: observe looks and tells, nudge also prompts, manage also hands off, interrupts, kills and resumes.',
  ),
});

const bandsError = 'four ascending numbers greater than 0 and less than 100';
const bands = z
  .tuple([percent(), percent(), percent(), percent()], { error: bandsError })
  .refine((value) => value.every((edge, index) => index === 0 || edge > (value[index - 1] ?? edge)), {
    error: bandsError,
  });

const configDirError = 'an absolute path or one that starts with ~/';
const handoffDirError = 'a path inside the project (relative, without ..), an absolute path or one that starts with ~/';

const templateTexts = defaultTemplates();

function template(key: TemplateKey, description: string) {
  return text('one line of text').default(templateTexts[key]).describe(description);
}

const templates = section({
  spawnUpdate: template('spawnUpdate', 'Asks for the status of background work.'),
  spawnStalled: template(
    'spawnStalled',
    'Says that background work {task} has written nothing to {output} for {minutes} minutes.',
  ),
  spawnFailed: template(
    'spawnFailed',
    'Says that background work {task} has failed with {error}, its output in {output}.',
  ),
  spawnAbandoned: template(
    'spawnAbandoned',
    'Says that background work {task} counts as abandoned after {minutes} minutes without a sign, its output in {output}.',
  ),
  contextCheck: template('contextCheck', 'Asks for the usage of the context window.'),
  highContext: template('highContext', 'Says that the context window is {percent} percent full.'),
  handoff: template('handoff', 'Asks for a handoff document in {file} at {percent} percent of the context window.'),
  continue: template('continue', 'Asks to go on after a turn that ended with {error}.'),
  stalled: template('stalled', 'Asks what holds up work that has not moved for {minutes} minutes while {activity}.'),
} satisfies Record<TemplateKey, z.ZodType>).superRefine((texts, context) => {
  for (const { key, reason } of checkTemplates(texts)) {
    context.addIssue({ code: 'custom', path: [key], message: reason });
  }
});

export const configSchema = section({
  mode: oneOf(modes)
    .default('act')
    .describe('Whether Watchkeeper acts (act) or only decides and records what it would do (watch).'),
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
  agents: list(agentRule, 'rules, each with match and authority')
    .default([{ match: '*-ps', authority: 'manage' }])
    .describe(
      'What Watchkeeper may do to which agent: the first rule that matches counts, an agent that none matches is only observed, or managed if Watchkeeper launched it.',
    ),
  prompt: section({
    minIntervalMinutes: amount(minutesMax)
      .default(5)
      .describe('The least time between two prompts of rules to one agent.'),
    humanQuietSeconds: amount(secondsMax)
      .default(30)
      .describe('How long a human must not have typed before Watchkeeper types.'),
    answerSeconds: amount(secondsMax)
      .default(30)
      .describe('How long to wait for proof that a prompt has arrived and been taken up.'),
  })
    .prefault({})
    .describe('When and how agents are prompted.'),
  spawn: section({
    stallMinutes: amount(minutesMax)
      .default(15)
      .describe('How long the output file of background work may stay unchanged before the work counts as stalled.'),
    abandonMinutes: amount(minutesMax)
      .default(30)
      .describe('How long background work stays without any sign before it counts as abandoned.'),
    progressMinutes: amount(minutesMax)
      .default(10)
      .describe('How often an agent is asked for the progress of its running background work.'),
    progress: oneOf(['auto', 'always', 'never'])
      .default('auto')
      .describe(
        'Whether agents are asked for progress: auto only about work that cannot be seen without asking, such as work tracked without an output file.',
      ),
  })
    .prefault({})
    .describe('When background work counts as stalled or abandoned, and when its agent is asked about it.'),
  stall: section({
    thinkingMinutes: amount(minutesMax)
      .default(5)
      .describe('How long an agent may think without any sign of progress.'),
    toolMinutes: amount(minutesMax).default(10).describe('How long a tool may run without any sign of progress.'),
    mcpMinutes: amount(minutesMax).default(15).describe('How long an MCP tool may run without any sign of progress.'),
    subagentMinutes: amount(minutesMax)
      .default(15)
      .describe('How long a subagent may run without any sign of progress.'),
  })
    .prefault({})
    .describe('When a working agent counts as stuck.'),
  waiting: section({
    notifyMinutes: amount(minutesMax).default(2).describe('How long an agent waits for a human before one is told.'),
    repeatMinutes: amount(minutesMax)
      .default(30)
      .describe('How long until the message is repeated while nobody has acknowledged it.'),
  })
    .prefault({})
    .describe('When a human is told that an agent waits for one.'),
  bands: bands
    .default([30, 50, 70, 85])
    .describe(
      'The four edges, in percent of the context window, between the five bands that decide what work an agent accepts.',
    ),
  handoff: section({
    atPercent: percent()
      .default(85)
      .describe('The context usage from which an agent is handed over to a fresh context.'),
    deadlineMinutes: amount(minutesMax).default(5).describe('How long an agent has to write its handoff.'),
    dir: text(handoffDirError)
      .refine((value) => isInsidePath(value) || isAnchoredPath(value), { error: handoffDirError })
      .default('.watchkeeper/handoffs')
      .describe("Where handoff files are written; a relative path is inside the agent's project."),
    maxParallel: z
      .int({ error: 'a whole number from 1 to 100' })
      .min(1, { error: 'a whole number from 1 to 100' })
      .max(100, { error: 'a whole number from 1 to 100' })
      .default(2)
      .describe('How many handoffs may run at the same time.'),
  })
    .prefault({})
    .describe('How a full context is handed over to a fresh one.'),
  notify: list(notifyReceiver, 'receivers, each with channel and type')
    .default([])
    .describe('Who is told, and how; secrets are named by environment variable and never stand in the file.'),
  templates: templates
    .prefault({})
    .describe('The words of the prompts that rules send, with evidence in the slots that each of them names.'),
  clients: section({
    claudeCode: section({
      configDirs: list(
        text(configDirError).refine(isAnchoredPath, { error: configDirError }),
        'paths, absolute or starting with ~/',
      )
        .default([])
        .describe("Further config directories of Claude Code in which agents are looked for, besides the user's own."),
    })
      .prefault({})
      .describe('Claude Code.'),
  })
    .prefault({})
    .describe('What Watchkeeper has to know about the agent clients of this machine.'),
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
