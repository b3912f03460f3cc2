import { discordBody, slackBody } from './chat.ts';
import { desktopArgv, desktopVariables } from './desktop.ts';
import { type BoundedMessage, bounded, type HumanMessage } from './message.ts';
import { ntfyPost } from './ntfy.ts';
import { type Post, type PostTarget, post } from './post.ts';
import { runProgram } from './program.ts';

/** One entry of `notify` in the configuration. */
export type NotifyConfig = { channel: string } & (
  | { type: 'command'; command: readonly string[] }
  | ({ type: 'webhook' | 'ntfy' } & PostTarget)
  | { type: 'slack' | 'discord'; urlEnv: string }
  | { type: 'desktop' }
);

/** `reason` names variables, never their values. */
export type Sent = { ok: true } | { ok: false; reason: string };

export interface Channel {
  name: string;
  /** Once, without trying again; never rejects. */
  send(message: HumanMessage): Promise<Sent>;
}

const sendTimeoutMs = 10_000;

export function openChannel(
  config: NotifyConfig,
  environment: NodeJS.ProcessEnv,
  timeoutMs: number = sendTimeoutMs,
): Channel {
  return { name: config.channel, send: (message) => sendOne(config, environment, timeoutMs, bounded(message)) };
}

function sendOne(
  config: NotifyConfig,
  environment: NodeJS.ProcessEnv,
  timeoutMs: number,
  message: BoundedMessage,
): Promise<Sent> {
  const posted = (target: PostTarget, content: Post) => post(target, content, environment, timeoutMs);
  const json = (document: object): Post => ({
    body: JSON.stringify(document),
    headers: { 'content-type': 'application/json' },
  });
  switch (config.type) {
    case 'command':
      return runProgram({
        argv: config.command,
        stdin: JSON.stringify(message),
        variables: [],
        environment,
        timeoutMs,
      });
    case 'desktop':
      return runProgram({
        argv: desktopArgv(message),
        stdin: null,
        variables: desktopVariables,
        environment,
        timeoutMs,
      });
    case 'webhook':
      return posted(config, json(message));
    case 'ntfy':
      return posted(config, ntfyPost(message));
    case 'slack':
      return posted(config, json(slackBody(message)));
    case 'discord':
      return posted(config, json(discordBody(message)));
  }
}
