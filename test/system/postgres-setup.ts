import type { TestProject } from 'vitest/node';
import { startEmbedded } from '../../src/record/embedded/server.ts';
import { discardHome, newHome } from './embedded-home.ts';

declare module 'vitest' {
  export interface ProvidedContext {
    postgresUrl: string;
    postgresAdminUrl: string;
  }
}

/** One server for the whole run; `database.ts` gives every test file a database of its own on it. */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const home = newHome();
  const started = await startEmbedded(home);
  if (!started.ok) {
    await discardHome(home);
    throw new Error(`${started.message}: ${started.fix}`);
  }
  project.provide('postgresUrl', started.value.url);
  project.provide('postgresAdminUrl', started.value.adminUrl);
  return () => discardHome(home);
}
