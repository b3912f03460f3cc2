import type { Config } from '../config/schema.ts';
import type { HostSigns } from '../detect/host-troubles.ts';
import { type MassFailure, massFailures } from '../detect/mass-failure.ts';
import type { AgentView, Finding } from '../model/agent.ts';
import type { CheckName } from '../model/check.ts';
import type { CheckRow } from '../model/store.ts';
import { shown } from '../model/text.ts';
import type { Clock } from '../model/world.ts';
import type { LooseFinding } from '../spawns/spawns.ts';
import { HostTroubles } from './host-troubles.ts';

interface Parts {
  host: string;
  config: () => Config;
  idFor: (agent: string | null, check: CheckName, subject: string | null) => string;
  clock: Clock;
  recordCheck: (row: CheckRow) => void;
  isOpen: (check: CheckName, subject: string | null) => boolean;
  signs: () => HostSigns;
}

/** What is wrong with the host as a whole. */
export class HostFindings {
  readonly #parts: Parts;
  readonly #hostTroubles: HostTroubles;
  #failures: MassFailure[] = [];
  #troubles: Omit<Finding, 'id'>[] = [];

  constructor(parts: Parts) {
    this.#parts = parts;
    this.#hostTroubles = new HostTroubles(parts);
  }

  look(views: readonly AgentView[]): LooseFinding[] {
    const { massCount, massPercent, massMinutes } = this.#parts.config().judging;
    const limits = { agents: massCount, percent: massPercent, withinMs: massMinutes * 60_000 };
    const before = this.loose();
    this.#failures = massFailures(views, limits);
    this.#troubles = this.#hostTroubles.look(views, this.#parts.signs());
    const now = this.loose();
    const isIn = (list: LooseFinding[]) => (one: LooseFinding) =>
      list.some(({ finding }) => finding.id === one.finding.id);
    for (const one of now.filter((each) => !isIn(before)(each))) this.#record(one, 'critical');
    for (const one of before.filter((each) => !isIn(now)(each))) this.#record(one, 'ok');
    return now;
  }

  #record({ project, finding }: LooseFinding, status: CheckRow['status']): void {
    const { id, check, subject, evidence } = finding;
    const details = { finding: id, subject, evidence: evidence.map(({ text }) => text) };
    const atMs = this.#parts.clock.nowMs();
    this.#parts.recordCheck({ agent: null, project, atMs, type: check, status, details });
  }

  /** As of the last look. */
  loose(): LooseFinding[] {
    return [...this.#failures.map(({ finding }) => finding), ...this.#troubles].map((finding) => ({
      project: shown(this.#parts.host, 50),
      finding: { ...finding, id: this.#parts.idFor(null, finding.check, finding.subject) },
    }));
  }

  /** The trouble of the host that this one of this agent is part of, and that is told instead; null: none. */
  covers(agent: string, check: CheckName): string | null {
    const failure = this.#failures.find(
      (one) =>
        one.agents.includes(agent) && (one.check === check || (one.check === 'auth-failed' && check === 'silent-stop')),
    );
    return failure?.finding.subject ?? null;
  }
}
