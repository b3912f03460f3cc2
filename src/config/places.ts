import { existsSync, lstatSync, realpathSync } from 'node:fs';
import path from 'node:path';

export interface ConfigPlaces {
  /** WATCHKEEPER_CONFIG or --config; null or empty where neither is given. */
  file: string | null;
  home: string;
  projectDir: string;
}

/** What helps where a configuration file is missing. */
export const configWayOut = 'put it back, or run `watchkeeper config forget` and restart if it is gone for good';

/** The files looked at. A project file named as the machine's is the machine's, and not read a second time. */
export function configFiles(places: ConfigPlaces): { machine: string; project: string | null } {
  const machine = isNamed(places)
    ? path.resolve(places.projectDir, places.file ?? '')
    : path.join(places.home, '.config', 'watchkeeper', 'config.yaml');
  const project = path.resolve(places.projectDir, 'watchkeeper.yaml');
  return { machine, project: realPath(machine) === realPath(project) ? null : project };
}

/** Whether any file says something. One that is named has to. */
export function isConfigured(places: ConfigPlaces): boolean {
  const { machine, project } = configFiles(places);
  return isNamed(places) || existsSync(machine) || (project !== null && existsSync(project));
}

export function isNamed(places: ConfigPlaces): boolean {
  return places.file !== null && places.file !== '';
}

export function realPath(file: string): string {
  try {
    return realpathSync(file);
  } catch {
    return file;
  }
}

/** Is a directory this one, or in it? */
export function isInside(directory: string, place: string): boolean {
  const inside = path.relative(directory, place);
  return inside === '' || (inside !== '..' && !inside.startsWith(`..${path.sep}`));
}

/** No link on the way leads out of the directory, as far as the way exists: one that leads nowhere yet may lead anywhere. */
export function staysInside(directory: string, relative: string): boolean {
  const top = realPath(directory);
  let place = top;
  // From above: the way that exists has an end, what somebody wrote may have none.
  for (const name of path.normalize(relative).split(path.sep)) {
    const next = path.join(place, name);
    if (!isThere(next)) break;
    place = next;
  }
  try {
    return isInside(top, realpathSync(place));
  } catch {
    return false;
  }
}

function isThere(place: string): boolean {
  try {
    return lstatSync(place, { throwIfNoEntry: false }) !== undefined;
  } catch {
    return false;
  }
}
