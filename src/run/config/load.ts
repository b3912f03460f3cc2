import { existsSync } from 'node:fs';
import path from 'node:path';
import { ok } from '../../model/result.ts';
import { printable } from '../../model/text.ts';
import { type ConfigKey, configKeys, getKey, refuseProjectValue, setKey } from './narrow.ts';
import { type ConfigPlaces, configFiles, isNamed, realPath } from './places.ts';
import { badConfig, type ConfigProblem, type ConfigResult, formatProblem } from './problem.ts';
import { readConfigText } from './read.ts';
import { type Config, defaultConfig, type FileConfig } from './schema.ts';
import { describeFound, validate, valueAt } from './validate.ts';
import { type KeyPath, parseYaml, type YamlValue } from './yaml.ts';

export interface ConfigFile {
  path: string;
  role: 'machine' | 'project';
  found: boolean;
}

export interface LoadedConfig {
  config: Config;
  /** `default` or `file:line`. */
  origins: Record<ConfigKey, string>;
  /** Where the project's rules for agents stand; null without any. */
  projectAgentsOrigin: string | null;
  files: ConfigFile[];
}

// A hopeless file is as clear after a hundred lines.
const problemsMax = 100;

export function loadConfig(places: ConfigPlaces): ConfigResult<LoadedConfig> {
  return loadFiles({ ...configFiles(places), mustExist: isNamed(places), home: places.home });
}

/** For `config check FILE`: the project's own file as `up` would take it, any other as if it were the machine's. */
export function checkConfigFile(file: string, places: ConfigPlaces): ConfigResult<LoadedConfig> {
  const machine = path.resolve(places.projectDir, file);
  const { project } = configFiles(places);
  if (project !== null && existsSync(machine) && realPath(machine) === realPath(project)) return loadConfig(places);
  return loadFiles({ machine, project: null, mustExist: true, home: places.home });
}

function loadFiles(paths: {
  machine: string;
  project: string | null;
  mustExist: boolean;
  home: string;
}): ConfigResult<LoadedConfig> {
  const machine = readOne(paths.machine);
  const problems = [...machine.problems];
  if (!machine.found && paths.mustExist) {
    problems.push(whole(paths.machine, 'no such file: a configuration file that is named has to exist'));
  }
  const loaded = fromMachine(machine);
  if (paths.project !== null) {
    const project = readOne(paths.project);
    loaded.files.push({ path: project.path, role: 'project', found: project.found });
    const refused = narrow(loaded, project, machine.config);
    // What a project may not say at all need not be said right.
    const others = project.problems.filter((problem) => !refused.some(({ key }) => isWithin(problem.key, key)));
    problems.push(...others, ...refused);
  }
  if (problems.length > 0) return badConfig(inOrder(problems));
  expandHome(loaded.config, paths.home);
  return ok(loaded);
}

interface OneFile {
  path: string;
  found: boolean;
  /** null when it is missing or no YAML. */
  yaml: YamlValue | null;
  /** null when something is wrong with it. */
  config: FileConfig | null;
  problems: ConfigProblem[];
}

function readOne(file: string): OneFile {
  const bad = (problems: OneFile['problems']) => ({ path: file, found: true, yaml: null, config: null, problems });
  const read = readConfigText(file);
  if (read.kind === 'missing') return { path: file, found: false, yaml: null, config: defaultConfig(), problems: [] };
  if (read.kind === 'bad') return bad([{ ...whole(file, read.text), line: read.line }]);
  const parsed = parseYaml(read.text);
  if (!parsed.ok) return bad(parsed.problems.map((problem) => ({ file, ...problem })));
  const { config, problems } = validate(parsed.value);
  return {
    path: file,
    found: true,
    yaml: parsed.value,
    config,
    problems: problems.map((problem) => ({ file, ...problem })),
  };
}

function fromMachine(machine: OneFile): LoadedConfig {
  const origins = {} as Record<ConfigKey, string>;
  for (const key of configKeys) origins[key] = originIn(machine, key.split('.')) ?? 'default';
  return {
    config: { ...structuredClone(machine.config ?? defaultConfig()), projectAgents: null },
    origins,
    projectAgentsOrigin: null,
    files: [{ path: machine.path, role: 'machine', found: machine.found }],
  };
}

/** Puts what the project file says, where it may say it, over the machine's values. */
function narrow(loaded: LoadedConfig, project: OneFile, machine: FileConfig | null): ConfigProblem[] {
  const problems: ConfigProblem[] = [];
  for (const key of configKeys) {
    const keyPath = key.split('.');
    const origin = originIn(project, keyPath);
    if (origin === null || project.yaml === null) continue;
    const value = valueAt(project.yaml.value, keyPath);
    const allowed = refuseProjectValue(key, value, machine === null ? null : getKey(machine, key));
    if (allowed !== null) {
      const text = `${describeFound(value, keyPath)} is not allowed in a project file: ${allowed}`;
      problems.push({ file: project.path, ...project.yaml.valueAt(keyPath), key, text });
    } else if (project.config === null) {
      // Nothing of a bad file is taken; its problems are reported.
    } else if (key === 'agents') {
      loaded.config.projectAgents = project.config.agents;
      loaded.projectAgentsOrigin = origin;
    } else {
      setKey(loaded.config, key, getKey(project.config, key));
      loaded.origins[key] = origin;
    }
  }
  return problems;
}

function originIn(file: OneFile, keyPath: KeyPath): string | null {
  if (file.yaml === null || valueAt(file.yaml.value, keyPath) === undefined) return null;
  return `${printable(file.path)}:${file.yaml.keyAt(keyPath).line}`;
}

function isWithin(key: string | null, outer: string | null): boolean {
  return key !== null && outer !== null && (key === outer || key.startsWith(`${outer}[`));
}

function whole(file: string, text: string): ConfigProblem {
  return { file, line: null, column: null, key: null, text };
}

function inOrder(problems: ConfigProblem[]): ConfigProblem[] {
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
  config.clients.claudeCode.configDirs = config.clients.claudeCode.configDirs.map(expand);
}
