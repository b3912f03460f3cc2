import path from 'node:path';
import { uninstall } from '../act/install/install.ts';
import { lookAtOwn } from '../act/install/own-file.ts';
import { type InstallRecord, readRecords } from '../act/install/record.ts';
import { hasInstructions, removeInstructions } from '../clients/claude-code/instructions.ts';
import { isEmptySettings, removeFromSettings, viewSettings } from '../clients/claude-code/settings.ts';
import { findHome, type Home } from '../home/home.ts';
import { ok, type Result } from '../model/result.ts';
import type { FileDone, SetupFailure } from './init.ts';
import { placesOf, type Surroundings, type Target } from './places.ts';
import { bytesAsText, settingsText, textAsBytes } from './texts.ts';

type OneDone = Result<FileDone, SetupFailure>;

/** One answer a file: what went wrong with one is no reason to leave the others. */
export function uninstallAll(around: Surroundings): OneDone[] {
  const home = findHome(around.environment);
  return readRecords(home.installsDir).map(({ file, kind }) => undoOne(home, file, kind));
}

export function uninstallFrom(target: Target, around: Surroundings): Result<OneDone[], SetupFailure> {
  const home = findHome(around.environment);
  const places = placesOf(target, around);
  if (!places.ok) return places;
  const blocks = ['CLAUDE.md', 'AGENTS.md']
    .map((name) => path.join(places.value.instructions, name))
    .filter(holdsBlock)
    // One may be a link to the other: then the second has nothing left to take out.
    .map((file) => undoOne(home, file, 'instructions'))
    .filter((done) => !done.ok || done.value.did !== 'nothing');
  return ok([undoOne(home, places.value.settings, 'settings'), ...blocks]);
}

/** What cannot be read holds nothing of ours: nobody could have put it there. */
function holdsBlock(file: string): boolean {
  const opened = lookAtOwn(file);
  return opened.ok && opened.value.bytes !== null && hasInstructions(opened.value.bytes.toString('latin1'));
}

function undoOne(home: Home, asked: string, kind: InstallRecord['kind']): OneDone {
  const opened = lookAtOwn(asked);
  if (!opened.ok) return { ...opened, reason: 'bad-input' };
  const file = opened.value;
  const others = kind === 'settings' ? otherHomes(file.bytes, asked, home.hookScript) : [];
  const undone = uninstall(home.installsDir, file, (current, before) =>
    kind === 'settings' ? bareSettings(home, asked, current, before) : bareText(asked, current),
  );
  if (!undone.ok) return { ...undone, reason: 'bad-input' };
  const did = undone.value;
  return ok({
    file: asked,
    kind,
    did,
    detail: others.length > 0 ? `the hooks of another Watchkeeper stay (${others.join(', ')})` : null,
    diff: null,
  });
}

function bareSettings(home: Home, asked: string, current: Buffer, before: Buffer | null) {
  const text = settingsText(current, asked);
  if (!text.ok) return text;
  const old = settingsText(before, asked);
  const bare = removeFromSettings(text.value, home.hookScript, before === null || !old.ok ? null : old.value);
  if (!bare.ok) return { ...bare, reason: 'bad-input' as const, message: `${asked} ${bare.message}` };
  return ok({ bytes: Buffer.from(bare.value), empty: isEmptySettings(bare.value) });
}

function bareText(asked: string, current: Buffer) {
  const text = bytesAsText(current, asked);
  if (!text.ok) return text;
  const bare = removeInstructions(text.value);
  if (!bare.ok) return { ...bare, reason: 'bad-input' as const, message: `${asked} ${bare.message}` };
  return ok({ bytes: textAsBytes(bare.value), empty: bare.value === '' });
}

function otherHomes(bytes: Buffer | null, asked: string, script: string): string[] {
  const text = settingsText(bytes, asked);
  const view = text.ok ? viewSettings(text.value) : null;
  return view?.ok ? [...view.value.scripts.keys()].filter((other) => other !== script) : [];
}
