import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { expect, it } from 'vitest';
import { madeActions } from '../../../test/runs/made-actions.ts';
import type { Config } from '../../config/schema.ts';
import type { Action } from '../../model/action.ts';
import type { Incident } from '../../model/incident.ts';
import type { Store } from '../../model/store.ts';

type Notify = Config['notify'];

const works: Notify[number] = { channel: 'works', type: 'command', command: ['true'] };
const fails: Notify[number] = { channel: 'fails', type: 'slack', urlEnv: 'NO_SUCH_VARIABLE' };

/** A teller and the channels that each message was meant for. */
function teller() {
  const meantFor: unknown[] = [];
  const done = { ok: true, value: undefined };
  const store = {
    intend: async (action: Action) => {
      meantFor.push(action.intent.channels);
      return done;
    },
    conclude: async () => done,
  } as unknown as Store;
  let notify: Notify = [works, fails];
  const one = madeActions({
    store,
    clock: { nowMs: () => 0, monotonicMs: () => 0 },
    environment: { PATH: process.env.PATH },
    config: () => ({ mode: 'act', notify }) as Config,
  });
  const about = { agent: 'a', project: 'p', check: 'silent-stop', openedMs: 0, text: 't', subject: null };
  const tell = (id: string, channels: Notify, tells = 0) => {
    notify = channels;
    return one.tell({ ...about, id, tells } as Incident, null);
  };
  return { tell, meantFor };
}

it('a second try spares the channels that have had the message', async () => {
  const { tell, meantFor } = teller();
  expect(await tell('one', [works, fails])).toBe('some');
  expect(await tell('one', [works, fails])).toBe('some');
  expect(meantFor).toEqual([['works', 'fails'], ['fails']]);
});

it('a second try of the first message is still the first', async () => {
  const file = path.join(mkdtempSync(path.join(tmpdir(), 'wk-notify-')), 'sent');
  const records = ['sh', '-c', `cat >> ${file}; test -s ${file}.late`];
  const { tell } = teller();
  const late: Notify[number] = { channel: 'late', type: 'command', command: records };
  await tell('one', [works, late]);
  await tell('one', [works, late], 1);
  const events = readFileSync(file, 'utf8').match(/"event":"\w+"/g);
  rmSync(path.dirname(file), { recursive: true });
  expect(events).toEqual(['"event":"opened"', '"event":"opened"']);
});

it('of messages that never got through only the newest thousand are remembered', async () => {
  const { tell, meantFor } = teller();
  await tell('one', [works, fails]);
  for (let other = 0; other < 1_000; other += 1) await tell(`other ${other}`, [fails]);
  await tell('one', [works, fails]);
  expect(meantFor.at(-1)).toEqual(['works', 'fails']);
});
