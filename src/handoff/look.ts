import { createHash } from 'node:crypto';
import os from 'node:os';
import path from 'node:path';
import { makeFolderFor } from '../act/allowance.ts';
import { writeByRename } from '../act/install/own-file.ts';
import { headNamed, verifyDocument } from '../decide/handoff/document.ts';
import type { DocumentLook } from '../decide/handoff/moves.ts';
import { documentRecipe, type Recipe } from '../decide/handoff/recipe.ts';
import { type Handoff, type HandoffChange, stepOf } from '../model/handoff.ts';
import { lookInto, storable } from '../model/text.ts';
import type { Git } from '../sense/git.ts';
import { lookAtHandoff, newestHandoff } from '../sense/handoff-file.ts';

export interface SeenDocument {
  look: DocumentLook;
  /** As it may be stored; null: there is none that could be read. */
  text: string | null;
  /** The one that was looked at. */
  file: string;
}

interface LookParts {
  git: Git;
  uid: number;
  askedMs: number;
  /** The ids of the work that runs and has to be listed. */
  background: readonly string[];
  /** null: our own document. undefined: the configuration has it no more. */
  recipe: Recipe | null | undefined;
}

/** Looks at the document an agent was asked for, and says what is wrong with it. */
export async function lookAtDocument(handoff: Handoff, parts: LookParts): Promise<SeenDocument> {
  // By the handoff alone: the configuration may name another directory by now.
  const root = inProject(handoff) ? handoff.cwd : path.dirname(handoff.file);
  const isOurs = handoff.recipe === documentRecipe;
  // Which of a recipe's files it is was decided when it was stored.
  const isStored = parts.recipe == null || stepOf(handoff) === 'cleared';
  const pattern = isStored ? handoff.file : path.join(handoff.cwd, parts.recipe?.file ?? '');
  const file = isOurs ? handoff.file : newestHandoff(pattern, { root });
  const found = lookAtHandoff(file, { root, uid: parts.uid, askedMs: parts.askedMs });
  if (found.kind !== 'ok') return { look: { kind: found.kind }, text: null, file };
  const { sha256, mtimeMs } = found;
  const text = storable(found.text);
  // What a recipe's file has to hold is known to the recipe alone.
  if (!isOurs) return { look: { kind: 'ok', sha256, mtimeMs, problems: [] }, text, file };
  const hasGit = (await parts.git.head(handoff.cwd)) !== null;
  const expected = { nonce: handoff.nonce, background: parts.background, hasGit };
  const problems = verifyDocument(lookInto(found.text), expected);
  // What is stored and put back has to be as good as what was written.
  const [lacks] = problems.length === 0 ? verifyDocument(text, expected) : [];
  if (lacks !== undefined)
    problems.push({ ...lacks, words: `what looks like a secret is left out of its copy, and then ${lacks.words}` });
  const named = headNamed(text);
  // Where git itself gives no answer, that is not the document's fault.
  if (hasGit && named !== null && (await parts.git.hasCommit(handoff.cwd, named)) === 'no')
    problems.push({ what: 'head', words: 'the commit it names as Git HEAD does not exist' });
  return { look: { kind: 'ok', sha256, mtimeMs, problems }, text, file };
}

/** The text, at its place again. */
export function putBack(file: string, text: string): { reason: string } & Pick<HandoffChange, 'document'> {
  const bytes = Buffer.from(text);
  const folder = makeFolderFor(file);
  const written = folder.ok ? writeByRename(file, bytes, 0o600) : folder;
  if (!written.ok) return { reason: 'the document is gone' };
  const sha256 = createHash('sha256').update(bytes).digest('hex');
  return { reason: 'the document was put back', document: { text, sha256 } };
}

function inProject({ file, cwd }: Handoff): boolean {
  return file.startsWith(`${cwd}${path.sep}`);
}

/** A directory of the configuration that is not inside the project. */
export function anchored(dir: string): string {
  return dir.startsWith('~/') ? path.join(os.homedir(), dir.slice(2)) : dir;
}
