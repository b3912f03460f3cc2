import { closeSync, fsyncSync, mkdirSync, openSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { z } from 'zod';
import { checkNames } from '../detect/checks.ts';
import type { Action, ActionOutcome } from '../model/action.ts';
import type { Json } from '../model/event.ts';
import type { Incident } from '../model/incident.ts';
import type { Told } from '../model/telling.ts';
import { storable } from '../model/text.ts';
import type { Files } from '../model/world.ts';

const entriesMax = 200;
const tellingsMax = 20;
const fileBytesMax = 512 * 1024;

/** What a message may hold besides its words. Whatever else is in a file is not taken in. */
const uuid = z.uuid();
const time = z.number().int().nonnegative();
const short = z.string().max(4_000);
const incidentShape = z.strictObject({
  id: uuid,
  agent: short.nullable(),
  project: short,
  check: z.enum(checkNames),
  subject: short.nullable(),
  severity: z.enum(['warning', 'critical']),
  text: z.string().max(20_000),
  openedMs: time,
  closedMs: time.nullable(),
  ackedMs: time.nullable(),
  prompts: time,
  lastPromptMs: time.nullable(),
  tells: time,
  lastTellMs: time.nullable(),
});
const tellingShape = z.strictObject({
  action: z.strictObject({
    id: uuid,
    atMs: time,
    agent: short.nullable(),
    // Nothing that was typed ever comes from here.
    kind: z.literal('notify'),
    trigger: z.templateLiteral(['rule:', z.enum(checkNames)]),
    intent: z.record(short, z.json()),
    finding: uuid,
  }),
  outcome: z
    .strictObject({ atMs: time, outcome: z.enum(['told', 'failed']), reason: short.nullable(), proof: z.null() })
    .nullable(),
});
const fileShape = z.strictObject({
  v: z.literal(1),
  incident: incidentShape,
  tellings: z.array(tellingShape).max(tellingsMax),
});

interface Entry extends Told {
  isOnDisk: boolean;
}

/**
 * What people were told while the database was away: one small file for each trouble, so that neither a kill nor a restart
 * forgets it, and nobody is told twice. It goes when the database has it. Only telling may wait here; typing may not.
 */
export class Spool {
  readonly #dir: string;
  readonly #host: string;
  readonly #files: Pick<Files, 'list' | 'readSmall'>;
  readonly #entries = new Map<string, Entry>();
  #failure: string | null = null;

  constructor(dir: string, host: string, files: Pick<Files, 'list' | 'readSmall'>) {
    this.#dir = dir;
    this.#host = host;
    this.#files = files;
  }

  /** Why the disk took nothing when it was last asked to; null: it did. */
  get failure(): string | null {
    return this.#failure;
  }

  get told(): readonly Told[] {
    return [...this.#entries.values()];
  }

  /** What an earlier run left. */
  load(): void {
    for (const name of (this.#files.list(this.#dir) ?? []).slice(0, 2 * entriesMax)) {
      const file = path.join(this.#dir, name);
      // Half written when its writer was killed: the file it was to replace is whole.
      if (name.endsWith('.new')) removed(file);
      const told = name.endsWith('.json') ? this.#read(file) : null;
      if (told !== null && `${told.incident.id}.json` === name && this.#entries.size < entriesMax)
        this.#entries.set(told.incident.id, { ...told, isOnDisk: true });
    }
  }

  /** A message that is about to go out. false: it is on no disk, and not kept here either. */
  intend(incident: Incident, action: Action): boolean {
    const entry = this.#entry(incident);
    if (entry === null) return false;
    const before = entry.tellings;
    entry.tellings = [...before.slice(1 - tellingsMax), { action, outcome: null }];
    if (this.#write(entry)) return true;
    entry.tellings = before;
    return false;
  }

  /** One that went out with no disk to write it on first. */
  add(incident: Incident, action: Action, outcome: ActionOutcome): void {
    const entry = this.#entry(incident);
    if (entry === null) return;
    entry.tellings = [...entry.tellings.slice(1 - tellingsMax), { action, outcome: null }];
    this.conclude(outcome);
  }

  /** What came of it; false: it was not intended here. */
  conclude({ actionId, ...outcome }: ActionOutcome): boolean {
    const isIt = ({ action }: Told['tellings'][number]) => action.id === actionId;
    const found = [...this.#entries.values()].find(({ tellings }) => tellings.some(isIt));
    if (found === undefined) return false;
    const entry = this.#entry(found.incident);
    if (entry === null) return false;
    entry.tellings = found.tellings.map((telling) => (isIt(telling) ? { ...telling, outcome } : telling));
    // Were we killed before the incident says so itself, it would be told again.
    if (outcome.outcome === 'told')
      entry.incident = { ...entry.incident, tells: entry.incident.tells + 1, lastTellMs: outcome.atMs };
    this.#write(entry);
    return true;
  }

  /** How a trouble stands that people were told of. */
  keep(incident: Incident): void {
    const entry = this.#entry(incident);
    if (entry === null) return;
    entry.incident = { ...incident };
    this.#write(entry);
  }

  /** The database has it. */
  remove(told: Told): void {
    const { id } = told.incident;
    // What came meanwhile is not there yet.
    if (this.#entries.get(id) !== told) return;
    this.#entries.delete(id);
    removed(this.#fileOf(id));
  }

  /** Whatever the disk did not take when it came. */
  writeAgain(): void {
    for (const entry of this.#entries.values()) if (!entry.isOnDisk && !this.#write(entry)) return;
  }

  /** A new one each time: who stores the one before does not remove this. */
  #entry(incident: Incident): Entry | null {
    const known = this.#entries.get(incident.id);
    if (known === undefined && this.#entries.size >= entriesMax) return null;
    const entry = { incident: { ...incident }, tellings: [], isOnDisk: false, ...known };
    this.#entries.set(incident.id, entry);
    return entry;
  }

  #fileOf(id: string): string {
    return path.join(this.#dir, `${id}.json`);
  }

  #read(file: string): Told | null {
    const read = this.#files.readSmall(file, fileBytesMax);
    if (!read.ok) return null;
    try {
      const { incident, tellings } = fileShape.parse(JSON.parse(read.text));
      const host = this.#host;
      return {
        incident: { host, ...incident },
        tellings: tellings.map(({ action, outcome }) => ({ action: { host, ...action }, outcome })),
      };
    } catch {
      return null;
    }
  }

  /** Whole or not at all, and with nothing in it that the database would not get. */
  #write(entry: Entry): boolean {
    const file = this.#fileOf(entry.incident.id);
    try {
      mkdirSync(this.#dir, { recursive: true, mode: 0o700 });
      const fd = openSync(`${file}.new`, 'w', 0o600);
      try {
        writeFileSync(fd, JSON.stringify({ v: 1, ...withoutSecrets(entry) }));
        fsyncSync(fd);
      } finally {
        closeSync(fd);
      }
      renameSync(`${file}.new`, file);
      entry.isOnDisk = true;
      this.#failure = null;
    } catch (error) {
      entry.isOnDisk = false;
      this.#failure = (error as Error).message;
    }
    return entry.isOnDisk;
  }
}

/** One that cannot be removed is stored again by the next run, which adds nothing. */
function removed(file: string): void {
  try {
    rmSync(file, { force: true });
  } catch {}
}

/** Whose it is, is the directory's: what is read from there is this host's. */
function withoutSecrets({ incident, tellings }: Told) {
  const host = undefined;
  return {
    incident: { ...incident, host, text: storable(incident.text).slice(0, 4_000) },
    tellings: tellings.map(({ action, outcome }) => ({
      action: { ...action, host, intent: clean(action.intent) as Action['intent'] },
      outcome:
        outcome === null ? null : { ...outcome, reason: outcome.reason === null ? null : storable(outcome.reason) },
    })),
  };
}

function clean(value: Json): Json {
  if (typeof value === 'string') return storable(value);
  if (Array.isArray(value)) return value.map(clean);
  if (value === null || typeof value !== 'object') return value;
  return Object.fromEntries(Object.entries(value).map(([name, field]) => [name, clean(field)]));
}
