// A person is a person in every client: while one types nothing of ours lands, no text of theirs is mixed with ours, and
// once they are quiet it goes out. Typing by `send-keys` from a script cannot be told from a program's and is not promised.
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { tmuxPane } from '../../src/act/pane-terminal.ts';
import { until } from '../../src/conform/until.ts';
import type { Refusal } from '../../src/model/action.ts';
import type { TypableText } from '../../src/model/text.ts';
import { atTerminal, attached, attachedSmall, grouped, inControlMode, nested, type Person, typing } from './people.ts';
import { TypedClient } from './typed-client.ts';
import { openWorld, type World } from './world.ts';

const words = 'Go on. [wk-12ab]' as TypableText;

let world: World;

beforeAll(async () => {
  world = await openWorld();
  const told = path.join(world.dir, 'told');
  const folder = path.join(world.scenario.home, '.config/watchkeeper');
  mkdirSync(folder, { recursive: true });
  writeFileSync(
    path.join(folder, 'config.yaml'),
    `tickSeconds: 0.5\nprompt:\n  humanQuietSeconds: 1\nnotify:\n  - { channel: file, type: command, command: [sh, -c, 'cat >> "$0"; echo >> "$0"', '${told}'] }\n`,
  );
  await world.up();
});
afterAll(() => world.end());

async function ready(session: string, isInOwnTerminal = false): Promise<{ client: TypedClient; pane: string }> {
  const client = await TypedClient.open(world, session, isInOwnTerminal);
  const pane = (await world.tmux.run('list-panes', '-t', `=${session}:`, '-F', '#{pane_id}')).trim();
  const isDrawn = async () => (await world.tmux.run('capture-pane', '-p', '-t', pane)).includes('❯\u00a0');
  await until('its box', isDrawn);
  await world.seen(session, (agent) => agent.state === 'idle' && agent.tmux !== null);
  return { client, pane };
}

/** Tried again and again, as rules do it, until it went out. */
async function goesOut(client: TypedClient, session: string, text: string): Promise<void> {
  const said = await until(`"${text}" said`, async () => {
    const tried = await world.say(session, text);
    if (tried.outcome === 'confirmed') return tried;
    expect(tried.outcome, `${tried.reason}`).toBe('refused');
    return null;
  });
  expect(client.submitted().at(-1)).toBe(`${text} [${said.tag}]`);
}

/** Of what came to the terminal, without the marks of a paste and the keys that put a draft aside. */
const plain = (received: string) => received.replaceAll(/\x1b\[20[01]~|\x13/g, '');

describe('while somebody types, nothing of ours lands; when they are quiet it does', () => {
  it.each<[string, (session: string, pane: string) => Promise<Person>]>([
    ['attached', (session) => attached(world, session)],
    [
      'at a second client of another size',
      async (session) => {
        const first = await attached(world, session);
        const second = await attachedSmall(world, session);
        return {
          type: second.type,
          leave: async () => {
            await second.leave();
            await first.leave();
          },
        };
      },
    ],
    ['in a grouped session', (session) => grouped(world, session)],
    ['in a tmux within a tmux', (session) => nested(world, session)],
  ])('%s', async (what, open) => {
    const session = `${what.replaceAll(' ', '-')}-ps`;
    const { client, pane } = await ready(session);
    const person = await open(session, pane);
    const typist = typing(person);
    for (let tries = 0; tries < 12; tries += 1)
      expect(await world.say(session, 'not now')).toMatchObject({ outcome: 'refused', reason: 'human-typing' });
    const typed = await typist.stop();
    await until('all of it there', () => plain(client.received()) === typed);
    await goesOut(client, session, 'now that you are quiet');
    // Their half sentence is back in the box, and nothing but it.
    await person.type('\r');
    await until('theirs submitted', () => client.submitted().length === 2);
    expect(client.submitted()[1]).toBe(typed);
    await person.leave();
  });
});

describe('a terminal in control mode', () => {
  it('that may write: nothing is typed while it is there; status says why, one message tells it, and then it goes out', async () => {
    const { client, pane } = await ready('control-ps');
    const person = await inControlMode(world, 'control-ps', pane);
    const typist = typing(person);
    for (let tries = 0; tries < 8; tries += 1)
      expect(await world.say('control-ps', 'not now')).toMatchObject({ outcome: 'refused', reason: 'control-client' });
    const typed = await typist.stop();
    const shown = await world.agentIs('control-ps', ({ findings }) =>
      findings.some(({ check }) => check === 'control-client'),
    );
    expect(shown.health).toBe('warning');
    const told = path.join(world.dir, 'told');
    const messages = () => (existsSync(told) ? readFileSync(told, 'utf8').split('\n').filter(Boolean) : []);
    await until('a person told', () => messages().length > 0);
    const why = JSON.parse((await world.run('why', 'control-ps', '--json')).stdout) as { fired: { check: string }[] };
    expect(why.fired.map(({ check }) => check)).toEqual(['control-client']);
    // Quiet for as long as it likes, it could type at any moment.
    for (let tries = 0; tries < 4; tries += 1)
      expect(await world.say('control-ps', 'not now')).toMatchObject({ reason: 'control-client' });
    expect(plain(client.received())).toBe(typed);
    await person.leave();
    await goesOut(client, 'control-ps', 'now that you are gone');
    await world.agentIs('control-ps', ({ findings }) => findings.length === 0);
    expect(messages()).toHaveLength(1);
  });

  it('that only reads, such as another Watchkeeper, is nobody', async () => {
    const { client, pane } = await ready('read-ps');
    const reader = await inControlMode(world, 'read-ps', pane, ['-f', 'read-only,ignore-size,no-output']);
    expect(await world.say('read-ps', 'at once')).toMatchObject({ outcome: 'confirmed' });
    expect(client.submitted()).toHaveLength(1);
    await reader.leave();
  });

  it('of another session does not hinder', async () => {
    const { pane } = await ready('elsewhere-ps');
    const { client } = await ready('here-ps');
    const person = await inControlMode(world, 'elsewhere-ps', pane);
    expect(await world.say('here-ps', 'at once')).toMatchObject({ outcome: 'confirmed' });
    expect(client.submitted()).toHaveLength(1);
    await person.leave();
  });
});

it('somebody who works in another window of the session, or in another pane beside it, does not hinder', async () => {
  const { client } = await ready('beside-ps');
  await world.tmux.run('new-window', '-d', '-t', '=beside-ps:', '--', 'cat');
  const person = await atTerminal(world, [
    'attach-session',
    '-t',
    '=beside-ps',
    ';',
    'select-window',
    '-t',
    '=beside-ps:1',
  ]);
  const typist = typing(person);
  await goesOut(client, 'beside-ps', 'first');
  await world.tmux.run('split-window', '-t', '=beside-ps:0', '--', 'cat');
  await world.tmux.run('select-window', '-t', '=beside-ps:0');
  await goesOut(client, 'beside-ps', 'second');
  await typist.stop();
  await person.leave();
});

describe('an agent of which nobody knows what it does', () => {
  it.each<[string, Refusal, (client: TypedClient) => void]>([
    ['its registry says a word that nobody knows', 'stale', (client) => client.register({ status: 'dreaming' })],
    ['it has no registry, hooks or screen that say it', 'unsure', (client) => rmSync(client.registryFile)],
    ['it is stopped', 'not-agent', (client) => process.kill(client.pid, 'SIGSTOP')],
  ])('gets nothing typed: %s', async (what, reason, spoil) => {
    const session = `${what.replaceAll(/\W/g, '-')}-ps`;
    const { client, pane } = await ready(session);
    const before = await world.tmux.run('capture-pane', '-p', '-t', pane);
    spoil(client);
    await world.seen(session, ({ state }) => state === 'unknown');
    expect(await world.say(session, 'anybody there?')).toMatchObject({ outcome: 'refused', reason });
    for (const command of [
      ['compact', session],
      ['handoff', session],
    ])
      expect((await world.run(...command)).code, command[0]).not.toBe(0);
    expect([client.received(), await world.tmux.run('capture-pane', '-p', '-t', pane)]).toEqual(['', before]);
    process.kill(client.pid, 'SIGCONT');
  });
});

it('an agent in a terminal of its own, which another program of the pane has given it, gets nothing typed', async () => {
  const { client } = await ready('within-ps', true);
  expect(await world.say('within-ps', 'anybody there?')).toMatchObject({ outcome: 'refused', reason: 'not-agent' });
  expect((await world.run('handoff', 'within-ps')).code).not.toBe(0);
  expect(client.received()).toBe('');
});

describe('in the very instant of a key of ours', () => {
  const guardOf = async (session: string) => {
    const { pane } = await ready(session);
    const terminal = tmuxPane(world.tmux.socket, pane, { still: () => true, fence: '7-70-1' });
    await terminal.fence();
    const facts = await terminal.facts();
    if (facts === null) throw new Error('no pane');
    const guard = {
      panePid: facts.pid,
      command: facts.command,
      boxMark: '❯\u00a0',
      shows: null,
      onlookers: facts.onlookers,
    };
    return { pane, terminal, guard };
  };
  const press = async ({ terminal, guard }: Awaited<ReturnType<typeof guardOf>>) => terminal.keys('C-u', 1, guard);

  it('nobody came, so it is pressed', async () => {
    expect(await press(await guardOf('nobody-ps'))).toBe('done');
  });

  it.each<[string, (session: string, pane: string) => Promise<Person>]>([
    ['attached', (session) => attached(world, session)],
    ['in a new session of its group', (session) => grouped(world, session)],
    ['in control mode', (session, pane) => inControlMode(world, session, pane)],
  ])('somebody came who was not there when it was looked at, %s: it is not pressed', async (what, open) => {
    const session = `came-${what.replaceAll(' ', '-')}-ps`;
    const hand = await guardOf(session);
    const person = await open(session, hand.pane);
    expect(await press(hand)).toBe('not-now');
    await person.leave();
  });

  it('who has an active pane of his own in the window may type into any of them', async () => {
    const { terminal } = await guardOf('own-pane-ps');
    await world.tmux.run('split-window', '-t', '=own-pane-ps:0', '--', 'cat');
    const person = await atTerminal(world, ['attach-session', '-f', 'active-pane', '-t', '=own-pane-ps']);
    expect((await terminal.facts())?.people).toHaveLength(1);
    await person.leave();
    expect(await terminal.facts()).toMatchObject({ people: [], controlled: false });
  });

  it('who was there has pressed a key since: it is not pressed', async () => {
    const { pane, terminal } = await guardOf('was-there-ps');
    const person = await attached(world, 'was-there-ps');
    const lookedAt = await until('a quiet person', async () => {
      const facts = await terminal.facts();
      const [one] = facts?.people ?? [];
      return facts !== null && one !== undefined && Date.now() - one.activeAtMs > 500 ? facts : null;
    });
    const { pid: panePid, command, onlookers } = lookedAt;
    const guard = { panePid, command, boxMark: '❯\u00a0', shows: null, onlookers };
    await person.type('x');
    await until('the key there', async () =>
      (await world.tmux.run('capture-pane', '-p', '-t', pane)).includes('❯\u00a0x'),
    );
    expect(await terminal.keys('Enter', 1, guard)).toBe('not-now');
    await person.leave();
  });

  it('a script has typed behind our text: it is not submitted', async () => {
    const { pane, terminal, guard } = await guardOf('script-ps');
    expect(await terminal.paste(words, guard)).toBe('done');
    const shows = { text: 'wk-12ab', last: true };
    await world.tmux.run('send-keys', '-l', '-t', pane, ' and mine');
    await until('it there', async () => (await world.tmux.run('capture-pane', '-p', '-t', pane)).includes('and mine'));
    expect(await terminal.keys('Enter', 1, { ...guard, shows })).toBe('not-now');
    await terminal.keys('C-u', 1, guard);
    await terminal.paste(words, guard);
    await until('ours alone', async () =>
      (await world.tmux.run('capture-pane', '-p', '-t', pane)).includes('[wk-12ab]'),
    );
    expect(await terminal.keys('Enter', 1, { ...guard, shows })).toBe('done');
  });
});
