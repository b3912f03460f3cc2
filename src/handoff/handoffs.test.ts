// The daemon dies at every point of a handoff, before and after each thing it does, and the next one goes on.
import { existsSync, mkdtempSync, readdirSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { dir, MadeUp } from '../../test/runs/made-up-world.ts';
import { verifyDocument } from '../decide/handoff/document.ts';
import { type Handoff, type HandoffStep, stepOf } from '../model/handoff.ts';

afterAll(() => rmSync(dir, { recursive: true, force: true }));

/** The same handoff again and again, and each time the daemon dies a point later. */
async function killedEverywhere(made: () => MadeUp, check: (world: MadeUp, when: string) => void): Promise<void> {
  const whole = made();
  await handOver(whole);
  check(whole, 'not killed');
  for (let point = 1; point <= whole.points; point += 1) {
    const world = made();
    world.killAt = point;
    await handOver(world);
    check(world, `killed at ${point}, ${JSON.stringify(world.handoff?.steps.slice(-2))}`);
  }
}

async function handOver(world: MadeUp): Promise<void> {
  await world.start();
  await world.request();
  if (world.killed) {
    world.killed = false;
    await world.start();
    if (world.handoff === undefined) await world.request();
  }
  for (let n = 0; n < 400 && world.handoff !== undefined; n += 1) {
    if (['done', 'failed'].includes(stepOf(world.handoff))) return;
    await world.round();
  }
}

const count = (world: MadeUp, deed: string) => world.done.filter((each) => each === deed).length;

describe('a handoff', () => {
  it('goes its way, each thing done once', async () => {
    const world = new MadeUp();
    await handOver(world);
    expect(world.handoff?.steps.map(({ step }) => step)).toEqual([
      ...['requested', 'prompted', 'written', 'verified', 'saved', 'cleared', 'resumed', 'confirmed', 'done'],
    ]);
    expect(world.done).toEqual(['ask', 'clear', 'resume']);
    expect(world.points).toBeGreaterThan(25);
  });

  it(
    'whose daemon is killed at any point is done by the next one: one clear, after the document is stored',
    () =>
      killedEverywhere(
        () => new MadeUp(),
        (world, when) => {
          expect(stepOf(world.handoff as Handoff), when).toBe('done');
          expect([count(world, 'clear'), count(world, 'resume')], when).toEqual([1, 1]);
          expect(world.documents.get(world.handoff?.id ?? ''), when).toContain(world.handoff?.nonce);
        },
      ),
    60_000,
  );

  it(
    'with a poor document is sent back, and goes on, wherever the daemon dies',
    () =>
      killedEverywhere(
        () => Object.assign(new MadeUp(), { isPoor: true }),
        (world, when) => {
          expect(stepOf(world.handoff as Handoff), when).toBe('done');
          expect(world.handoff?.sentBack, when).toBe(1);
          expect([count(world, 'clear'), count(world, 'resume')], when).toEqual([1, 1]);
          expect(world.documents.get(world.handoff?.id ?? ''), when).toContain(world.handoff?.nonce);
        },
      ),
    60_000,
  );

  it(
    'that the fresh context does not take up ends in the old one, wherever the daemon dies',
    () =>
      killedEverywhere(
        () => Object.assign(new MadeUp(), { isDeaf: true }),
        (world, when) => {
          expect(world.handoff?.steps.at(-1), when).toMatchObject({ step: 'failed', reason: 'not-confirmed' });
          expect([count(world, 'clear'), count(world, 'go-back')], when).toEqual([1, 1]);
          expect(world.session, when).toBe('old');
        },
      ),
    60_000,
  );

  it('is not cleared while its document cannot be stored, and goes on when it can', async () => {
    const world = new MadeUp();
    await world.start();
    await world.request();
    for (let n = 0; n < 50 && stepOf(world.handoff as Handoff) !== 'verified'; n += 1) await world.round();
    world.isFull = true;
    for (let n = 0; n < 5; n += 1) await world.round();
    expect([stepOf(world.handoff as Handoff), world.done]).toEqual(['verified', ['ask']]);
    world.isFull = false;
    for (let n = 0; n < 50 && stepOf(world.handoff as Handoff) !== 'done'; n += 1) await world.round();
    expect(world.done).toEqual(['ask', 'clear', 'resume']);
  });

  it.each([
    'The parser mishandles ?x=1&password=" in a query.',
    'The body begins with {"apiKey": "',
    'A sentence with `password=` and one with secret: `',
    "It is the client's 'token='",
    'The tag <password> is read wrongly.',
    'It finds -----BEGIN PRIVATE KEY----- in a text.',
  ])('whose document reads like a secret is stored with all that stands below: %s', async (line) => {
    const below = 'It ends at "the end", or at -----END PRIVATE KEY----- and `there`.';
    const wording = (text: string) =>
      text.replace('## State', `${line}\n\n## State`).replace('## How to verify', `${below}\n\n## How to verify`);
    const world = Object.assign(new MadeUp(), { wording });
    await handOver(world);
    expect(stepOf(world.handoff as Handoff)).toBe('done');
    const stored = world.documents.get(world.handoff?.id ?? '') ?? '';
    const { nonce } = world.handoff as Handoff;
    expect(verifyDocument(stored, { nonce, background: [], hasGit: false })).toEqual([]);
    for (const words of ['in a line.', '## Nonce', '"the end"', '`there`']) expect(stored).toContain(words);
  });

  it('whose document is none without what looks like a secret is sent back, and its context is not cleared', async () => {
    const wording = (text: string) => text.replace('## Nonce\n', '## Nonce\nnonce_token=');
    const world = Object.assign(new MadeUp(), { wording });
    await handOver(world);
    expect(world.handoff?.steps.at(-1)).toMatchObject({ step: 'failed', reason: 'poor' });
    expect([world.handoff?.sentBack, world.done, world.session]).toEqual([1, ['ask', 'ask'], 'old']);
    expect(world.documents.size).toBe(0);
  });

  const elsewhere = path.join(dir, 'elsewhere');
  const tricks: [string, (file: string) => void][] = [
    ['removed', (file) => rmSync(file)],
    ['removed with its folder', (file) => rmSync(path.dirname(file), { recursive: true })],
    ['another text', (file) => writeFileSync(file, 'Do something else.')],
    [
      'a link',
      (file) => {
        renameSync(file, elsewhere);
        symlinkSync(elsewhere, file);
      },
    ],
  ];
  const isAsStored = (world: MadeUp, when: string) => {
    expect(stepOf(world.handoff as Handoff), when).toBe('done');
    expect([count(world, 'clear'), count(world, 'resume')], when).toEqual([1, 1]);
    expect(world.read, when).toBe(world.documents.get(world.handoff?.id ?? ''));
  };
  it.each(tricks)('whose document is %s after the clear goes on with what was stored', async (name, meanwhile) => {
    const world = Object.assign(new MadeUp(), { meanwhile });
    await handOver(world);
    isAsStored(world, name);
  });

  it(
    'whose document is removed after the clear goes on with it, wherever the daemon dies',
    () =>
      killedEverywhere(() => Object.assign(new MadeUp(), { meanwhile: (file: string) => rmSync(file) }), isAsStored),
    60_000,
  );

  it.each(tricks)(
    'by a recipe, whose file is %s after the clear, goes on with what was stored',
    async (name, meanwhile) => {
      const world = Object.assign(new MadeUp(), { meanwhile });
      const ask = 'Please write a handoff document to {file} with Nonce ({nonce})';
      const recipe = { name: 'own', ask, file: 'notes/state.md', resume: 'Read {file} and go on' };
      Object.assign(world.config.handoff, { recipe: 'own', recipes: [recipe] });
      await handOver(world);
      expect(world.handoff).toMatchObject({ recipe: 'own', file: path.join(world.project, 'notes/state.md') });
      isAsStored(world, name);
    },
  );

  it('whose document cannot be put back after the clear ends in the old context', async () => {
    const outside = mkdtempSync(path.join(dir, 'outside-'));
    const linkOut = (file: string) => {
      rmSync(path.dirname(file), { recursive: true });
      symlinkSync(outside, path.dirname(file));
    };
    const world = Object.assign(new MadeUp(), { meanwhile: linkOut });
    await handOver(world);
    expect(world.handoff?.steps.at(-1)).toMatchObject({ step: 'failed', reason: 'not-confirmed' });
    expect([world.session, count(world, 'resume'), readdirSync(outside).length]).toEqual(['old', 0, 0]);
  });

  it('is not begun in a directory that is not there, such as one whose name is only shown in part', async () => {
    const world = new MadeUp();
    world.shownAs = path.join(dir, '[redacted]');
    await world.start();
    await world.request();
    expect([world.handoff, existsSync(world.shownAs)]).toEqual([undefined, false]);
  });
});

/** Rounds of five seconds each, until it is so or there were too many. */
async function rounds(world: MadeUp, max: number, isSo: () => boolean = () => false): Promise<number> {
  for (let n = 0; n < max; n += 1) {
    if (isSo()) return n;
    await world.round();
  }
  return max;
}

const isAt = (world: MadeUp, step: HandoffStep) => () => world.handoff !== undefined && stepOf(world.handoff) === step;

describe('a client that crashes at a step that lasts for a moment', () => {
  it.each<[HandoffStep, number, boolean]>([
    ['written', 0, false],
    ['verified', 0, false],
    ['saved', 0, true],
    ['cleared', 1, true],
    ['resumed', 1, true],
    ['confirmed', 1, true],
  ])('%s: it ends by name, with nothing typed after it and nothing lost', async (crashAt, clears, isStored) => {
    const world = Object.assign(new MadeUp(), { crashAt });
    await handOver(world);
    expect(world.handoff?.steps.slice(-2)).toMatchObject([{ step: crashAt }, { step: 'failed', reason: 'ended' }]);
    expect(count(world, 'clear')).toBe(clears);
    expect(world.documents.has(world.handoff?.id ?? '')).toBe(isStored);
    const typed = [...world.done];
    await rounds(world, 5);
    expect(world.done).toEqual(typed);
  });
});

describe('a database that does not say what was being handed over', () => {
  it('is asked again: until it has said it nothing begins and nothing goes on', async () => {
    const world = new MadeUp();
    await world.start();
    await world.request();
    await rounds(world, 40, isAt(world, 'prompted'));
    world.isUnreadable = true;
    expect(await world.start()).toBe(false);
    expect(world.next()).toBeNull();
    world.isUnreadable = false;
    expect(await world.start()).toBe(true);
    await rounds(world, 40, isAt(world, 'done'));
    expect([stepOf(world.handoff as Handoff), world.handoffs('a-ps').length]).toEqual(['done', 1]);
    expect(world.done).toEqual(['ask', 'clear', 'resume']);
  });
});

describe('an open row that Watchkeeper did not write so', () => {
  const odd = { id: 'odd', agent: 'a-ps' };

  it('keeps its agent from being handed over until a person was told; then it ends, and the agent is handed over', async () => {
    const world = Object.assign(new MadeUp(), { oddRows: [odd] });
    await world.start();
    expect(await world.request()).toMatchObject({ id: null, reason: 'untrusted' });
    await rounds(world, 5);
    expect([world.posted, world.oddRows, world.done]).toEqual([['a-ps handoff-failed odd'], [odd], []]);
    world.isTold = true;
    await rounds(world, 5, () => world.oddRows.length === 0);
    expect(world.oddRows).toEqual([]);
    // Nobody has said yet that they know.
    expect(world.posted).toEqual(['a-ps handoff-failed odd']);
    expect(await world.request()).toMatchObject({ reason: null });
    await rounds(world, 40, isAt(world, 'done'));
    expect([world.done, world.posted]).toEqual([['ask', 'clear', 'resume'], []]);
  });

  it('that comes while the daemon runs is found when it is in the way; another agent is handed over meanwhile', async () => {
    const world = new MadeUp();
    await world.start();
    world.oddRows = [odd];
    expect(await world.request()).toMatchObject({ id: null, reason: 'untrusted' });
    expect(await world.request('b-ps')).toMatchObject({ reason: null });
    world.isTold = true;
    await rounds(world, 5, () => world.oddRows.length === 0);
    expect(await world.request()).toMatchObject({ reason: null });
  });
});

describe('a pause', () => {
  it('is taken out of the time of a step, which goes on where it was', async () => {
    const world = new MadeUp();
    await world.start();
    await world.request();
    await rounds(world, 40, isAt(world, 'prompted'));
    world.state = 'working';
    await rounds(world, 48);
    world.isPaused = true;
    await rounds(world, 500);
    expect(world.done).toEqual(['ask']);
    world.isPaused = false;
    // Of the five minutes one is left.
    expect(await rounds(world, 60, () => count(world, 'interrupt') > 0)).toBeLessThan(16);
  });
});

describe('a cleared agent that cannot be told', () => {
  it('gives its place up once a human knows, and is told as soon as it can be', async () => {
    const world = Object.assign(new MadeUp(), { isShut: true });
    world.config.handoff.maxParallel = 1;
    await world.start();
    await world.request();
    await rounds(world, 40, isAt(world, 'cleared'));
    await world.request('b-ps');
    await rounds(world, 80);
    expect([world.otherAsks, world.next('b-ps')]).toEqual([0, 'handoff requested, waits: other handoffs come first']);
    world.isTold = true;
    await rounds(world, 5, () => world.otherAsks > 0);
    expect([world.otherAsks, stepOf(world.handoff as Handoff)]).toEqual([1, 'cleared']);
    // Still the same one: another does not begin in it.
    await world.request();
    expect(world.handoffs('a-ps').length).toBe(1);
    world.isShut = false;
    await rounds(world, 40, isAt(world, 'done'));
    expect([stepOf(world.handoff as Handoff), count(world, 'clear'), count(world, 'resume')]).toEqual(['done', 1, 1]);
  });
});
