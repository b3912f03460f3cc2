import { lstatSync, realpathSync } from 'node:fs';
import path from 'node:path';
import { timesTried } from '../decide/handoff/deeds.ts';
import { verifyDocument } from '../decide/handoff/document.ts';
import { documentRecipe, type Recipe } from '../decide/handoff/recipe.ts';
import { matchesGlob } from '../model/glob.ts';
import { type Handoff, type HandoffAction, type HandoffDeed, type HandoffStep, stepOf } from '../model/handoff.ts';

// A handoff that an earlier run left is a row, and whoever can write rows can have written it. What follows from it has
// to be what would follow from the agent, the configuration and the ledger.

export interface OwnPlace {
  /** Where the agent is, by its own word and by its process. */
  directories: readonly (string | null)[];
  /** The client has a record of that session of the agent. */
  hasSession: (sessionId: string) => boolean;
  /** Of the configuration. */
  dir: string;
  /** null: our own document. undefined: the configuration has it no more. */
  recipe: Recipe | null | undefined;
}

const unasked: readonly HandoffStep[] = ['requested', 'failed'];
const cleared: readonly HandoffStep[] = ['cleared', 'resumed', 'confirmed', 'done'];

/** What is not ours about it; null: nothing. `stored`: its document, if it has one. */
export function whyNotOurs(
  handoff: Handoff,
  actions: readonly HandoffAction[],
  place: OwnPlace,
  stored: string | null,
): string | null {
  const was = (deed: HandoffDeed) => timesTried({ facts: { nowMs: 0, actions } }, deed) > 0;
  const step = stepOf(handoff);
  if (!unasked.includes(step) && !was('ask')) return 'the ledger has no request for it';
  if (cleared.includes(step) && !was('clear')) return 'the ledger has no clear for it';
  if (!place.directories.some((directory) => isSame(directory, handoff.cwd))) return 'its directory is another one';
  if (!isInPlace(handoff, place)) return 'its file is in no place of ours';
  if (cleared.includes(step) && !place.hasSession(handoff.oldSession)) return 'the session before is none of its agent';
  return stored === null ? null : whyNotGood(handoff, stored);
}

/** Also in a directory of the project that the configuration named before. */
function isInPlace({ file, cwd, recipe: name }: Handoff, { dir, recipe }: OwnPlace): boolean {
  const inside = path.relative(cwd, file);
  const isInside = inside !== '' && inside !== '..' && !inside.startsWith(`..${path.sep}`);
  if (name === documentRecipe) return isInside || path.dirname(file) === path.resolve(cwd, dir);
  if (recipe == null) return isInside;
  const parts = path.normalize(recipe.file).split(path.sep);
  const names = inside.split(path.sep);
  const isLike = parts.length === names.length && parts.every((part, index) => matchesGlob(part, names[index] ?? ''));
  return isInside && (isLike || file === path.join(cwd, recipe.file));
}

/** Why the stored text is not written to its place again; null: it may be. */
export function whyNotPutBack(handoff: Handoff, text: string, place: OwnPlace): string | null {
  if (!isInPlace(handoff, place)) return 'its file is in no place of ours';
  // A rename takes the place of what is there, and follows no link; those on the way are looked for when it is written.
  if (belongsToAnother(handoff.file)) return 'a file of another user is in its place';
  return whyNotGood(handoff, text);
}

function whyNotGood(handoff: Handoff, text: string): string | null {
  if (handoff.recipe !== documentRecipe) return null;
  const [problem] = verifyDocument(text, { nonce: handoff.nonce, background: [], hasGit: false });
  return problem === undefined ? null : `the stored document is not good: ${problem.words}`;
}

function belongsToAnother(file: string): boolean {
  const uid = lstatSync(file, { throwIfNoEntry: false })?.uid;
  return uid !== undefined && uid !== process.getuid?.();
}

function isSame(directory: string | null, cwd: string): boolean {
  if (directory === null) return false;
  try {
    return directory === cwd || realpathSync(directory) === realpathSync(cwd);
  } catch {
    return false;
  }
}
