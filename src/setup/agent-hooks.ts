import type { AgentClient } from '../clients/client.ts';
import type { InstallableClient } from '../clients/clients.ts';
import type { Permissions } from '../clients/installer.ts';
import { handoffWaitsText } from '../handoff/documents.ts';
import type { Home } from '../home/home.ts';
import type { AgentView } from '../model/agent.ts';
import { shown } from '../model/text.ts';
import type { Clock, Files } from '../model/world.ts';
import { placesInProject } from './places.ts';
import { scriptOf } from './script.ts';
import { glance } from './texts.ts';

/** What an agent's client tells us by hooks, and what it does not. */
interface AgentHooks {
  /** Events that its client knows and that have no hook of ours; null: it has no hooks of ours at all. */
  lacks: readonly string[] | null;
  /** It asks before it writes, and no hook can answer: a handoff would stand until a person does. */
  handoffWaits: boolean;
}

interface AgentHooksParts {
  home: Home;
  userHome: string;
  files: Files;
  clock: Clock;
}

type View = Pick<AgentView, 'agent' | 'cwd' | 'clientVersion' | 'transcript' | 'authority' | 'startedAtMs' | 'sources'>;

interface Agent {
  /** null: it was not looked at yet. */
  view: View | null;
  seen: { client: AgentClient; configDir: string | null };
}

type Settings = { file: string; view: NonNullable<ReturnType<typeof glance>> }[];

const nothingKnown: AgentHooks = { lacks: null, handoffWaits: false };
const noticedEveryMs = 15_000;
/** Of a record that is longer, its end. */
const bytesMax = 512 * 1024;

/** Looks at the settings that count for an agent and at the mode it is in. */
export class AgentHooksLook {
  readonly #parts: AgentHooksParts;
  readonly #known = new Map<string, { atMs: number; hooks: AgentHooks }>();
  readonly #modes = new Map<string, { transcript: string; read: number; asks: boolean | null }>();
  readonly #noticed = new Set<string>();
  #noticedMs = Number.NEGATIVE_INFINITY;

  constructor(parts: AgentHooksParts) {
    this.#parts = parts;
  }

  /** `maxAgeMs`: for those who ask often and do nothing because of it. */
  of(agent: Agent, maxAgeMs = 0): AgentHooks {
    return this.#of(agent, maxAgeMs, new Map());
  }

  /** `read`: what was read at this moment. */
  #of({ view, seen }: Agent, maxAgeMs: number, read: Map<string, Settings | null>): AgentHooks {
    if (view === null) return nothingKnown;
    const atMs = this.#parts.clock.monotonicMs();
    const known = this.#known.get(view.agent);
    if (known !== undefined && atMs - known.atMs < maxAgeMs) return known.hooks;
    const hooks = this.#look(view, seen, read);
    this.#known.set(view.agent, { atMs, hooks });
    return hooks;
  }

  /** Now and then, what somebody should know of these agents, each thing once. */
  news(agents: readonly Agent[]): string[] {
    const nowMs = this.#parts.clock.monotonicMs();
    if (nowMs - this.#noticedMs < noticedEveryMs) return [];
    this.#noticedMs = nowMs;
    // Many agents share a directory.
    const read = new Map<string, Settings | null>();
    const there = new Set(agents.map(({ view }) => view?.agent));
    for (const kept of [this.#known, this.#modes])
      for (const name of kept.keys()) if (!there.has(name)) kept.delete(name);
    const lines = agents.flatMap((agent) => {
      const { view, seen } = agent;
      if (view === null) return [];
      const { lacks, handoffWaits } = this.#of(agent, 0, read);
      const waits = handoffWaits && view.authority === 'manage' ? [`${view.agent}: ${handoffWaitsText}`] : [];
      if (lacks === null || lacks.length === 0) return waits;
      const version = shown(view.clientVersion ?? '', 20);
      return [
        ...waits,
        `${seen.client.title} ${version} knows events for which its settings have no hook of ours (${lacks.join(', ')}): run \`watchkeeper init\` again`,
      ];
    });
    const fresh = [...new Set(lines)].filter((line) => !this.#noticed.has(line));
    for (const line of fresh) this.#noticed.add(line);
    return fresh;
  }

  /** Those that count in this directory; null: nobody knows. */
  #settings(client: InstallableClient, cwd: string, configDir: string): Settings | null {
    const places = placesInProject(client, cwd, configDir);
    if (!places.ok) return null;
    // With comments in it the client skips a file as a whole.
    return [places.value.settings, ...places.value.others].flatMap((file) => {
      const view = glance(client.installer, file);
      return view === null || view.lenient !== null ? [] : [{ file, view }];
    });
  }

  #look(agent: View, { client, configDir }: Agent['seen'], read: Map<string, Settings | null>): AgentHooks {
    const { installer, permissions } = client;
    // Nothing is known of it yet.
    if (installer === undefined || agent.cwd === null || configDir === null) return nothingKnown;
    const place = `${client.name}\n${agent.cwd}\n${configDir}`;
    const settings = read.has(place)
      ? (read.get(place) ?? null)
      : this.#settings({ ...client, installer }, agent.cwd, configDir);
    read.set(place, settings);
    if (settings === null) return nothingKnown;
    const script = scriptOf({ ...client, installer }, this.#parts.home).file;
    const views = settings.map(({ view }) => view);
    const isOff = views.some(({ hooksDisabled }) => hooksDisabled !== null);
    const have = new Set(isOff ? [] : views.flatMap(({ scripts }) => [...(scripts.get(script) ?? [])]));
    const event = permissions?.event ?? '';
    const isHeard = settings.some(
      ({ file, view }) => view.scripts.get(script)?.has(event) && this.#isInForce(file, agent),
    );
    const mayWrite = (have.has(event) && isHeard) || views.some(({ allowsWriting }) => allowsWriting);
    const lacks = installer.eventsFor(agent.clientVersion).filter((each) => !have.has(each));
    return {
      lacks: have.size === 0 ? null : lacks,
      handoffWaits: permissions !== undefined && !mayWrite && this.#asks(agent, permissions),
    };
  }

  /** A client takes changed settings up after a moment, or at its next start: the first hook from it tells. */
  #isInForce(file: string, { startedAtMs, sources }: View): boolean {
    const writtenMs = this.#parts.files.info(file)?.mtimeMs ?? Number.POSITIVE_INFINITY;
    const heardMs = sources.find(({ source }) => source === 'hook')?.atMs ?? null;
    return startedAtMs > writtenMs || (heardMs !== null && heardMs > writtenMs);
  }

  #asks({ agent, transcript }: View, permissions: Permissions): boolean {
    if (transcript === null) return false;
    const { files } = this.#parts;
    const size = files.info(transcript)?.size ?? 0;
    const last = this.#modes.get(agent);
    // Another session begins as the one before asked.
    const anew = { transcript, read: 0, asks: last?.asks ?? null };
    const known = last?.transcript === transcript && last.read <= size ? last : anew;
    const from = Math.max(known.read, size - bytesMax);
    const read = files.readAt(transcript, from, bytesMax);
    if (!read.ok) return known.asks === true;
    // What is half written is read again.
    const end = read.bytes.lastIndexOf(0x0a) + 1;
    const asks = permissions.asksToWrite(read.bytes.toString('utf8', 0, end)) ?? known.asks;
    this.#modes.set(agent, { transcript, read: from + end, asks });
    return asks === true;
  }
}
