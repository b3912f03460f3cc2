import { mkdirSync, readdirSync, renameSync, statSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { z } from 'zod';
import type { Unplayed } from '../clients/client.ts';
import { version } from '../home/version.ts';
import { type ClientName, type OffFacts, type Source, type SourceFact, sourceFacts } from '../model/agent.ts';
import { ownFiles } from '../sense/files.ts';

/** How one source did in a run of the state scenarios against one version of a client. */
export interface SignalResult {
  source: Source;
  holds: boolean;
  /** How often it said something, and how often that was right. */
  said: number;
  right: number;
  /** What it should have told and did not. */
  missed: string[];
  /** What of it is left out for that. */
  off: SourceFact[];
}

export interface ConformanceResult {
  v: 1;
  client: ClientName;
  client_version: string;
  watchkeeper_version: string;
  at: string;
  /** All sources together. */
  fused: { said: number; right: number; unknown: number; dangerous: number };
  signals: SignalResult[];
  unplayed: Unplayed[];
}

const number = z.number();
const resultShape = z.object({
  client: z.string().max(200),
  client_version: z.string().max(200),
  at: z.iso.datetime(),
  fused: z.object({ said: number, right: number, unknown: number, dangerous: number }),
  signals: z.array(
    z.object({
      ...{ source: z.string(), holds: z.boolean(), said: number, right: number },
      ...{ missed: z.array(z.string()), off: z.array(z.enum(sourceFacts)) },
    }),
  ),
  unplayed: z.array(z.object({ scenario: z.string(), reason: z.string() })),
});

const filesMax = 200;
const fileBytesMax = 4 * 1024 * 1024;
const recheckMs = 5_000;

export function writeResult(
  dir: string,
  found: Omit<ConformanceResult, 'v' | 'watchkeeper_version'>,
): { file: string; result: ConformanceResult } {
  mkdirSync(dir, { recursive: true, mode: 0o700 });
  const file = path.join(dir, `${found.client}-${found.client_version.replaceAll(/[^\w.-]/g, '_')}.json`);
  const result: ConformanceResult = { v: 1, watchkeeper_version: version, ...found };
  writeFileSync(`${file}.new`, `${JSON.stringify(result, null, 2)}\n`, { mode: 0o600 });
  renameSync(`${file}.new`, file);
  return { file, result };
}

export function readResults(dir: string): ConformanceResult[] {
  const files = ownFiles(process.getuid?.() ?? 0);
  let names: string[];
  try {
    names = readdirSync(dir).filter((name) => name.endsWith('.json'));
  } catch {
    return [];
  }
  return names.slice(0, filesMax).flatMap((name) => {
    const read = files.readSmall(path.join(dir, name), fileBytesMax);
    try {
      const result: unknown = read.ok ? JSON.parse(read.text) : null;
      return resultShape.safeParse(result).success ? [result as ConformanceResult] : [];
    } catch {
      return [];
    }
  });
}

/** What a conformance run found broken, by the version of the client. Read again when it has run again. */
export class FoundBroken {
  readonly #dir: string;
  #byVersion = new Map<string, OffFacts>();
  #stamp = '';
  #checkedMs = Number.NEGATIVE_INFINITY;

  constructor(dir: string) {
    this.#dir = dir;
  }

  of(client: ClientName, clientVersion: string | null): OffFacts {
    this.#refresh();
    return this.#byVersion.get(`${client} ${clientVersion}`) ?? none;
  }

  #refresh(): void {
    if (performance.now() - this.#checkedMs < recheckMs) return;
    this.#checkedMs = performance.now();
    const stamp = String(statSync(this.#dir, { throwIfNoEntry: false })?.mtimeMs);
    if (stamp === this.#stamp) return;
    this.#stamp = stamp;
    this.#byVersion = new Map(
      readResults(this.#dir).map(({ client, client_version, signals }) => [
        `${client} ${client_version}`,
        new Map(signals.flatMap(({ source, off }) => (off.length === 0 ? [] : [[source, new Set(off)]]))),
      ]),
    );
  }
}

const none: OffFacts = new Map();
