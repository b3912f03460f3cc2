import { existsSync, readFileSync, realpathSync, statSync } from 'node:fs';
import path from 'node:path';
import { claudeCode } from '../clients/claude-code/client.ts';
import { fail, ok, type Result } from '../model/result.ts';

/** Whose settings are meant. */
export interface Target {
  /** A project's directory; null: the one Watchkeeper was called in, unless `user` or `configDir` says otherwise. */
  dir: string | null;
  user: boolean;
  configDir: string | null;
}

export interface Surroundings {
  environment: NodeJS.ProcessEnv;
  userHome: string;
  cwd: string;
}

export interface Places {
  settings: string;
  /** Where CLAUDE.md and AGENTS.md are. */
  instructions: string;
  /** Other settings that count for the same agents, the weakest first. */
  others: string[];
  /** null for those of a user. */
  project: string | null;
}

export type BadPlace = 'usage' | 'not-found';

export function placesOf(target: Target, around: Surroundings): Result<Places, BadPlace> {
  const given = [target.dir !== null, target.user, target.configDir !== null].filter(Boolean).length;
  if (given > 1) return fail('usage', 'DIR, --user and --config-dir exclude each other', 'give one of them');
  if (target.configDir !== null) {
    const folder = existing(path.resolve(around.cwd, target.configDir));
    return folder.ok ? ok(ofUser(folder.value)) : folder;
  }
  if (target.user) return ok(ofUser(userConfigDir(around)));
  const project = existing(path.resolve(around.cwd, target.dir ?? '.'));
  if (!project.ok) return project;
  const local = (folder: string) => path.join(folder, '.claude', 'settings.local.json');
  const root = checkoutOf(project.value);
  return ok({
    settings: local(project.value),
    instructions: project.value,
    // Seen on 2.1.325: the user's, the directory's own two, and the local ones of the repository it is in (for a work
    // tree, of the main one). Folders in between do not count.
    others: [
      path.join(userConfigDir(around), 'settings.json'),
      path.join(project.value, '.claude', 'settings.json'),
      ...(root === null || root === project.value ? [] : [local(root)]),
    ],
    project: project.value,
  });
}

function ofUser(configDir: string): Places {
  return { settings: path.join(configDir, 'settings.json'), instructions: configDir, others: [], project: null };
}

export function userConfigDir(around: Surroundings): string {
  const { CLAUDE_CONFIG_DIR: own } = around.environment;
  const environment = { HOME: around.userHome, ...(own ? { CLAUDE_CONFIG_DIR: own } : {}) };
  return (
    claudeCode.recognition.configDir(environment, around.cwd) ??
    claudeCode.recognition.defaultConfigDir(around.userHome)
  );
}

function existing(folder: string): Result<string, BadPlace> {
  try {
    const real = realpathSync(folder);
    if (statSync(real).isDirectory()) return ok(real);
    return fail('usage', `${folder} is no directory`, 'name a directory');
  } catch {
    return fail('not-found', `there is no directory ${folder}`, 'make it, or name another');
  }
}

/** The top of the git repository this folder is in; the main one where it is a further work tree. */
function checkoutOf(folder: string): string | null {
  for (let above = folder; ; above = path.dirname(above)) {
    const git = path.join(above, '.git');
    if (existsSync(git)) return mainCheckout(git) ?? above;
    if (above === path.dirname(above)) return null;
  }
}

/** A further work tree has a file there, which names a folder within the main one's `.git`. */
function mainCheckout(git: string): string | null {
  try {
    if (!statSync(git).isFile() || statSync(git).size > 10_000) return null;
    const named = /^gitdir: (.+)/.exec(readFileSync(git, 'utf8'))?.[1]?.trimEnd();
    if (named === undefined) return null;
    const inside = path.resolve(path.dirname(git), named);
    const common = path.resolve(inside, readFileSync(path.join(inside, 'commondir'), 'utf8').trim());
    return path.basename(common) === '.git' ? realpathSync(path.dirname(common)) : null;
  } catch {
    return null;
  }
}
