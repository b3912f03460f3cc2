import { createHash } from 'node:crypto';
import os from 'node:os';
import path from 'node:path';
import { makeFolderFor } from '../../act/allowance.ts';
import { writeByRename } from '../../act/install/own-file.ts';
import type { DocumentLook } from '../../decide/handoff/cycle.ts';
import { headNamed, verifyDocument } from '../../decide/handoff/document.ts';
import type { Handoff } from '../../model/handoff.ts';
import type { Git } from '../../sense/git.ts';
import { lookAtHandoff } from '../../sense/handoff-file.ts';

export interface SeenDocument {
  look: DocumentLook;
  /** null: there is none that could be read. */
  text: string | null;
}

interface LookParts {
  git: Git;
  uid: number;
  /** `handoff.dir` of the configuration. */
  dir: string;
  askedMs: number;
  /** The ids of the work that runs and has to be listed. */
  background: readonly string[];
}

/** Looks at the document an agent was asked for, and says what is wrong with it. */
export async function lookAtDocument(handoff: Handoff, parts: LookParts): Promise<SeenDocument> {
  const root = inProject(handoff) ? handoff.cwd : anchored(parts.dir);
  const found = lookAtHandoff(handoff.file, { root, uid: parts.uid, askedMs: parts.askedMs });
  if (found.kind !== 'ok') return { look: { kind: found.kind }, text: null };
  const { text, sha256, mtimeMs } = found;
  const hasGit = (await parts.git.head(handoff.cwd)) !== null;
  const problems = verifyDocument(text, { nonce: handoff.nonce, background: parts.background, hasGit });
  const named = headNamed(text);
  // Where git itself gives no answer, that is not the document's fault.
  if (hasGit && named !== null && (await parts.git.hasCommit(handoff.cwd, named)) === 'no')
    problems.push({ what: 'head', words: 'the commit it names as Git HEAD does not exist' });
  return { look: { kind: 'ok', sha256, mtimeMs, problems }, text };
}

/** The text, at its place again, over whatever is there now; its hash, or null where that cannot be. */
export function putBack(file: string, text: string): string | null {
  const bytes = Buffer.from(text);
  const folder = makeFolderFor(file);
  const written = folder.ok ? writeByRename(file, bytes, null) : folder;
  return written.ok ? createHash('sha256').update(bytes).digest('hex') : null;
}

function inProject({ file, cwd }: Handoff): boolean {
  return file.startsWith(`${cwd}${path.sep}`);
}

/** A directory of the configuration that is not inside the project. */
export function anchored(dir: string): string {
  return dir.startsWith('~/') ? path.join(os.homedir(), dir.slice(2)) : dir;
}
