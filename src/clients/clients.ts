import type { ClientName } from '../model/agent.ts';
import { withCommonTools } from './acts.ts';
import * as all from './all.ts';
import type { AgentClient, Dialect, EndedSession, RecordedClient, ShellCommand } from './client.ts';

const every: readonly (AgentClient | RecordedClient)[] = Object.values(all);

/** Every client that is watched; a process belongs to the first that knows it. */
export const clients: readonly AgentClient[] = every.filter((client) => 'recognition' in client);

type OfOne<Client> = Client extends { readonly configKey: infer Key extends string } ? Key : never;
/** Of those whose key is part of their type. */
export type ClientConfigKey = OfOne<(typeof all)[keyof typeof all]>;

/** Every client whose runs on record can be read. */
export const recordedClients: readonly RecordedClient[] = every.flatMap((client) =>
  client.runs === undefined ? [] : [{ ...client, runs: client.runs }],
);

/** What a tool of any client is for. */
export const allTools = withCommonTools(...clients.flatMap(({ tools }) => tools ?? []));

/** What results of any client say of errors that are not the agent's. */
export const allExcuses = every.flatMap(({ excuses }) => excuses ?? []);

export type InstallableClient = AgentClient & Required<Pick<AgentClient, 'installer'>>;

/** Whose settings `init` and `uninstall` change: the first that has any. */
export function installable(): InstallableClient {
  for (const client of clients) if (client.installer !== undefined) return { ...client, installer: client.installer };
  throw new Error('no client of `clients/all.ts` has an installer');
}

/** For people: the clients that are watched. */
export const watchedTitles = clients.map(({ title }) => title).join(' or ');

/** Of the client with this name, as far as they are typed. */
export function commandsOf(client: ClientName): Dialect['commands'] | null {
  return clients.find(({ name }) => name === client)?.dialect.commands ?? null;
}

/** How a person goes on with a session of this client that ended; null: nobody can. */
export function resumeCommand(client: ClientName, ended: EndedSession): ShellCommand | null {
  return clients.find(({ name }) => name === client)?.resume?.(ended) ?? null;
}

/** The own command of some client that this name is, or might be completed to; null: of none. */
export function ownCommandFor(name: string): string | null {
  for (const { dialect } of clients) {
    const own = dialect.ownCommandFor(name);
    if (own !== null) return own;
  }
  return null;
}
