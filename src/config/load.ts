import { existsSync } from 'node:fs';
import path from 'node:path';
import { ok } from '../model/result.ts';
import { printable } from '../model/text.ts';
import { type ConfigKey, configKeys, getKey, narrowed, refuseProjectValue } from './narrow.ts';
import { type ConfigPlaces, configFiles, isInside, isNamed, realPath } from './places.ts';
import { badConfig, type ConfigProblem, type ConfigResult, formatProblem } from './problem.ts';
import { readConfigText } from './read.ts';
import { type Config, defaultConfig, type FileConfig } from './schema.ts';
import { describeFound, validate, valueAt } from './validate.ts';
import { type KeyPath, parseYaml, type YamlValue } from './yaml.ts';

interface ConfigFile {
  path: string;
  role: 'machine' | 'project';
  found: boolean;
}

export interface LoadedConfig {
  /** The machine's: for everything but the agents in the project's directory. */
  config: Config;
  /** `default` or `file:line`. */
  origins: Record<ConfigKey, string>;
  project: ProjectConfig | null;
  files: ConfigFile[];
  /** As they were read. */
  read: ReadFiles;
}

/** What is in force for the agents in one directory; null where its file says nothing. */
interface ProjectConfig {
  directory: string;
  config: Config;
  /** What its file says, and where. */
  said: readonly { key: ConfigKey; value: unknown; origin: string }[];
}

export interface ReadFiles {
  machine: OneFile;
  project: OneFile | null;
}

// A hopeless file is as clear after a hundred lines.
const problemsMax = 100;

export function loadConfig(places: ConfigPlaces): ConfigResult<LoadedConfig> {
  const { read, problems } = readFiles(places);
  return loadRead(read, problems, places.home);
}

/**
 * For a start. Whoever wrote a bad file of a project has no say over the machine: it is left out. Its agents are only watched until it
 * is right, since nobody knows by how much it was to narrow what is done to them.
 */
export function loadForStart(places: ConfigPlaces): ConfigResult<LoadedConfig> {
  const { read, problems } = readFiles(places);
  if (problems.length > 0) return loadRead(read, problems, places.home);
  const isLeftOut = projectProblems(read).length > 0;
  const project = read.project === null ? null : { ...read.project, isLeftOut };
  return ok(inForce({ ...read, project }, places.home));
}

/** Both files as they are now; `problems`: of the machine's. Those of a project's file are seen where it is put over it. */
export function readFiles(places: ConfigPlaces): { read: ReadFiles; problems: ConfigProblem[] } {
  const { machine, project } = configFiles(places);
  return readBoth({ machine, project, mustExist: isNamed(places) });
}

/** For `config check FILE`: the project's own file as `up` would take it, any other as if it were the machine's. */
export function checkConfigFile(file: string, places: ConfigPlaces): ConfigResult<LoadedConfig> {
  const machine = path.resolve(places.projectDir, file);
  const { project } = configFiles(places);
  if (project !== null && existsSync(machine) && realPath(machine) === realPath(project)) return loadConfig(places);
  const { read, problems } = readBoth({ machine, project: null, mustExist: true });
  return loadRead(read, problems, places.home);
}

function readBoth(paths: { machine: string; project: string | null; mustExist: boolean }) {
  const machine = readOne(paths.machine);
  const problems = [...machine.problems];
  if (!machine.found && paths.mustExist) {
    problems.push(whole(paths.machine, 'no such file: a configuration file that is named has to exist'));
  }
  return { read: { machine, project: paths.project === null ? null : readOne(paths.project) }, problems };
}

function loadRead(read: ReadFiles, machine: ConfigProblem[], home: string): ConfigResult<LoadedConfig> {
  const problems = [...machine, ...projectProblems(read)];
  return problems.length > 0 ? badConfig(inOrder(problems)) : ok(inForce(read, home));
}

/** What is in force with files that are right. */
export function inForce(read: ReadFiles, home: string): LoadedConfig {
  const { machine, project } = read;
  const config: Config = { ...structuredClone(machine.config ?? defaultConfig()), projectAgents: null };
  if (machine.missed !== null) config.mode = 'watch';
  expandHome(config, home);
  const origins = {} as Record<ConfigKey, string>;
  for (const key of configKeys) origins[key] = originIn(machine, key.split('.')) ?? 'default';
  if (machine.missed !== null) origins.mode = missedOrigin(machine.missed);
  const files = [machine, ...(project === null ? [] : [project])].map(
    (file, index): ConfigFile => ({ path: file.path, role: index === 0 ? 'machine' : 'project', found: file.found }),
  );
  return { config, origins, project: project === null ? null : ofProject(config, project), files, read };
}

function ofProject(machine: Config, project: OneFile): ProjectConfig | null {
  const { config, isLeftOut } = project;
  const said: { key: ConfigKey; value: unknown; origin: string }[] = configKeys.flatMap((key) => {
    const origin = originIn(project, key.split('.'));
    return origin === null || config === null || isLeftOut ? [] : [{ key, origin, value: getKey(config, key) }];
  });
  if (isLeftOut) said.push({ key: 'mode', origin: `${printable(project.path)} is left out`, value: 'watch' });
  if (project.missed !== null) said.push({ key: 'mode', origin: missedOrigin(project.missed), value: 'watch' });
  if (said.length === 0) return null;
  const directory = directoryOf(project);
  return {
    directory,
    config: narrowed(machine, new Map(said.map(({ key, value }) => [key, value])), directory),
    said,
  };
}

/** The configuration for an agent in any of these directories: as it says itself, and as its process has it. */
export function configAt({ config, project }: LoadedConfig, directories: readonly (string | null)[]): Config {
  if (project === null) return config;
  const isThere = directories.some((place) => place !== null && isInside(project.directory, realPath(place)));
  return isThere ? project.config : config;
}

function missedOrigin(file: string): string {
  return `${printable(file)} is missing`;
}

function directoryOf(project: OneFile): string {
  return realPath(path.dirname(project.path));
}

export interface OneFile {
  path: string;
  found: boolean;
  /** It is there and not empty. */
  says: boolean;
  /** What the last run had in its place, and this one does not find, or finds empty; null: nothing. */
  missed: string | null;
  /** A start found something wrong with it. */
  isLeftOut: boolean;
  /** null when it is missing or no YAML. */
  yaml: YamlValue | null;
  /** null when something is wrong with it. */
  config: FileConfig | null;
  problems: ConfigProblem[];
}

function readOne(file: string): OneFile {
  const one = {
    path: file,
    found: true,
    says: true,
    missed: null,
    isLeftOut: false,
    yaml: null,
    config: null,
    problems: [],
  };
  const bad = (problems: OneFile['problems']) => ({ ...one, problems });
  const read = readConfigText(file);
  if (read.kind === 'missing') return { ...one, found: false, says: false, config: defaultConfig() };
  if (read.kind === 'bad') return bad([{ ...whole(file, read.text), line: read.line }]);
  const parsed = parseYaml(read.text);
  if (!parsed.ok) return bad(parsed.problems.map((problem) => ({ file, ...problem })));
  const { config, problems } = validate(parsed.value);
  // A comment or an empty document says as little as an empty file.
  const { value } = parsed.value;
  const says = typeof value === 'object' && value !== null && Object.keys(value).length > 0;
  return { ...one, says, yaml: parsed.value, config, problems: problems.map((problem) => ({ file, ...problem })) };
}

/** What is wrong with the project's file, and what it may not say. */
export function projectProblems({ machine, project }: ReadFiles): ConfigProblem[] {
  if (project === null) return [];
  const refused: ConfigProblem[] = [];
  for (const key of configKeys) {
    const keyPath = key.split('.');
    if (project.yaml === null || originIn(project, keyPath) === null) continue;
    const value = valueAt(project.yaml.value, keyPath);
    const allowed = refuseProjectValue(key, value, machine.config, directoryOf(project));
    if (allowed === null) continue;
    const text = `${describeFound(value, keyPath)} is not allowed in a project file: ${allowed}`;
    refused.push({ file: project.path, ...project.yaml.valueAt(keyPath), key, text });
  }
  // What a project may not say at all need not be said right.
  return [...project.problems.filter((problem) => !refused.some(({ key }) => isWithin(problem.key, key))), ...refused];
}

function originIn(file: OneFile, keyPath: KeyPath): string | null {
  if (file.yaml === null || valueAt(file.yaml.value, keyPath) === undefined) return null;
  return `${printable(file.path)}:${file.yaml.keyAt(keyPath).line}`;
}

function isWithin(key: string | null, outer: string | null): boolean {
  return key !== null && outer !== null && (key === outer || key.startsWith(`${outer}[`));
}

export function whole(file: string, text: string): ConfigProblem {
  return { file, line: null, column: null, key: null, text };
}

export function inOrder(problems: ConfigProblem[]): ConfigProblem[] {
  const files = [...new Set(problems.map((problem) => problem.file))];
  // Two rules of one value may say the same.
  const different = [...new Map(problems.map((problem) => [formatProblem(problem), problem])).values()];
  const sorted = different.toSorted(
    (a, b) =>
      files.indexOf(a.file) - files.indexOf(b.file) ||
      (a.line ?? 0) - (b.line ?? 0) ||
      (a.column ?? 0) - (b.column ?? 0),
  );
  const cut = sorted[problemsMax];
  if (cut === undefined) return sorted;
  return [...sorted.slice(0, problemsMax), whole(cut.file, `and ${sorted.length - problemsMax} more problems`)];
}

function expandHome(config: Config, home: string): void {
  const expand = (value: string) => (value === '~' || value.startsWith('~/') ? path.join(home, value.slice(1)) : value);
  config.handoff.dir = expand(config.handoff.dir);
  for (const client of Object.values(config.clients)) client.configDirs = client.configDirs.map(expand);
}
