import { readdirSync, readFileSync, realpathSync } from 'node:fs';
import path from 'node:path';
import { isEntryOf } from '../clients/client.ts';
import type { InstallableClient } from '../clients/clients.ts';
import type { Versions } from '../clients/installer.ts';
import { ownFiles } from '../sense/files.ts';
import { isDead, registryBytesMax } from '../sense/fleet.ts';
import { linuxProcesses } from '../sense/processes.ts';
import { type Surroundings, userConfigDir } from './places.ts';

/** Whose agents are asked for their versions. */
interface Whose {
  /** Agents with one of these config directories, */
  configDirs: readonly string[];
  /** and those that work in this directory; null: none. */
  project: string | null;
}

/**
 * The versions of a client in use: of the agents that run, and of the one that would be started next. That is the one
 * the PATH leads to; the PATH of cron or of a service leads to none, so the usual places are looked at then. Everything
 * is read from files and /proc; nothing is run.
 */
export function versionsInUse(
  client: InstallableClient,
  environment: NodeJS.ProcessEnv,
  userHome: string,
  whose: Whose,
): string[] {
  const of = (program: string) => versionOf(program, client.installer.versions);
  const onPath = (environment.PATH ?? '').split(path.delimiter).filter((folder) => path.isAbsolute(folder));
  const { program } = client.recognition;
  const next = onPath.map((folder) => of(path.join(folder, program))).find((version) => version !== null);
  const installed = next == null ? usualPlaces(client, userHome).map(of) : [next];
  return [...new Set([...installed, ...runningVersions(client, whose)])].filter((version) => version !== null);
}

/** Agents to which these settings count, and others of this user, who starts the same client. */
export function whoseSettings(client: InstallableClient, file: string, around: Surroundings): Whose {
  const { ofProject } = client.installer.settings;
  const project = file.endsWith(`/${ofProject}`) ? file.slice(0, -ofProject.length - 1) || '/' : null;
  const configDirs = [userConfigDir(client, around), ...(project === null ? [path.dirname(file)] : [])];
  return { configDirs, project };
}

function runningVersions(client: InstallableClient, { configDirs, project }: Whose): (string | null)[] {
  const { recognition, sources } = client;
  const processes = linuxProcesses();
  const files = ownFiles(processes.uid);
  return names('/proc').flatMap((name) => {
    const info = /^\d+$/.test(name) ? processes.info(Number(name)) : null;
    if (info === null || isDead(info) || info.uid !== processes.uid || !recognition.mayBe(info)) return [];
    const cwd = processes.directory(info.pid);
    const variables = processes.environment(info.pid, recognition.environmentNames);
    const configDir = variables === null ? null : recognition.configDir(variables, cwd);
    const isTheirs = configDir !== null && configDirs.includes(configDir);
    if (!isTheirs && (project === null || cwd === null || !`${cwd}/`.startsWith(`${project}/`))) return [];
    const { registry } = sources;
    const read =
      configDir === null || registry === undefined
        ? null
        : files.readSmall(registry.file(configDir, info.pid), registryBytesMax);
    const entry = read?.ok ? (registry?.parse(read.text) ?? null) : null;
    if (entry !== null && isEntryOf(entry, info) && entry.version !== null) return [plain(entry.version)];
    const [program, words] = [processes.executable(info.pid), processes.arguments(info.pid)];
    if (!recognition.isProgram(program, words)) return [];
    // An older one is a script: then the program is Node.
    const { versions } = client.installer;
    return [versionOf(program ?? '', versions) ?? versionOf(words?.[1] ?? '', versions)];
  });
}

/** Where installers and version managers put it. */
function usualPlaces({ recognition: { program }, installer: { versions } }: InstallableClient, userHome: string) {
  const home = (...parts: string[]) => path.join(userHome, ...parts);
  const inEach = (folder: string, rest: string) => names(folder).map((name) => path.join(folder, name, rest, program));
  return [
    ...versions.places.map((place) => home(place)),
    home('.npm-global/bin', program),
    home('.bun/bin', program),
    home('.volta/tools/image/packages', versions.npmPackage, 'bin', program),
    ...inEach(home('.nvm/versions/node'), 'bin'),
    ...inEach(home('.local/share/fnm/node-versions'), 'installation/bin'),
    ...inEach(home('.asdf/installs/nodejs'), 'bin'),
    ...npmPrefix(home('.npmrc')).map((prefix) => path.join(prefix, 'bin', program)),
    ...['/usr/local/bin', '/opt/homebrew/bin', '/home/linuxbrew/.linuxbrew/bin'].map((bin) => path.join(bin, program)),
  ];
}

function npmPrefix(file: string): string[] {
  try {
    const prefix = /^prefix\s*=\s*(\/\S+)\s*$/m.exec(readFileSync(file, 'utf8'))?.[1];
    return prefix === undefined ? [] : [prefix];
  } catch {
    return [];
  }
}

/** By where it really lies, or by the package it belongs to. */
function versionOf(program: string, versions: Versions): string | null {
  let real: string;
  try {
    real = realpathSync(program);
  } catch {
    return null;
  }
  return versions.ofPlace(real) ?? packageVersion(path.dirname(real), versions.npmPackage);
}

function packageVersion(folder: string, npmPackage: string): string | null {
  for (const above of [folder, path.dirname(folder)]) {
    try {
      const { name, version } = JSON.parse(readFileSync(path.join(above, 'package.json'), 'utf8')) as {
        name: unknown;
        version: unknown;
      };
      if (String(name).startsWith(npmPackage)) return plain(String(version));
    } catch {
      // Not the package's own folder.
    }
  }
  return null;
}

/** Whatever stands there is shown to people. */
function plain(version: string): string | null {
  return /^\d{1,6}\.\d{1,6}\.\d{1,6}/.exec(version)?.[0] ?? null;
}

function names(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}
