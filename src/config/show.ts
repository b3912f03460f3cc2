import { printable } from '../model/text.ts';
import type { LoadedConfig } from './load.ts';
import { configKeys, getKey } from './narrow.ts';

export interface ConfigRow {
  key: string;
  value: unknown;
  origin: string;
}

/** Every value in force, flat, with where it comes from. */
function configRows({ config, origins }: LoadedConfig): ConfigRow[] {
  return configKeys.map((key) => ({ key, value: getKey(config, key), origin: origins[key] }));
}

/** What is otherwise for the agents in the project's directory. */
function projectRows({ project }: LoadedConfig): ConfigRow[] {
  if (project === null) return [];
  // Of both lists of rules the lower authority counts.
  return project.said.map(({ key, value, origin }) =>
    key === 'agents' || key === 'mode' ? { key, value, origin } : { key, value: getKey(project.config, key), origin },
  );
}

/** One line a value: `key: value  # origin`. */
export function configText(loaded: LoadedConfig): string {
  const inProject = projectRows(loaded);
  const title = `\nfor agents in ${printable(loaded.project?.directory ?? '')}:\n`;
  return `${rowsText(configRows(loaded))}${inProject.length === 0 ? '' : title + rowsText(inProject)}`;
}

function rowsText(rows: ConfigRow[]): string {
  const entries = rows.map(({ key, value, origin }) => ({
    entry: `${key}: ${printable(typeof value === 'string' ? value : JSON.stringify(value))}`,
    origin,
  }));
  const width = Math.min(60, Math.max(...entries.map((row) => row.entry.length)));
  return entries.map((row) => `${row.entry.padEnd(width)}  # ${row.origin}\n`).join('');
}

export function configDocument(loaded: LoadedConfig) {
  const { project } = loaded;
  return {
    v: 1,
    values: configRows(loaded),
    project: project === null ? null : { directory: project.directory, values: projectRows(loaded) },
    files: loaded.files,
  };
}
