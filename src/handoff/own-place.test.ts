// A handoff that was read back is only gone on with if it fits the agent, the configuration and the ledger.
import { chownSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { at, did } from '../../test/runs/handoff-cases.ts';
import { goodDocument } from '../../test/runs/handoff-document.ts';
import type { Handoff, HandoffStep } from '../model/handoff.ts';
import { type OwnPlace, whyNotOurs, whyNotPutBack } from './own-place.ts';

const root = mkdtempSync(path.join(os.tmpdir(), 'wk-own-place-'));
afterAll(() => rmSync(root, { recursive: true, force: true }));
const cwd = path.join(root, 'project');
const elsewhere = path.join(root, 'elsewhere');
const name = 'handoff-2026-01-02-03-04-05.md';
const dir = '.watchkeeper/handoffs';
mkdirSync(path.join(cwd, dir), { recursive: true });
mkdirSync(elsewhere);
symlinkSync(cwd, path.join(root, 'link'));

const recipe = { name: 'own', ask: 'x', file: 'notes/*-handoff.md', resume: 'x' };
const place: OwnPlace = { directories: [cwd, null], hasSession: (id) => id === 'old', dir, recipe: null };
const asked = did('ask', 'done', 1);
const whole = [asked, did('clear', 'done', 5)];
const one = (step: HandoffStep, given: Partial<Handoff> = {}) =>
  at(step, { cwd, file: path.join(cwd, dir, name), ...given });

describe('a handoff on record', () => {
  it.each<[string, string | null, Handoff, Partial<OwnPlace>?, typeof whole?]>([
    ['asked for at its place', null, one('prompted')],
    ['cleared', null, one('cleared')],
    ['not asked for yet', null, one('requested'), {}, []],
    ['known by the directory of its process', null, one('prompted'), { directories: [null, path.join(root, 'link')] }],
    [
      'in a directory that the configuration named before',
      null,
      one('prompted', { file: path.join(cwd, 'old', name) }),
    ],
    [
      'outside, where the configuration says',
      null,
      one('prompted', { file: path.join(elsewhere, name) }),
      { dir: elsewhere },
    ],
    ['of a recipe', null, one('prompted', { recipe: 'own', file: path.join(cwd, 'notes/a-handoff.md') }), { recipe }],
    [
      'of a recipe, whose file is not known yet',
      null,
      one('prompted', { recipe: 'own', file: path.join(cwd, recipe.file) }),
      { recipe },
    ],

    ['nobody asked for', 'the ledger has no request for it', one('prompted'), {}, []],
    [
      'asked for in vain',
      'the ledger has no request for it',
      one('prompted'),
      {},
      [{ ...asked, outcomes: [{ outcome: 'refused', reason: 'busy' }] }],
    ],
    ['nobody cleared', 'the ledger has no clear for it', one('cleared'), {}, [asked]],
    [
      'of another directory',
      'its directory is another one',
      one('prompted', { cwd: elsewhere, file: path.join(elsewhere, dir, name) }),
    ],
    ['outside', 'its file is in no place of ours', one('prompted', { file: path.join(elsewhere, name) })],
    [
      'below what the configuration names outside',
      'its file is in no place of ours',
      one('prompted', { file: path.join(elsewhere, 'x', name) }),
      { dir: elsewhere },
    ],
    [
      'with the name of the directory before it',
      'its file is in no place of ours',
      one('prompted', { file: path.join(`${cwd}-x`, name) }),
    ],
    [
      'of a recipe, elsewhere',
      'its file is in no place of ours',
      one('prompted', { recipe: 'own', file: path.join(cwd, '.git/config') }),
      { recipe },
    ],
    [
      'of a recipe that is gone, outside',
      'its file is in no place of ours',
      one('prompted', { recipe: 'own', file: '/etc/shadow' }),
      { recipe: undefined },
    ],
    [
      'with a session that never was',
      'the session before is none of its agent',
      one('cleared', { oldSession: 'made-up' }),
    ],
  ])('%s', (_, why, handoff, given = {}, actions = whole) =>
    expect(whyNotOurs(handoff, actions, { ...place, ...given }, null)).toBe(why),
  );

  it('has a stored document that is one', () => {
    expect(whyNotOurs(one('cleared'), whole, place, goodDocument('abcd1234'))).toBeNull();
    expect(whyNotOurs(one('cleared'), whole, place, goodDocument('another1'))).toMatch(/nonce/);
    expect(whyNotOurs(one('cleared'), whole, place, '* * * * * root reboot')).toMatch(/not good/);
  });
});

describe('the stored document is put back', () => {
  const text = goodDocument('abcd1234');
  const file = path.join(cwd, dir, name);

  it('only at its place, and only if it is a document', () => {
    expect(whyNotPutBack(one('cleared'), text, place)).toBeNull();
    expect(whyNotPutBack(one('cleared', { file: path.join(elsewhere, name) }), text, place)).toMatch(
      /no place of ours/,
    );
    expect(whyNotPutBack(one('cleared'), '* * * * * root reboot', place)).toMatch(/not good/);
  });

  it.skipIf(process.getuid?.() !== 0)('over no file of another user', () => {
    writeFileSync(file, 'theirs');
    chownSync(file, 65_534, 65_534);
    expect(whyNotPutBack(one('cleared'), text, place)).toMatch(/another user/);
    rmSync(file);
  });
});
