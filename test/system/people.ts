// People at the pane of an agent, by every way in that tmux has.
import { type ChildProcess, spawn } from 'node:child_process';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { emptyEnvironment } from '../../src/conform/environment.ts';
import type { Tmux } from '../../src/conform/tmux.ts';
import { until } from '../../src/conform/until.ts';
import type { World } from './world.ts';

export interface Person {
  /** One piece of typing. */
  type(text: string): Promise<void>;
  leave(): Promise<void>;
}

async function clients(tmux: Tmux): Promise<number> {
  return ((await tmux.ask('list-clients', '-F', 'x')) ?? '').split('\n').filter(Boolean).length;
}

async function arrives(world: World, child: ChildProcess, before: number): Promise<Person> {
  await until('a client more', async () => (await clients(world.tmux)) > before);
  // Attaching counts as activity of its own.
  return {
    type: async (text) => void child.stdin?.write(text),
    leave: async () => {
      child.kill('SIGKILL');
      await until('the client gone', async () => (await clients(world.tmux)) <= before);
    },
  };
}

/** A terminal of its own size with this command of tmux in it. */
export async function atTerminal(world: World, words: string[], rows = 40, columns = 120): Promise<Person> {
  const before = await clients(world.tmux);
  const argv = ['tmux', '-S', world.tmux.socket, ...words].map((word) => `'${word}'`).join(' ');
  const command = `stty rows ${rows} cols ${columns}; exec ${argv}`;
  const child = spawn('script', ['-q', '-f', '-e', '-c', command, path.join(world.dir, `person-${before}.log`)], {
    env: emptyEnvironment(world.scenario.home),
    stdio: ['pipe', 'ignore', 'ignore'],
  });
  return arrives(world, child, before);
}

export const attached = (world: World, session: string) => atTerminal(world, ['attach-session', '-t', `=${session}`]);

export const attachedSmall = (world: World, session: string) =>
  atTerminal(world, ['attach-session', '-t', `=${session}`], 24, 80);

/** A session of its own in the same group, which shows the same windows. */
export const grouped = (world: World, session: string) =>
  atTerminal(world, ['new-session', '-t', `=${session}`, '-s', `${session}-other`]);

/** In a pane of another tmux server, where it is typed by that server. */
export async function nested(world: World, session: string): Promise<Person> {
  const before = await clients(world.tmux);
  const outer = world.otherTmux(`outer-${session}`);
  const inner = ['tmux', '-S', world.tmux.socket, 'attach-session', '-t', `=${session}`];
  await outer.run('new-session', '-d', '-s', 'outer', '-x', '120', '-y', '40', '--', 'env', '-u', 'TMUX', ...inner);
  await until('a client more', async () => (await clients(world.tmux)) > before);
  return {
    type: async (text) => void (await outer.run('send-keys', '-l', '-t', '=outer:', text)),
    leave: async () => {
      await outer.close();
      await until('the client gone', async () => (await clients(world.tmux)) <= before);
    },
  };
}

/** A terminal program that draws tmux itself, such as iTerm2: what is typed goes through `send-keys`. */
export async function inControlMode(
  world: World,
  session: string,
  pane: string,
  flags: string[] = [],
): Promise<Person> {
  const before = await clients(world.tmux);
  const words = ['-S', world.tmux.socket, '-C', 'attach-session', ...flags, '-t', `=${session}`];
  const child = spawn('tmux', words, {
    env: { ...emptyEnvironment(world.scenario.home), TERM: 'dumb' },
    stdio: ['pipe', 'ignore', 'ignore'],
  });
  const person = await arrives(world, child, before);
  return { ...person, type: async (text) => void child.stdin?.write(`send-keys -l -t ${pane} '${text}'\n`) };
}

/** Types until told to stop, a letter every so often; what it typed. */
export function typing(person: Person, everyMs = 120): { stop(): Promise<string> } {
  let isOn = true;
  let typed = '';
  const work = (async () => {
    while (isOn) {
      await person.type('h');
      typed += 'h';
      await sleep(everyMs);
    }
  })();
  return {
    stop: async () => {
      isOn = false;
      await work;
      return typed;
    },
  };
}
