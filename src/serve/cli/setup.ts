import os from 'node:os';
import type { ConfigPlaces } from '../../config/places.ts';
import type { FileDone, SetupFailure } from '../../setup/init.ts';
import type { Surroundings, Target } from '../../setup/places.ts';
import { CommandFailure, exit } from './outcome.ts';
import { print } from './output.ts';

export interface TargetOptions {
  user?: boolean;
  configDir?: string;
}

export function targetOf(dir: string | undefined, options: TargetOptions): Target {
  return { dir: dir ?? null, user: options.user === true, configDir: options.configDir ?? null };
}

export function surroundings(): Surroundings {
  return { environment: process.env, userHome: os.homedir(), cwd: process.cwd() };
}

export function configPlaces(): ConfigPlaces {
  return { file: process.env.WATCHKEEPER_CONFIG ?? null, home: os.homedir(), projectDir: process.cwd() };
}

const exitCodes: Record<SetupFailure, number> = {
  usage: exit.usage,
  'not-found': exit.notFound,
  'bad-input': exit.usage,
  refused: exit.no,
};

export function setupFailure(failed: { reason: SetupFailure; message: string; fix?: string }): CommandFailure {
  return new CommandFailure(exitCodes[failed.reason], failed.message, failed.fix ?? null);
}

const words: Record<FileDone['did'], string> = {
  installed: 'installed',
  updated: 'updated',
  'already-there': 'already there',
  covered: 'not needed',
  restored: 'restored',
  removed: 'removed',
  nothing: 'nothing of ours',
  gone: 'gone',
};

export function fileText({ file, did, detail }: Pick<FileDone, 'file' | 'did' | 'detail'>, dryRun: boolean): string {
  const would = dryRun && (did === 'installed' || did === 'updated' || did === 'removed') ? 'would be ' : '';
  return `${would}${words[did]}: ${file}${detail === null ? '' : ` (${detail})`}`;
}

export function printFiles(items: readonly FileDone[], dryRun: boolean): void {
  for (const item of items) {
    print(fileText(item, dryRun));
    if (item.diff !== null && item.diff !== '') print(item.diff);
  }
}
