import { lookAtOwn } from '../act/install/own-file.ts';
import type { Installer, SettingsView } from '../clients/installer.ts';
import { fail, ok, type Result } from '../model/result.ts';

/** Settings as text, to the byte: also a byte order mark stays. */
export function settingsText(bytes: Buffer | null, file: string): Result<string, 'bad-input'> {
  try {
    return ok(new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes ?? new Uint8Array()));
  } catch {
    return fail('bad-input', `${file} is not UTF-8`, 'save it as UTF-8');
  }
}

/** One character a byte: the block is put between bytes that stay as they are, whatever they mean. */
export function bytesAsText(bytes: Buffer | null, file: string): Result<string, 'bad-input'> {
  if (bytes?.includes(0)) return fail('bad-input', `${file} is no plain text`, 'save it as UTF-8');
  return ok(bytes?.toString('latin1') ?? '');
}

export function textAsBytes(text: string): Buffer {
  return Buffer.from(text, 'latin1');
}

/** Settings that are only looked at: whatever cannot be read there says nothing. */
export function glance({ settings }: Installer, file: string): SettingsView | null {
  const opened = lookAtOwn(file);
  if (!opened.ok || opened.value.bytes === null) return null;
  const text = settingsText(opened.value.bytes, file);
  const view = text.ok ? settings.view(text.value) : null;
  return view?.ok ? view.value : null;
}
