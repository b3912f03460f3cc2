import { readdirSync, readFileSync, realpathSync } from 'node:fs';
import path from 'node:path';
import { claudeCode } from '../clients/claude-code/client.ts';
import { isEntryOf } from '../clients/client.ts';
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
 * The versions of Claude Code in use: of the agents that run, and of the one that would be started next. That is the one
 * the PATH leads to; the PATH of cron or of a service leads to none, so the usual places are looked at then. Everything
 * is read from files and /proc; nothing is run.
 */
export function versionsInUse(environment: NodeJS.ProcessEnv, userHome: string, whose: Whose): string[] {
  const onPath = (environment.PATH ?? '').split(path.delimiter).filter((folder) => path.isAbsolute(folder));
  const next = onPath.map((folder) => versionOf(path.join(folder, 'claude'))).find((version) => version !== null);
  const installed = next == null ? usualPlaces(userHome).map(versionOf) : [next];
  return [...new Set([...installed, ...runningVersions(whose)])].filter((version) => version !== null);
}

/** Agents to which these settings count, and others of this user, who starts the same client. */
export function whoseSettings(file: string, around: Surroundings): Whose {
  const folder = path.dirname(file);
  const isProject = path.basename(file) === 'settings.local.json';
  const configDirs = [userConfigDir(around), ...(isProject ? [] : [folder])];
  return { configDirs, project: isProject ? path.dirname(folder) : null };
}

function runningVersions({ configDirs, project }: Whose): (string | null)[] {
  const processes = linuxProcesses();
  const files = ownFiles(processes.uid);
  return names('/proc').flatMap((name) => {
    const info = /^\d+$/.test(name) ? processes.info(Number(name)) : null;
    if (info === null || isDead(info) || info.uid !== processes.uid || !claudeCode.recognition.mayBe(info)) return [];
    const cwd = processes.directory(info.pid);
    const variables = processes.environment(info.pid, claudeCode.recognition.environmentNames);
    const configDir = variables === null ? null : claudeCode.recognition.configDir(variables, cwd);
    const isTheirs = configDir !== null && configDirs.includes(configDir);
    if (!isTheirs && (project === null || cwd === null || !`${cwd}/`.startsWith(`${project}/`))) return [];
    const registry =
      configDir === null
        ? null
        : files.readSmall(claudeCode.sources.registry.file(configDir, info.pid), registryBytesMax);
    const entry = registry?.ok ? claudeCode.sources.registry.parse(registry.text) : null;
    if (entry !== null && isEntryOf(entry, info) && entry.version !== null) return [plain(entry.version)];
    const [program, words] = [processes.executable(info.pid), processes.arguments(info.pid)];
    if (!claudeCode.recognition.isProgram(program, words)) return [];
    // An older one is a script: then the program is Node.
    return [versionOf(program ?? '') ?? versionOf(words?.[1] ?? '')];
  });
}

/** Where installers and version managers put it. */
function usualPlaces(userHome: string): string[] {
  const home = (...parts: string[]) => path.join(userHome, ...parts);
  const inEach = (folder: string, ...rest: string[]) => names(folder).map((name) => path.join(folder, name, ...rest));
  return [
    home('.local/bin/claude'),
    home('.claude/local/node_modules/@anthropic-ai/claude-code/cli.js'),
    home('.claude/local/node_modules/.bin/claude'),
    home('.npm-global/bin/claude'),
    home('.bun/bin/claude'),
    home('.volta/tools/image/packages/@anthropic-ai/claude-code/bin/claude'),
    ...inEach(home('.nvm/versions/node'), 'bin/claude'),
    ...inEach(home('.local/share/fnm/node-versions'), 'installation/bin/claude'),
    ...inEach(home('.asdf/installs/nodejs'), 'bin/claude'),
    ...npmPrefix(home('.npmrc')).map((prefix) => path.join(prefix, 'bin/claude')),
    '/usr/local/bin/claude',
    '/opt/homebrew/bin/claude',
    '/home/linuxbrew/.linuxbrew/bin/claude',
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
function versionOf(program: string): string | null {
  let real: string;
  try {
    real = realpathSync(program);
  } catch {
    return null;
  }
  const byPlace = /\/(?:claude\/versions|Caskroom\/claude-code(?:@\w+)?)\/(\d+\.\d+\.\d+)/.exec(real)?.[1];
  return byPlace ?? packageVersion(path.dirname(real));
}

function packageVersion(folder: string): string | null {
  for (const above of [folder, path.dirname(folder)]) {
    try {
      const { name, version } = JSON.parse(readFileSync(path.join(above, 'package.json'), 'utf8')) as {
        name: unknown;
        version: unknown;
      };
      if (String(name).startsWith('@anthropic-ai/claude-code')) return plain(String(version));
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
