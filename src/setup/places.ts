import { existsSync, readFileSync, realpathSync, statSync } from 'node:fs';
import path from 'node:path';
import type { InstallableClient } from '../clients/clients.ts';
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
  /** Where the files are that its model is given to read. */
  instructions: string;
  /** Other settings that count for the same agents, the weakest first. */
  others: string[];
  /** null for those of a user. */
  project: string | null;
}

export type BadPlace = 'usage' | 'not-found';

export function placesOf(client: InstallableClient, target: Target, around: Surroundings): Result<Places, BadPlace> {
  const given = [target.dir !== null, target.user, target.configDir !== null].filter(Boolean).length;
  if (given > 1) return fail('usage', 'DIR, --user and --config-dir exclude each other', 'give one of them');
  if (target.configDir !== null) {
    const folder = existing(path.resolve(around.cwd, target.configDir));
    return folder.ok ? ok(ofUser(client, folder.value)) : folder;
  }
  if (target.user) return ok(ofUser(client, userConfigDir(client, around)));
  return placesInProject(client, path.resolve(around.cwd, target.dir ?? '.'), userConfigDir(client, around));
}

/** `configDir`: where the user's own are. */
export function placesInProject(
  client: InstallableClient,
  directory: string,
  configDir: string,
): Result<Places, BadPlace> {
  const { ofProject, ofUser, shared } = client.installer.settings;
  const project = existing(directory);
  if (!project.ok) return project;
  const local = (folder: string) => path.join(folder, ofProject);
  const root = checkoutOf(project.value);
  return ok({
    settings: local(project.value),
    instructions: project.value,
    // Seen on 2.1.325: the user's, the directory's own two, and the local ones of the repository it is in (for a work
    // tree, of the main one). Folders in between do not count.
    others: [
      path.join(configDir, ofUser),
      path.join(project.value, shared),
      ...(root === null || root === project.value ? [] : [local(root)]),
    ],
    project: project.value,
  });
}

function ofUser({ installer }: InstallableClient, configDir: string): Places {
  const settings = path.join(configDir, installer.settings.ofUser);
  return { settings, instructions: configDir, others: [], project: null };
}

export function userConfigDir({ recognition }: InstallableClient, around: Surroundings): string {
  const named = recognition.environmentNames.flatMap((name) => {
    const value = name === 'HOME' ? around.userHome : around.environment[name];
    return value === undefined ? [] : [[name, value]];
  });
  return recognition.configDir(Object.fromEntries(named), around.cwd) ?? recognition.defaultConfigDir(around.userHome);
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
