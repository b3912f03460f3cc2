import { describe, expect, it } from 'vitest';
import { agentView, viewNowMs } from '../../test/runs/agent-view.ts';
import { emptyStore, found, madeBoard, see } from '../../test/runs/made-board.ts';
import { defaultConfig } from '../config/schema.ts';
import type { CheckName } from '../model/check.ts';
import type { Incident } from '../model/incident.ts';
import { ok } from '../model/result.ts';
import type { CheckRow } from '../model/store.ts';
import type { Board } from './board.ts';
import { Examiner } from './examiner.ts';

const nobody = () => false;

it('why nothing was found is told while an ended agent is shown, and forgotten with it', () => {
  const board = madeBoard();
  const view = agentView('ended', null, 1);
  const examiner = new Examiner({ board, config: defaultConfig });
  examiner.examine(view, { loops: [], words: null, unansweredSinceMs: null }, 0);
  board.publish([view]);
  expect(board.fine(view.agent)).not.toEqual([]);
  board.publish([]);
  expect(board.fine(view.agent)).toEqual([]);
});

describe('an agent that ended before a restart', () => {
  const ended = agentView('ended', null, 5);
  async function restarted(open: readonly CheckName[]): Promise<Board> {
    const incident = (check: CheckName) =>
      ({
        id: `old ${check}`,
        agent: ended.agent,
        project: 'a',
        check,
        subject: null,
        text: 'gone',
        tells: 1,
      }) as Incident;
    const board = madeBoard({ store: { ...emptyStore, openIncidents: async () => ok(open.map(incident)) } });
    await board.restore();
    board.publish([ended]);
    return board;
  }

  it('is in the trouble that was found at its end while its incident is open', async () => {
    const board = await restarted(['ended-unexpectedly']);
    const { sinceMs } = ended.reading;
    const trouble = { id: 'old ended-unexpectedly', check: 'ended-unexpectedly', standing: 'seen', sinceMs, tells: 1 };
    for (let n = 0; n < 3; n += 1) {
      expect(board.views()).toMatchObject([{ agent: ended.agent, findings: [trouble] }]);
      board.round(nobody, true);
    }
  });

  it('is in none when nothing is open', async () => {
    expect((await restarted([])).views()).toMatchObject([{ findings: [] }]);
  });
});

describe('a trouble', () => {
  const view = agentView('idle', null, 1);

  it('has one id for as long as it lasts, whoever reads it, and another one the next time', () => {
    const board = madeBoard();
    const look = (...checks: CheckName[]) => {
      see(board, [{ view, findings: checks.map((check) => found(check)) }]);
      board.round(nobody);
      return board.findings(view.agent)[0]?.id;
    };
    const first = look('spawn-stalled');
    expect(look('spawn-stalled')).toBe(first);
    expect(board.about(view.agent, 'spawn-stalled', null)?.id).toBe(first);
    expect(look()).toBeUndefined();
    expect(look('spawn-stalled')).not.toBe(first);
  });

  it('that is open stands on the board, also while nobody finds it', () => {
    const board = madeBoard();
    const stopped = { sinceMs: viewNowMs, error: null, errorKind: null };
    const given = agentView('working', null, 1, { stopped });
    see(board, [{ view: given, findings: [found('silent-stop', { sinceMs: 5 })] }]);
    board.round(nobody);
    see(board, [{ view: given, findings: [] }]);
    board.round(nobody);
    expect(board.views()).toMatchObject([{ findings: [{ check: 'silent-stop', standing: 'open', sinceMs: 5 }] }]);
  });

  it('that is over is shown no more, also before its incident is closed', () => {
    const board = madeBoard();
    const full = agentView('idle', null, 1, { band: { index: 4, sinceMs: 0 } });
    see(board, [{ view: full, findings: [found('context-full')] }]);
    board.round(nobody);
    see(board, [{ view: { ...full, band: { index: 0, sinceMs: viewNowMs } }, findings: [] }]);
    expect(board.findings(full.agent)).toEqual([]);
    expect(board.round(nobody).closed.map(({ incident }) => incident.check)).toEqual(['context-full']);
  });

  it('has a row when it begins and one when it is over; after a restart none anew', async () => {
    const rows: CheckRow[] = [];
    const record = (row: CheckRow) => void rows.push(row);
    let incidents: Incident[] = [];
    const store = { ...emptyStore, openIncidents: async () => ok(structuredClone(incidents)) };
    const start = async () => {
      const board = madeBoard({ record, store });
      await board.restore();
      return board;
    };
    const troubles = [{ view, findings: [found('orphaned-work', { subject: 's1' })] }];
    const board = await start();
    see(board, troubles);
    incidents = board.round(nobody).opened.map(({ incident }) => incident);
    const again = await start();
    see(again, troubles);
    again.round(nobody);
    see(again, [{ view, findings: [] }]);
    const [id] = incidents.map((incident) => incident.id);
    expect(rows.map(({ type, status, details }) => [type, status, details.finding, details.session_id])).toEqual([
      ['orphaned_work', 'warning', id, 's1'],
      ['orphaned_work', 'ok', id, 's1'],
    ]);
  });

  it('on a view that was handed out never changes', () => {
    const board = madeBoard();
    see(board, [{ view, findings: [found('spawn-stalled')] }]);
    const before = board.views();
    const copy = structuredClone(before);
    board.round(nobody);
    for (const open of board.open()) {
      open.incident.tells += 1;
      board.save(open);
    }
    see(board, [{ view: { ...view, sessionId: 'other' }, findings: [] }]);
    expect(before).toEqual(copy);
    expect(board.views()).not.toEqual(copy);
  });
});
