// What may not have happened in a scenario that ended too soon for its own checks: a machine that was slow for a moment
// must not hide it.
import { existsSync } from 'node:fs';
import { timesEver } from './prompting.ts';
import type { Scenario } from './scenario.ts';

const ours = /\[wk-[0-9a-f]{4}\]/;

export async function forbidden(s: Scenario): Promise<Error[]> {
  return [...typedTwice(s), ...(await wrongAgents(s)), ...(await wrongPanes(s))].map((what) => new Error(what));
}

/** Every tag that came to this agent's model. */
function tagsAt({ model }: Scenario['clients'][number]): Set<string> {
  const said = model.turns.map(({ body }) => JSON.stringify(body.messages)).join('\n');
  return new Set([...said.matchAll(new RegExp(ours, 'g'))].map(([tag]) => tag.slice(1, -1)));
}

function typedTwice({ clients }: Scenario): string[] {
  const times = new Map<string, string[]>();
  // One that was started anew talks to the model it had.
  for (const client of new Map(clients.map((each) => [each.model, each])).values()) {
    for (const tag of tagsAt(client))
      times.set(tag, [...(times.get(tag) ?? []), ...Array(timesEver(client, tag)).fill(client.session)]);
  }
  return [...times].flatMap(([tag, where]) =>
    where.length > 1 ? [`typed twice: ${tag}, at ${where.join(', ')}`] : [],
  );
}

/** By the ledger, where that can be read. */
async function wrongAgents(s: Scenario): Promise<string[]> {
  if (!existsSync(s.watchkeeperHome)) return [];
  const listed = await s.watchkeeper(['prompts', '--json']);
  if (listed.code !== 0) return [];
  const { items } = listed.json<{ items: { agent: string; intent: { tag?: string } }[] }>();
  const meant = new Map(items.map(({ agent, intent }) => [intent.tag, agent]));
  return s.clients.flatMap((client) =>
    [...tagsAt(client)]
      .filter((tag) => s.clients.some(({ session }) => session !== client.session && session === meant.get(tag)))
      .map((tag) => `a wrong agent: ${tag} was for ${meant.get(tag)} and came to ${client.session}`),
  );
}

/** A pane in which no client of this world runs. */
async function wrongPanes({ clients, tmux }: Scenario): Promise<string[]> {
  const panes = ((await tmux.ask('list-panes', '-a', '-F', '#{pane_id}')) ?? '').split('\n').filter(Boolean);
  const others = panes.filter((pane) => !clients.some(({ terminal }) => terminal.pane === pane));
  const screens = await Promise.all(
    others.map(async (pane) => (await tmux.ask('capture-pane', '-p', '-t', pane)) ?? ''),
  );
  return screens.flatMap((screen, n) => (ours.test(screen) ? [`a wrong pane: ${others[n]}\n${screen.trimEnd()}`] : []));
}
