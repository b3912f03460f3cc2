import { randomUUID } from 'node:crypto';
import os from 'node:os';
import path from 'node:path';
import { isSeq, parseDocument, YAMLSeq } from 'yaml';
import { makeFolder, type OwnFile, openOwn, replaceOwn } from '../act/install/own-file.ts';
import { type NotifyConfig, openChannel } from '../act/notify/channel.ts';
import type { HumanMessage } from '../act/notify/message.ts';
import { loadConfig } from '../config/load.ts';
import { type ConfigPlaces, configFiles } from '../config/places.ts';
import { badConfig } from '../config/problem.ts';
import { validate } from '../config/validate.ts';
import { parseYaml } from '../config/yaml.ts';
import { fail, ok, type Result } from '../model/result.ts';
import { shown } from '../model/text.ts';

export const channelTypes = ['command', 'webhook', 'ntfy', 'slack', 'discord', 'desktop'] as const;

export interface ChannelWish {
  type: (typeof channelTypes)[number];
  channel: string | null;
  url: string | null;
  urlEnv: string | null;
  command: string[];
}

export interface ChannelTest {
  channel: string;
  ok: boolean;
  reason: string | null;
}

export interface PlannedChannel {
  file: string;
  did: 'installed' | 'already-there' | 'removed';
  entry: NotifyConfig;
  write(): Result<void, 'bad-input'>;
}

/** One more receiver in the machine's configuration, in its own words and comments, if the whole is right after it. */
export function planChannel(wish: ChannelWish, places: ConfigPlaces): Result<PlannedChannel, 'bad-input'> {
  const { machine } = configFiles(places);
  const opened = openOwn(machine);
  if (!opened.ok) return { ...opened, reason: 'bad-input' };
  const before = opened.value.bytes?.toString('utf8') ?? '';
  const already = read(before, machine);
  if (!already.ok) return already;
  const text = withEntry(before, {
    channel: wish.channel ?? wish.type,
    type: wish.type,
    ...(wish.url === null ? {} : { url: wish.url }),
    ...(wish.urlEnv === null ? {} : { urlEnv: wish.urlEnv }),
    ...(wish.command.length === 0 ? {} : { command: wish.command }),
  });
  const after = read(text, machine);
  // Its place in a file that is not written would only mislead.
  if (!after.ok) return fail('bad-input', `--notify ${wish.type}: ${after.text}`, wayOut[wish.type]);
  const entry = after.value.at(-1);
  if (entry === undefined) return fail('bad-input', `${machine} cannot be added to`, 'add the channel by hand');
  if (already.value.some((other) => JSON.stringify(other) === JSON.stringify(entry)))
    return ok({ file: machine, did: 'already-there', entry, write: () => ok(undefined) });
  if (already.value.some((other) => other.channel === entry.channel))
    return fail(
      'bad-input',
      `${machine} has another channel \`${shown(entry.channel)}\` already`,
      'give this one a name with --channel, or change that one there',
    );
  return ok({ file: machine, did: 'installed', entry, write: () => write(opened.value, text) });
}

/** The receiver of this name is out of the machine's configuration; all else stays as it is written there. */
export function planRemoval(
  name: string,
  places: ConfigPlaces,
): Result<Omit<PlannedChannel, 'entry'>, 'bad-input' | 'not-found'> {
  const { machine } = configFiles(places);
  const opened = openOwn(machine);
  if (!opened.ok) return { ...opened, reason: 'bad-input' };
  const before = opened.value.bytes?.toString('utf8') ?? '';
  const there = read(before, machine);
  if (!there.ok) return there;
  const at = there.value.findIndex(({ channel }) => channel === name);
  const others = there.value.map(({ channel }) => channel).join(', ');
  if (at < 0)
    return fail(
      'not-found',
      `${machine} has no channel \`${shown(name)}\``,
      others === '' ? 'it has none' : `it has ${others}`,
    );
  const document = parseDocument(before);
  if (there.value.length === 1) document.delete('notify');
  else document.deleteIn(['notify', at]);
  // Never empty: that would be a file that vanished.
  const text = document.toString({ lineWidth: 0 });
  return ok({ file: machine, did: 'removed', write: () => write(opened.value, text) });
}

function write(file: OwnFile, text: string): Result<void, 'bad-input'> {
  const folder = makeFolder(path.dirname(file.path));
  if (!folder.ok) return { ...folder, reason: 'bad-input' };
  const written = replaceOwn(file, Buffer.from(text));
  return written.ok ? written : { ...written, reason: 'bad-input' };
}

const wayOut: Record<ChannelWish['type'], string> = {
  command: 'give the program and its words after --command',
  webhook: 'give --url, or --url-env with the name of a variable that holds it',
  ntfy: 'give --url with the whole address of the topic, or --url-env',
  slack: 'give --url-env with the name of a variable that holds the webhook address',
  discord: 'give --url-env with the name of a variable that holds the webhook address',
  desktop: 'it takes nothing else',
};

/** Every channel of the configuration, or only the one just added. */
export async function testChannels(
  only: NotifyConfig | null,
  places: ConfigPlaces,
  environment: NodeJS.ProcessEnv,
): Promise<Result<ChannelTest[], 'bad-input'>> {
  const loaded = loadConfig(places);
  if (!loaded.ok) return fail('bad-input', loaded.message, '`watchkeeper config check` lists every problem');
  const channels = only === null ? loaded.value.config.notify : [only];
  const tests = channels.map(async (config) => {
    const sent = await openChannel(config, environment).send(testMessage());
    return { channel: config.channel, ok: sent.ok, reason: sent.ok ? null : shown(sent.reason, 500) };
  });
  return ok(await Promise.all(tests));
}

function testMessage(): HumanMessage {
  return {
    v: 1,
    id: randomUUID(),
    agent: 'watchkeeper',
    project: 'watchkeeper',
    host: os.hostname(),
    check: 'test',
    subject: null,
    severity: 'warning',
    event: 'opened',
    since: new Date().toISOString(),
    title: 'Watchkeeper can reach you',
    text: 'This is a test message of `watchkeeper init`. Nothing is wrong.',
    what_to_do: [],
    attach: null,
  };
}

/** `text`: what is wrong with the last entry, without where in the file. */
function read(
  text: string,
  file: string,
): { ok: true; value: NotifyConfig[] } | (Extract<Result<never, 'bad-input'>, { ok: false }> & { text: string }) {
  const parsed = parseYaml(text);
  const { config, problems } = parsed.ok ? validate(parsed.value) : { config: null, problems: parsed.problems };
  if (config !== null) return ok(config.notify);
  const bad = badConfig(problems.map((problem) => ({ file, ...problem })));
  const [first] = problems;
  const key = first?.key?.replace(/^notify\[\d+\]\.?/, '') ?? '';
  const what = first === undefined ? bad.message : first.text;
  return { ok: false, reason: 'bad-input', message: bad.message, text: key === '' ? what : `${key}: ${what}` };
}

function withEntry(text: string, entry: object): string {
  const document = parseDocument(text);
  if (document.contents === null) document.contents = document.createNode({}) as unknown as typeof document.contents;
  const list = document.get('notify');
  const seq = isSeq(list) ? list : new YAMLSeq();
  if (!isSeq(list)) document.set('notify', seq);
  seq.flow = false;
  seq.add(document.createNode(entry));
  return document.toString({ lineWidth: 0 });
}
