import path from 'node:path';
import { uninstall } from '../act/install/install.ts';
import { lookAtOwn } from '../act/install/own-file.ts';
import { type InstallRecord, readRecords } from '../act/install/record.ts';
import { type InstallableClient, installable } from '../clients/clients.ts';
import type { Installer } from '../clients/installer.ts';
import { findHome, type Home } from '../home/home.ts';
import { ok, type Result } from '../model/result.ts';
import type { FileDone, SetupFailure } from './init.ts';
import { placesOf, type Surroundings, type Target } from './places.ts';
import { scriptOf } from './script.ts';
import { bytesAsText, settingsText, textAsBytes } from './texts.ts';

type OneDone = Result<FileDone, SetupFailure>;

/** One answer a file: what went wrong with one is no reason to leave the others. */
export function uninstallAll(around: Surroundings): OneDone[] {
  const home = findHome(around.environment);
  const client = installable();
  return readRecords(home.installsDir).map(({ file, kind }) => undoOne(client, home, file, kind));
}

export function uninstallFrom(target: Target, around: Surroundings): Result<OneDone[], SetupFailure> {
  const home = findHome(around.environment);
  const client = installable();
  const places = placesOf(client, target, around);
  if (!places.ok) return places;
  const blocks = client.installer.instructions.files
    .map((name) => path.join(places.value.instructions, name))
    .filter((file) => holdsBlock(client.installer, file))
    // One may be a link to the other: then the second has nothing left to take out.
    .map((file) => undoOne(client, home, file, 'instructions'))
    .filter((done) => !done.ok || done.value.did !== 'nothing');
  return ok([undoOne(client, home, places.value.settings, 'settings'), ...blocks]);
}

/** What cannot be read holds nothing of ours: nobody could have put it there. */
function holdsBlock({ instructions }: Installer, file: string): boolean {
  const opened = lookAtOwn(file);
  return opened.ok && opened.value.bytes !== null && instructions.has(opened.value.bytes.toString('latin1'));
}

function undoOne(client: InstallableClient, home: Home, asked: string, kind: InstallRecord['kind']): OneDone {
  const { installer } = client;
  const script = scriptOf(client, home).file;
  const opened = lookAtOwn(asked);
  if (!opened.ok) return { ...opened, reason: 'bad-input' };
  const file = opened.value;
  const others = kind === 'settings' ? otherHomes(installer, file.bytes, asked, script) : [];
  const undone = uninstall(home.installsDir, file, (current, before) =>
    kind === 'settings' ? bareSettings(installer, script, asked, current, before) : bareText(installer, asked, current),
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

function bareSettings({ settings }: Installer, script: string, asked: string, current: Buffer, before: Buffer | null) {
  const text = settingsText(current, asked);
  if (!text.ok) return text;
  const old = settingsText(before, asked);
  const bare = settings.remove(text.value, script, before === null || !old.ok ? null : old.value);
  if (!bare.ok) return { ...bare, reason: 'bad-input' as const, message: `${asked} ${bare.message}` };
  return ok({ bytes: Buffer.from(bare.value), empty: settings.isEmpty(bare.value) });
}

function bareText({ instructions }: Installer, asked: string, current: Buffer) {
  const text = bytesAsText(current, asked);
  if (!text.ok) return text;
  const bare = instructions.remove(text.value);
  if (!bare.ok) return { ...bare, reason: 'bad-input' as const, message: `${asked} ${bare.message}` };
  return ok({ bytes: textAsBytes(bare.value), empty: bare.value === '' });
}

function otherHomes({ settings }: Installer, bytes: Buffer | null, asked: string, script: string): string[] {
  const text = settingsText(bytes, asked);
  const view = text.ok ? settings.view(text.value) : null;
  return view?.ok ? [...view.value.scripts.keys()].filter((other) => other !== script) : [];
}
