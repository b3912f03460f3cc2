import { printable } from '../../model/text.ts';
import type { ConfigFile, LoadedConfig } from './load.ts';
import { configKeys, getKey } from './narrow.ts';

export interface ConfigRow {
  key: string;
  value: unknown;
  origin: string;
}

/** Every value in force, flat, with where it comes from. */
function configRows(loaded: LoadedConfig): ConfigRow[] {
  return configKeys.flatMap((key) => {
    const row = { key, value: getKey(loaded.config, key), origin: loaded.origins[key] };
    if (key !== 'agents' || loaded.projectAgentsOrigin === null) return [row];
    // Two lists are in force at once: the lower authority of both counts.
    return [row, { key: 'projectAgents', value: loaded.config.projectAgents, origin: loaded.projectAgentsOrigin }];
  });
}

/** One line a value: `key: value  # origin`. */
export function configText(loaded: LoadedConfig): string {
  const rows = configRows(loaded).map(({ key, value, origin }) => ({
    entry: `${key}: ${printable(typeof value === 'string' ? value : JSON.stringify(value))}`,
    origin,
  }));
  const width = Math.min(60, Math.max(...rows.map((row) => row.entry.length)));
  return rows.map((row) => `${row.entry.padEnd(width)}  # ${row.origin}\n`).join('');
}

export function configDocument(loaded: LoadedConfig): { v: 1; values: ConfigRow[]; files: ConfigFile[] } {
  return { v: 1, values: configRows(loaded), files: loaded.files };
}
