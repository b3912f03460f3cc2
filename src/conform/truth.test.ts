import { describe, expect, it } from 'vitest';
import type { StatusDocument } from '../daemon/status.ts';
import { Truth } from './truth.ts';

const name = 'a-ps';

/** What the daemon says of the agent. */
function says(state: string, detail: string | null = null): StatusDocument {
  const agent = { agent: name, state, detail, tool: null, source: 'registry', sources: [], context_sources: [] };
  return { agents: [agent] } as unknown as StatusDocument;
}

/** A dialog from 10,000 on, until the client is killed at 20,000. */
function dialogThenKilled(): Truth {
  const truth = new Truth(name, () => {});
  truth.is('thinking', 5_000);
  truth.is('permission dialog', 10_000);
  truth.is('killed', 20_000);
  return truth;
}

describe('what is said of a client', () => {
  it('is right for two seconds after it was true, and for as long as the answer took besides', () => {
    const truth = dialogThenKilled();
    truth.take(says('working', 'thinking'), 11_900, 11_950);
    truth.take(says('waiting', 'permission'), 21_900, 24_000);
    expect(truth.score()).toMatchObject({ samples: 2, right: 2, wrong: [], dangerous: [] });
  });

  it('is dangerously wrong where one could type by it though a dialog is open or nobody is there', () => {
    const truth = dialogThenKilled();
    truth.take(says('working', 'thinking'), 12_500, 12_550);
    truth.take(says('idle'), 23_000, 23_100);
    truth.take(says('ended'), 15_000, 15_100);
    expect(truth.score().dangerous).toEqual([
      'working/thinking (registry) while waiting/permission, for 2500 ms',
      'idle (registry) while ended, for 3000 ms',
      'ended (registry) while waiting/permission, for 5000 ms',
    ]);
  });

  it('counts for nothing where nobody knows what is true', () => {
    const truth = dialogThenKilled();
    truth.is(null, 30_000);
    truth.take(says('idle'), 31_000, 31_100);
    expect(truth.score()).toMatchObject({ samples: 0, dangerous: [] });
  });
});
