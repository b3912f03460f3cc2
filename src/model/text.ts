/** Text from outside: agents, their files, tmux, the network. It may be stored and shown, never typed or executed. */

const shownMax = 2_000;

/**
 * Makes untrusted text safe for a terminal, a log and a database: control, bidirectional and other invisible
 * characters and lone surrogates are written out as escapes, and secrets are taken out.
 */
export function shown(text: string, charsMax = shownMax): string {
  const cut = text.length > charsMax ? `${text.slice(0, charsMax)}…` : text;
  return redact(printable(cut));
}

/** The same without cutting or redacting, for what the user wrote and has to find again. */
export function printable(text: string): string {
  return text.toWellFormed().replace(unsafe, escaped);
}

/** For the store: whole and with its lines, but without secrets and what a database cannot hold. */
export function storable(text: string): string {
  return redact(text.toWellFormed().replaceAll('\u0000', '\ufffd'));
}

/** C0, DEL, C1, soft hyphen, bidi marks and overrides, line and paragraph separators, zero-width, BOM, tags, U+FFFD. */
const unsafe =
  /[\u0000-\u001f\u007f-\u009f\u00ad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff\ufff9-\ufffb]|[\u{e0000}-\u{e007f}]/gu;

function escaped(character: string): string {
  const code = character.codePointAt(0) ?? 0;
  if (character === '\n') return '\\n';
  if (character === '\t') return '\\t';
  if (character === '\r') return '\\r';
  return code < 0x100 ? `\\x${code.toString(16).padStart(2, '0')}` : `\\u{${code.toString(16)}}`;
}

const secrets: readonly RegExp[] = [
  /\b(sk|pk|rk)-[A-Za-z0-9_-]{16,}/g,
  /\b(gh[pousr]|github_pat|glpat|xox[abprs])[-_][A-Za-z0-9_-]{16,}/g,
  /\b(AKIA|ASIA)[A-Z0-9]{16}\b/g,
  /\beyJ[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]*/g,
  /\b(?:bearer|basic)\s+[A-Za-z0-9+/_.=-]{16,}/gi,
  /\b(?:api[_-]?key|token|secret|password|passwd)["']?\s*[=:]\s*["']?[^\s"',;]{8,}/gi,
  /-----BEGIN [A-Z ]*PRIVATE KEY-----/g,
  /(?<=:\/\/)[^/\s:@]+:[^/\s@]+(?=@)/g,
];

function redact(text: string): string {
  return secrets.reduce((rest, secret) => rest.replace(secret, '[redacted]'), text);
}
