import { closeSync, constants, fstatSync, openSync, readSync } from 'node:fs';

export const configBytesMax = 1_048_576;

export type ConfigText =
  | { kind: 'text'; text: string }
  | { kind: 'missing' }
  | { kind: 'bad'; line: number | null; text: string };

export function readConfigText(file: string): ConfigText {
  let descriptor: number;
  try {
    // A named pipe would otherwise block until someone writes to it.
    descriptor = openSync(file, constants.O_RDONLY | constants.O_NONBLOCK);
  } catch (error) {
    return openFailure(error);
  }
  try {
    const stat = fstatSync(descriptor);
    if (stat.isDirectory()) return bad('is a directory: a YAML file is needed');
    if (!stat.isFile()) return bad('is not a regular file: a YAML file is needed');
    // One byte more than allowed, for a file that grows while it is read.
    const buffer = Buffer.alloc(Math.min(stat.size, configBytesMax) + 1);
    let length = 0;
    while (length < buffer.length) {
      const count = readSync(descriptor, buffer, length, buffer.length - length, null);
      if (count === 0) break;
      length += count;
    }
    if (stat.size > configBytesMax || length > configBytesMax) {
      return bad(`is larger than ${configBytesMax} bytes: a configuration file of at most 1 MB is needed`);
    }
    return decode(buffer.subarray(0, length));
  } catch (error) {
    return bad(`cannot be read (${codeOf(error)}): a readable YAML file is needed`);
  } finally {
    closeSync(descriptor);
  }
}

function openFailure(error: unknown): ConfigText {
  const code = codeOf(error);
  if (code === 'ENOENT' || code === 'ENOTDIR') return { kind: 'missing' };
  if (code === 'EACCES' || code === 'EPERM') {
    return bad('cannot be read (permission denied): make it readable for the user that runs Watchkeeper');
  }
  return bad(`cannot be opened (${code}): a readable YAML file is needed`);
}

function decode(bytes: Buffer): ConfigText {
  if (!isUtf8(bytes)) {
    let line = 1;
    for (let start = 0; start < bytes.length; line += 1) {
      const newline = bytes.indexOf(0x0a, start);
      const end = newline === -1 ? bytes.length : newline;
      if (!isUtf8(bytes.subarray(start, end))) break;
      start = end + 1;
    }
    return { kind: 'bad', line, text: 'is not UTF-8: save the file as UTF-8' };
  }
  const text = new TextDecoder('utf-8').decode(bytes);
  const control = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f]/.exec(text);
  if (control !== null) {
    const line = text.slice(0, control.index).split('\n').length;
    return { kind: 'bad', line, text: 'holds a control character: YAML text has none but tab and line end' };
  }
  return { kind: 'text', text };
}

function isUtf8(bytes: Buffer): boolean {
  try {
    new TextDecoder('utf-8', { fatal: true }).decode(bytes);
    return true;
  } catch {
    return false;
  }
}

function bad(text: string): ConfigText {
  return { kind: 'bad', line: null, text };
}

function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : String(error);
}
