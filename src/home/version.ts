import { readFileSync } from 'node:fs';

/** dist/home/ and src/home/ are both two folders below the package. */
const packageFile = new URL('../../package.json', import.meta.url);

export const version = (JSON.parse(readFileSync(packageFile, 'utf8')) as { version: string }).version;
