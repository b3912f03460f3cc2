import path from 'node:path';
import type { InstallableClient } from '../clients/clients.ts';
import type { Home } from '../home/home.ts';

/** What agents of this client run at every event: where it is, and what it says. */
export function scriptOf({ name, installer }: InstallableClient, home: Home): { file: string; text: string } {
  return { file: path.join(home.hooksDir, `${name}.sh`), text: installer.script(home.inbox, home.allowancesDir) };
}
