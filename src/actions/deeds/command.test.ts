import { describe, expect, it } from 'vitest';
import { agentView } from '../../../test/runs/agent-view.ts';
import { madeActions } from '../../../test/runs/made-actions.ts';
import type { PaneTerminal } from '../../act/pane-terminal.ts';
import { claudeCode } from '../../clients/claude-code/client.ts';
import { defaultConfig } from '../../config/schema.ts';
import type { HoldStanding } from '../../model/hold.ts';
import { ok } from '../../model/result.ts';
import type { ProcessInfo } from '../../model/world.ts';
import type { Actions } from '../actions.ts';
import { Typist } from '../typist.ts';

const config = defaultConfig();
const old = '0b7e8a52-0000-4000-8000-000000000000';
const fresh = '0b7e8a52-1111-4000-8000-000000000000';
const process: ProcessInfo = {
  ...{ bootId: 'b', pid: 7, startTicks: '70', ppid: 1, uid: 1, command: 'claude', runState: 'S' },
  ...{ processGroup: 7, terminal: 34_817, terminalGroup: 7 },
};
const info = { kind: 'file', size: 1, mtimeMs: 1, inode: '1', bornMs: 1, uid: 1 } as const;

/** A client at its prompt, by what was last seen of it; `status`: what its registry says in this moment. */
class Client {
  status = 'idle';
  hold: HoldStanding = 'ours';
  session = old;
  box = '';
  readonly submitted: string[] = [];
  /** What becomes of it between the paste and the Enter. */
  afterPaste: () => void = () => {};
  /** How long the ledger takes. */
  ledgerMs = 0;
  #nowMs = 0;
  readonly actions: Actions;

  constructor() {
    const clock = { nowMs: () => this.#clock(), monotonicMs: () => this.#clock() };
    const pane = { id: '%1', session: 'a-ps', windowIndex: 0, paneIndex: 0, pid: 7, dead: false };
    const inputBox = (screen: string) => ({ text: screen, mark: '❯', stashed: false });
    const client = { ...claudeCode, dialect: { ...claudeCode.dialect, findInputBox: inputBox } };
    const agent = {
      seen: { client, process, configDir: '/home/u/.claude', place: { socket: '/s', pane } },
      view: agentView('idle', null, 5),
      believed: (activity: unknown) => activity,
      hasRegistry: true,
      standIn: () => null,
      compactAskedMs: null,
    };
    const watched = () => Object.assign(agent, { sessionId: this.session }) as never;
    const entry = () => JSON.stringify({ pid: 7, procStart: '70', sessionId: this.session, status: this.status });
    const typist = new Typist({
      trust: () => ({ steadyForMs: Number.POSITIVE_INFINITY, knownForMs: 60_000 }),
      clock,
      processes: { info: (pid: number) => (pid === 7 ? process : null) } as never,
      files: { readSmall: () => ({ ok: true, text: entry(), info }) } as never,
      config: () => config,
      paused: () => false,
      hold: () => this.hold,
      holdNumber: () => (this.hold === 'ours' ? 1 : null),
      agent: watched,
      terminal: () => this.#terminal(),
      decided: () => {},
    });
    this.actions = madeActions({
      config: () => config,
      hold: () => this.hold,
      clock,
      typist,
      agent: watched,
      store: {
        intend: async () => {
          this.later(this.ledgerMs);
          return ok(undefined);
        },
        conclude: async () => ok(undefined),
      },
    });
  }

  later(ms: number): void {
    this.#nowMs += ms;
  }

  /** Every look at it takes a moment. */
  #clock(): number {
    this.later(1);
    return this.#nowMs;
  }

  clear() {
    return this.actions.clear(
      { host: 'h', agent: 'a-ps' },
      {
        by: 'rule',
        about: { handoff: 'h', deed: 'clear' },
        leftovers: [],
        session: old,
      },
    );
  }

  #terminal(): PaneTerminal {
    return {
      facts: async () => ({
        pid: 7,
        dead: false,
        mode: '',
        synchronized: false,
        people: [],
        controlled: false,
        command: 'claude',
        onlookers: { format: '', value: '' },
      }),
      fence: async () => true,
      screen: async () => this.box,
      paste: async (text) => {
        this.box += text;
        this.afterPaste();
        return 'done';
      },
      keys: async (name) => {
        if (name === 'Enter') this.submitted.push(this.box);
        if (name === 'Enter' && this.box === '/clear') this.session = fresh;
        this.box = '';
        return 'done';
      },
      leaveCopyMode: async () => {},
    };
  }
}

describe('a clear', () => {
  it('is typed to an agent at its prompt', async () => {
    const client = new Client();
    expect(await client.clear()).toMatchObject({ outcome: 'confirmed' });
    expect([client.submitted, client.session]).toEqual([['/clear'], fresh]);
  });

  it('is typed to one whose background shell runs: its turn is over', async () => {
    const client = Object.assign(new Client(), { status: 'shell' });
    expect(await client.clear()).toMatchObject({ outcome: 'confirmed' });
  });

  it('is not typed behind a turn that has begun since the agent was looked at', async () => {
    const client = Object.assign(new Client(), { status: 'busy' });
    expect(await client.clear()).toMatchObject({ outcome: 'refused', reason: 'busy' });
    expect([client.submitted, client.box]).toEqual([[], '']);
  });

  it('is not submitted behind a turn that begins while it is typed, and is taken out of the box', async () => {
    const client = new Client();
    client.afterPaste = () => {
      client.status = 'busy';
    };
    expect(await client.clear()).toMatchObject({ outcome: 'refused', reason: 'busy' });
    expect([client.submitted, client.box, client.session]).toEqual([[], '', old]);
  });

  it('is not typed to an agent that another daemon has', async () => {
    const client = Object.assign(new Client(), { hold: 'elsewhere' });
    expect(await client.clear()).toMatchObject({ outcome: 'refused', reason: 'held-elsewhere' });
    expect([client.submitted, client.box]).toEqual([[], '']);
  });

  it('is not submitted when another daemon took the agent over meanwhile, and is taken out of the box', async () => {
    const client = new Client();
    client.afterPaste = () => {
      client.hold = 'elsewhere';
    };
    expect(await client.clear()).toMatchObject({ outcome: 'refused', reason: 'held-elsewhere' });
    expect([client.submitted, client.box, client.session]).toEqual([[], '', old]);
  });

  it('is decided anew when it had to wait for others who type', async () => {
    const client = new Client();
    let done = () => {};
    const others = client.actions.inTurn('a-ps', () => new Promise<void>((resolve) => (done = resolve)));
    const cleared = client.clear();
    client.later(4_000);
    await Promise.resolve().then(() => done());
    await others;
    expect(await cleared).toMatchObject({ outcome: 'refused', reason: 'stale' });
    expect(client.submitted).toEqual([]);
    expect(await client.clear()).toMatchObject({ outcome: 'confirmed' });
  });

  it('is decided anew when the ledger took long', async () => {
    const client = Object.assign(new Client(), { ledgerMs: 4_000 });
    expect(await client.clear()).toMatchObject({ outcome: 'refused', reason: 'stale' });
    expect(client.submitted).toEqual([]);
  });

  it('is not typed into another session than the one it was decided for', async () => {
    const client = Object.assign(new Client(), { session: fresh });
    expect(await client.clear()).toMatchObject({ outcome: 'refused', reason: 'stale' });
    expect(client.submitted).toEqual([]);
  });
});
