import { describe, expect, it } from 'vitest';
import { agentView, viewNowMs } from '../../test/runs/agent-view.ts';
import { madeBoard } from '../../test/runs/made-board.ts';
import { defaultConfig } from '../config/schema.ts';
import type { AgentView } from '../model/agent.ts';
import type { CheckRow } from '../model/store.ts';
import { HostFindings } from './host-findings.ts';

const ended = (agent: string): AgentView => {
  const finding = { severity: 'critical', confidence: 1, sinceMs: viewNowMs, evidence: [], action: null } as const;
  const own = {
    ...{ ...finding, prompts: 0, tells: 0, ackedMs: null },
    id: agent,
    check: 'ended-unexpectedly',
    subject: null,
    slots: null,
    standing: 'seen',
  } as const;
  return agentView('ended', null, 1, { agent, findings: [{ ...own, evidence: [] }] });
};

function watching() {
  const rows: CheckRow[] = [];
  const board = madeBoard({ record: (row) => void rows.push(row) });
  const clock = { nowMs: () => viewNowMs, monotonicMs: () => 0 };
  const host = new HostFindings({ host: 'h', hostName: 'build-1', config: defaultConfig, clock, board });
  const look = (views: AgentView[]) => {
    host.look(views, { database: null, disk: null, servers: [] });
    return board.loose();
  };
  return { host, look, rows };
}

describe('what is wrong with the host', () => {
  const many = ['a', 'b', 'c'].map(ended);

  it('has one id and one row for as long as it lasts, and one row for its end', () => {
    const { look, rows } = watching();
    const [first] = look(many);
    expect(look(many)[0]?.finding.id).toBe(first?.finding.id);
    expect(look(many.slice(1))).toEqual([]);
    expect(rows.map(({ type, status, project }) => `${project} ${type} ${status}`)).toEqual([
      'build-1 mass-failure critical',
      'build-1 mass-failure ok',
    ]);
  });

  it('stands for the troubles it is made of, and for no other', () => {
    const { host, look } = watching();
    look([...many, agentView('idle', null, 1, { agent: 'well' })]);
    expect(host.covers('a', 'ended-unexpectedly')).toBe('ended-unexpectedly');
    expect(host.covers('a', 'waiting-human')).toBeNull();
    expect(host.covers('well', 'ended-unexpectedly')).toBeNull();
  });
});
