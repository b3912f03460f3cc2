import { z } from 'zod';
import { list, section, text } from './fields.ts';

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

export const notifyReceiver = z.discriminatedUnion(
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
