// A scenario that ends by a missed deadline may run once more, unless something happened in it that never may.
import { describe, expect, it } from 'vitest';
import { isMissedDeadline } from '../../scripts/test/vitest.mjs';
import { DeadlineMissed } from '../../src/conform/until.ts';
import { type Scenario, scenario } from '../clients/scenario.ts';

const late = () => Promise.reject(new DeadlineMissed('not within 5 ms: an answer'));

/** A client as far as its world is concerned, and what has come to its model. */
function client(s: Scenario, session: string, ...said: string[]): void {
  const model = s.model.agent(session);
  const content = said.map((text) => ({ type: 'text', text }));
  model.requests.push({ kind: 'main', body: { messages: [{ role: 'user', content }] } } as never);
  s.clients.push({ session, model, terminal: { pane: null }, screen: async () => '', kill: () => {} } as never);
}

async function errorsOf(run: Promise<void>): Promise<Error[]> {
  const error = await run.then(
    () => null,
    (failure: Error) => failure,
  );
  return error instanceof AggregateError ? error.errors : error === null ? [] : [error];
}

describe('after a missed deadline', () => {
  it('a world in which nothing went wrong is only late', async () => {
    const errors = await errorsOf(
      scenario(async (s) => {
        client(s, 'a-ps', 'go on [wk-12ab]', 'and on [wk-12ac]');
        client(s, 'b-ps', 'go on [wk-12ad]');
        await late();
      })(),
    );
    expect(errors.map(({ name }) => name)).toEqual(['DeadlineMissed']);
    expect(isMissedDeadline(errors)).toBe(true);
  });

  it.each<[string, (s: Scenario) => unknown, RegExp]>([
    ['one agent got a prompt twice', (s) => client(s, 'a-ps', 'go [wk-12ab]', 'go [wk-12ab]'), /typed twice: wk-12ab/],
    [
      'two agents got the same',
      (s) => ['a-ps', 'b-ps'].map((name) => client(s, name, 'go [wk-12ab]')),
      /typed twice: wk-12ab, at a-ps, b-ps/,
    ],
    [
      'a shell got it',
      async (s) => {
        await s.tmux.run('new-session', '-d', '-s', 'shell', 'echo "$ go on [wk-12ab]"; exec cat');
        await s.until('it shows', async () =>
          (await s.tmux.run('capture-pane', '-p', '-t', 'shell')).includes('wk-12ab'),
        );
      },
      /a wrong pane: %0/,
    ],
    ['something left loopback', (s) => s.model.outside.push('CONNECT example.invalid'), /traffic beyond loopback/],
  ])('it is no mere lateness that %s', async (_what, happened, said) => {
    const errors = await errorsOf(
      scenario(async (s) => {
        await happened(s);
        await late();
      })(),
    );
    expect(errors.map(({ message }) => message).join('\n')).toMatch(said);
    expect(isMissedDeadline(errors)).toBe(false);
  });

  it('the world is looked at and ended also where the time of the test was up', async () => {
    const finished: (() => unknown)[] = [];
    let world: Scenario | undefined;
    let isUp = () => {};
    const body = scenario(async (s) => {
      world = s;
      client(s, 'a-ps', 'go [wk-12ab]', 'go [wk-12ab]');
      await new Promise<void>((resolve) => {
        isUp = resolve;
      });
    })({ onTestFinished: (look: () => unknown) => void finished.push(look) } as never);
    await expect.poll(() => world).toBeDefined();
    const errors = await errorsOf(Promise.resolve(finished[0]?.()).then(() => {}));
    expect(errors.map(({ message }) => message).join('\n')).toMatch(/the time of the test was up[^$]*typed twice/);
    expect(world?.ending).toBe(true);
    isUp();
    await body.catch(() => {});
  });
});
