import { describe, expect, it } from 'vitest';
import {
  againWords,
  askWords,
  documentRecipe,
  policyFor,
  type Recipe,
  recipeCalled,
  recipeFile,
  recipeFor,
  resumeWords,
  whyBadWords,
} from './recipe.ts';

/** Seed 002: checkpoint, clear, rehydrate. */
const tina: Recipe = {
  name: 'tina',
  match: 'team-lead*',
  atPercent: 50,
  ask: '/tina:checkpoint',
  file: '.tina/phase-*/handoff.md',
  resume: '/tina:rehydrate',
};
const prose: Recipe = {
  name: 'prose',
  ask: 'Save your work to {file} ({why}), put {nonce} into it and name what runs: {background}.',
  file: 'notes/handoff.md',
  resume: 'Read {file} and go on.',
};
const choice = { recipe: documentRecipe, recipes: [tina, prose] };
const request = {
  file: '/p/notes/handoff.md',
  projectDir: '/p',
  nonce: 'wk-1',
  why: 'your context window is 87% full',
  background: ['task-1', 'a$b'],
};

describe('which recipe an agent hands over by', () => {
  it.each<[string, string, string | null]>([
    ['demo-ps', documentRecipe, null],
    ['team-lead-3', documentRecipe, 'tina'],
    ['demo-ps', 'prose', 'prose'],
    ['team-lead-3', 'prose', 'tina'],
    ['demo-ps', 'gone', null],
  ])('%s with %s by default: %s', (agent, recipe, name) =>
    expect(recipeFor(agent, { ...choice, recipe })?.name ?? null).toBe(name),
  );
  it('says when it is handed over', () => {
    const handoff = { ...choice, atPercent: 85, compaction: 'leave' as const };
    expect(policyFor('team-lead-3', handoff)).toEqual({ atPercent: 50, compaction: 'leave' });
    expect(policyFor('demo-ps', handoff)).toEqual({ atPercent: 85, compaction: 'leave' });
  });
  it('is known again by its name', () => {
    expect(recipeCalled(documentRecipe, choice.recipes)).toBeNull();
    expect(recipeCalled('tina', choice.recipes)).toBe(tina);
    expect(recipeCalled('gone', choice.recipes)).toBeUndefined();
  });
});

describe('its words', () => {
  it('are our own document without one', () => {
    expect(askWords(null, request, {})).toMatchObject({ ok: true, isCommand: false, text: /^Please write a handoff/ });
    expect(againWords(null, [{ what: 'head', words: 'Git HEAD names no commit' }], request, {})).toMatchObject({
      text: expect.stringContaining('Git HEAD names no commit'),
    });
    expect(resumeWords(null, request, {})).toMatchObject({ ok: true, text: /^Please read the handoff/ });
    expect(recipeFile(null, 'h', '/p', 0, new Set())).toBe('/p/h/handoff-1970-01-01-00-00-00.md');
  });
  it('are commands where it has commands', () => {
    expect(askWords(tina, request, {})).toEqual({ ok: true, text: '/tina:checkpoint', isCommand: true });
    expect(againWords(tina, [], request, {})).toEqual({ ok: true, text: '/tina:checkpoint', isCommand: true });
    expect(resumeWords(tina, request, {})).toEqual({ ok: true, text: '/tina:rehydrate', isCommand: true });
    expect(recipeFile(tina, 'h', '/p', 0, new Set())).toBe('/p/.tina/phase-*/handoff.md');
  });
  it('are filled where they have slots', () => {
    expect(askWords(prose, request, {})).toEqual({
      ok: true,
      isCommand: false,
      text: 'Save your work to /p/notes/handoff.md (your context window is 87% full), put wk-1 into it and name what runs: “task-1” and 1 more.',
    });
    expect(resumeWords({ ...prose, resume: '/proceed {file}' }, request, {})).toEqual({
      ok: true,
      isCommand: true,
      text: '/proceed /p/notes/handoff.md',
    });
  });
  it('name the file by its place in the project where its full path cannot be typed', () => {
    const odd = { ...request, projectDir: '/my work/@x', file: '/my work/@x/notes/handoff.md' };
    expect(askWords(prose, odd, {})).toMatchObject({ text: expect.stringContaining('to notes/handoff.md (') });
    expect(resumeWords(prose, odd, {})).toMatchObject({ ok: true });
  });
  it('are not typed where the path cannot be', () => {
    const odd = { ...request, file: "/it's/x.md" };
    expect(resumeWords(prose, odd, {})).toEqual({ ok: false, reason: expect.stringContaining('{file}') });
    expect(resumeWords(tina, odd, {})).toMatchObject({ ok: true });
  });
});

describe('a recipe may say', () => {
  it.each([
    '/tina:checkpoint',
    '/checkpoint-now {file}',
    '/save "a b"',
    '/x',
    'Save your work.',
    'Read {file}.',
    '/clearly',
    '/planning',
  ])('%s', (text) => expect(whyBadWords(text, 'ask')).toBeNull());
  it.each([
    ['/clear', '/clear is a command of the client itself'],
    ['/CLEAR', '/clear is a command of the client itself'],
    ['/compact now', '/compact is a command of the client itself'],
    ['/exit', '/exit is'],
    ['/quit', '/quit is'],
    ['/resume x', '/resume is'],
    ['/login', '/login is'],
    ['/logout', '/logout is'],
    ['/model opus', '/model is'],
    ['/cle', '/clear is'],
    ['/c', 'is a command of the client itself'],
    ['/', 'a command is one line'],
    ['/ clear', 'a command is one line'],
    ['//clear', 'a command is one line'],
    ['/a\n/clear', 'a command is one line'],
    ['/zz \\', 'trailing'],
    ['!ls', 'shell command'],
    [' /clear', 'command of the client'],
    ['{file}', 'begins with a slot'],
    ['Read {percent}.', 'it has no slot {percent}, only {file}, {nonce}, {why}, {background}'],
    ['Read {file', 'brace'],
    ['two\nlines', 'one line'],
    ['a\u001b[1m', 'control'],
    ['x'.repeat(1_001), 'at most 1000 characters'],
    ['', 'empty'],
  ])('not %j', (text, why) => expect(whyBadWords(text, 'ask')).toContain(why));
  it('nothing of the request when it resumes', () =>
    expect(whyBadWords('Go on, {why}', 'resume')).toContain('no slot {why}'));
});
