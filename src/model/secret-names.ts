import { looksRandom } from './looks-random.ts';
import { redacted, type Span } from './redact.ts';

/**
 * Values whose name says that they are secret, in the spelling of shells, JSON, YAML, XML, URLs, headers and code:
 * `DB_PASSWORD=…`, `"clientSecret": "…"`, `?access_token=…`, `X-Api-Key: …`, `--password …`.
 */
export function namedValues(text: string): Span[] {
  const found: Span[] = [];
  if (!hint.test(text)) return found;
  const word = /[\w.-]+/g;
  for (let match = word.exec(text); match !== null; match = word.exec(text)) {
    const name = nameAt(text, match.index, match[0]);
    if (name === null) continue;
    const [span, next] = valueBehind(text, name, word.lastIndex);
    const value = span ?? looseValue(text, match.index + match[0].length);
    const before = value === null ? valueBefore(text, name.from) : null;
    for (const one of [value, before]) if (one !== null) found.push(one);
    word.lastIndex = Math.max(next, value?.[1] ?? 0);
  }
  return found;
}

const hint =
  /pass|pwd|kennwort|secret|token|key|auth|cookie|cred|jwt|sig|sess|mnemonic|otp|pw|psk|code|bearer|ident|connect\.sid|pat(?![a-z])/i;

/** Of anything longer only the end is looked at. */
const nameCharsMax = 120;

interface Name {
  /** `maybe`: only with a value that looks like one. */
  kind: 'header' | 'password' | 'other' | 'maybe';
  /** It is one word of the language, as it also stands in a sentence. */
  isPlain: boolean;
  from: number;
}

function nameAt(text: string, at: number, word: string): Name | null {
  if (!hint.test(word.slice(-nameCharsMax))) return null;
  // The letters of an escape before the name are not part of it.
  const from = at + escapeLength(text[at - 1], word);
  const name = text.slice(Math.max(from, at + word.length - nameCharsMax), at + word.length);
  const words = name
    .replace(/([a-z0-9])([A-Z])/g, '$1_$2')
    .toLowerCase()
    .split(/[_.-]+/)
    .filter((each) => each !== '');
  // A shell's own directory.
  if (/^(?:OLD)?PWD$/.test(name) && /^\s?[=:]\s?["']?[~/]/.test(text.slice(at + word.length, at + word.length + 5)))
    return null;
  const isSpoken = words.length === 1 && words[0] === 'key' && spoken.test(text.slice(Math.max(0, from - 20), from));
  const kind = isSpoken ? 'maybe' : kindOf(name, words, text[from - 1] ?? '');
  return kind === null ? null : { kind, isPlain: words.length === 1, from };
}

function escapeLength(before: string | undefined, word: string): number {
  if (before === '\\') return /^[nrt]/.test(word) ? 1 : 0;
  return before === '%' && /^[0-9a-f]{2}/i.test(word) ? 2 : 0;
}

/** `API key`, as a sentence has it. */
const spoken = /(?:^|[^\w-])(?:api|access|secret|private|auth|account|encryption|signing|shared|license) $/i;
const headers = /^(?:proxy-)?authorization$|^(?:set-)?cookie2?$/i;
const passwords =
  /(?:password|passwd|passphrase|passwort|passcode|kennwort|pwd)s?$|^(?:(?:db|root|user|admin|smtp|ssh|my|require|store|key|sasl)?pass|(?:db|root|bind)pw|otp|totp|mnemonic)$/;
const secrets =
  /(?:secret|token|credential|apikey|accesskey|secretkey|privatekey|jwt|authorization|cookie)$|^(?:secrets|credentials|bearer)$|sessid$|^jsessionid$/;
/** A personal access token; elsewhere `pat` is a pattern. */
const forges = /^(?:github|gh|gitlab|gl|azure|ado|devops|airtable|hubspot|databricks|docker|jira|git)$/;
/** A key is secret by what it is for. */
const keyOf =
  /^(?:api|access|secret|private|encryption|encrypt|signing|sign|master|account|shared|auth|storage|service|deploy|session|hmac|webhook|client|app|admin|server|license|crypt|aes|rsa|ssh|root|user|db|stripe|sendgrid|mailgun|openai|anthropic|google|aws|azure|sas|x|hash)$/;
/** What is said about a secret is none. */
const about = new Set(
  (
    'count counts type types limit limits usage used name names file files path paths url uri field fields expires expiry expired ' +
    'expiration ttl at length len size max min budget policy index total ratio rate cost price window error errors ' +
    'required enabled status per requests lifetime endpoint regex pattern placeholder label hint input output in out left ' +
    'remaining reset strength manager provider store service rotation management validation check checks version id_hint'
  ).split(' '),
);

function kindOf(name: string, words: readonly string[], before: string): Name['kind'] | null {
  const last = words.at(-1) ?? '';
  if (headers.test(name)) return 'header';
  if (about.has(last)) return null;
  if (words.some((word) => passwords.test(word))) return 'password';
  if (last === 'pw' && words.length > 1) return 'password';
  if (last === 'pat' && forges.test(words.at(-2) ?? '')) return 'other';
  if (words.some((word) => secrets.test(word))) return 'other';
  // Several tokens are mostly a number.
  if (last === 'tokens' && /^(?:access|refresh|api|auth|bearer)$/.test(words.at(-2) ?? '')) return 'other';
  const key = words.findLastIndex((word) => word === 'key' || word === 'keys');
  if (key > 0 && (keyOf.test(words[key - 1] ?? '') || /^[A-Z0-9]+_(?!.*PUBLIC)\w*KEY$/.test(name))) {
    return ids.test(words[key - 1] ?? '') ? null : 'other';
  }
  const isParameter = before === '?' || before === '&';
  if (isParameter && /^(?:sig|signature|auth|key|sas)$/.test(last)) return 'other';
  if (last === 'signature' && words.includes('amz')) return 'other';
  if (last === 'auth' && name.startsWith('_')) return 'other';
  if (/^(?:connect\.sid|asp\.net_sessionid)$/i.test(name)) return 'other';
  const isKey = key > 0 && key === words.length - 1 && !ids.test(words[key - 1] ?? '');
  return isKey || maybes.test(last) || (isParameter && last === 'code') ? 'maybe' : null;
}

/** As often something else as a secret. */
const maybes = /^(?:auth|tokens|masterauth|authkey|psk|presharedkey|instrumentationkey|pw|ident|bearer)$/;
/** Keys by which something is found. */
const ids =
  /^(?:public|primary|foreign|sort|partition|cache|row|group|idempotency|dedupe|object|query|index|trace|request|parameter)$/;

const separator =
  /(\\{0,8}["'`])?\]?[ \t]{0,8}(?::(?![:/])=?|：(?=[ \t]{0,8}[!-~])|(?:[+?]|\|\||\?\?)?={1,3}>?|\?\?)[ \t]{0,8}/y;
/** A tag or an anchor of YAML before the value. */
const yamlTag = /(?:!{1,2}[\w-]{1,40}|&[\w-]{1,40})[ \t]{1,8}/y;
/** A list or a mapping in one line. */
const collection = /[[{][^\n[\]{}]{1,400}[\]}]/y;
const members = /[\w+/=.~-]{8,200}/g;
/** `define('NAME', 'value')`, `set("Name", "value")`. */
const argument = /\\{0,8}["'][ \t]{0,4},[ \t]{0,4}(?=\\{0,8}["'])/y;
/** `"name": "DB_PASSWORD", "value": "…"`, also in YAML and XML. */
const namedBefore = /(?:name|key)(?:\\{0,8}["'])?\s{0,4}[:=]\s{0,4}(?:\\{0,8}["'])?$/i;
const pair =
  /(?:\\{0,8}["'])?[ \t]{0,8}(?:,(?:\s|\\{1,4}[nr]){0,80}|[ \t]|(?:\r?\n|(?:\\{1,4}r)?\\{1,4}n)[ \t]{0,40})(?:\\{0,8}["'])?[vV]alue(?:\\{0,8}["'])?[ \t]{0,8}[:=][ \t]{0,8}/y;
/** `setPassword("…")` */
const setter = /(?:^|[.-])(?:set|with)_?\w*(?:pass(?:word|wd|phrase)?|pwd|secret|token|key|jwt)$/i;
const call = /\((?=\\{0,8}["'])/y;
const setenv = /(?:\b|\\[nrt])(?:setenv|set -g?x|set -Ux)[ \t]{1,4}$/;
const option = /[ \t]{1,4}(?![-\s])/y;
const block =
  /[|>][-+0-9]{0,2}[ \t]{0,4}(?:\r?\n|\\n)([ \t]{1,40})(?:(?!\\n)[^\n])*(?:(?:\n|\\n)\1(?:(?!\\n)[^\n])*)*/y;
/** The same after its lines were joined. */
const joinedBlock = /[|>][-+0-9]{0,2}[ \t]{2,40}[^\s\\]+/y;
const tagEnd = /(?:\s[^<>\n]{0,200}(?<!\/))?>/y;
/** A tag that is only named, and never closed, has at most its line. */
const element = /\s{0,200}[^<\n]*\s{0,200}(?=<\/)|(?:(?!\\[nr])[^<\r\n])*/y;
const newLine = /\s{0,200}(?=\\{0,8}["'])/y;

/** A word that stands alone below its name, further in. */
const nextLine = /(?:\r?\n|(?:\\r)?\\n)[ \t]{1,40}(?=[^\s:\\#<>|{}[\]"'`*-][^\s:\\]{5,}[ \t]{0,8}(?:[\r\n\\"]|$))/y;

/** The span of the value, if it is one, and where to look on. Always behind what was read, so that nothing is read again. */
function valueBehind(text: string, { kind, isPlain, from }: Name, nameEnd: number): [Span | null, number] {
  const before = text[from - 1] ?? '';
  const opened = before === '<' ? match(tagEnd, text, nameEnd) : null;
  if (opened !== null) {
    const inside = nameEnd + opened[0].length;
    return checked(text, [inside, sticky(element, text, inside)], kind, true);
  }
  let said = match(separator, text, nameEnd);
  if (said === null && namedBefore.test(text.slice(Math.max(0, from - 40), from))) said = match(pair, text, nameEnd);
  const isPair = said !== null && /value/i.test(said[0]);
  const isQuotedName = isPair || said?.[1] !== undefined;
  if (said === null && /["']/.test(before) && /\(\\{0,8}$/.test(text.slice(Math.max(0, from - 10), from - 1)))
    said = match(argument, text, nameEnd);
  if (said === null && setter.test(text.slice(from, nameEnd).slice(-nameCharsMax))) said = match(call, text, nameEnd);
  if (said === null && (text.startsWith('--', from) || setenv.test(text.slice(Math.max(0, from - 16), from))))
    said = match(option, text, nameEnd);
  if (said === null) return [null, nameEnd];
  let at = nameEnd + said[0].length;
  const isComparison = said[0].includes('==');
  if (/[:]/.test(said[0]) || isQuotedName) at += match(newLine, text, at)?.[0].length ?? 0;

  const isAlone = /(?:^|\n|\\n)[ \t-]{0,40}$/.test(text.slice(Math.max(0, from - 42), from));
  if (isAlone && /:\s*$/.test(said[0])) at += match(nextLine, text, at)?.[0].length ?? 0;

  at += match(yamlTag, text, at)?.[0].length ?? 0;
  const several = match(collection, text, at)?.[0];
  if (several?.match(members)?.some(looksRandom)) return [[at + 1, at + several.length - 1], at + several.length];
  const folded = match(block, text, at) ?? match(joinedBlock, text, at);
  if (folded !== null) return [[at, at + folded[0].length], at + folded[0].length];
  // A quote that stands before the name as well encloses both: `-H "Authorization: …"`, `-e 'PASSWORD=a b'`.
  const open = isQuotedName ? null : enclosing(text, from);
  if (open !== null && isClosedAt(text, at, open)) return [null, at];
  const quoted = quotedValue(text, at);
  if (quoted !== null) return checked(text, quoted, kind, true);
  if (isComparison) return [null, at];

  const isLoose = kind === 'header' || (open !== null && !said[0].includes(':'));
  if (isLoose) {
    // The quote first: many that are closed may stand in one line.
    const closed = open === null ? null : closingQuote(text, at, open.quote, open.depth).closed;
    return checkedHeader(text, [at, closed ?? sticky(restOfLine, text, at)], kind);
  }
  const isParameter = before === '?' || before === '&';
  const value = sticky(isParameter ? parameter : bare, text, at);
  const isSentence =
    isPlain && said[0].includes(': ') && !/(?:^|\n)[ \t-]{0,40}$/.test(text.slice(Math.max(0, from - 41), from));
  const isWord =
    kind === 'other' && isSentence && /^[a-z]{1,12}[.,;:!?)]?$/.test(text.slice(at, Math.min(value, at + 20)));
  return isWord ? [null, value] : checked(text, [at, value], kind, false);
}

const beforeCharsMax = 260;
/** `"value": "…", "name": "DB_PASSWORD"` */
const valueFirst =
  /value(?:\\{0,8}["'])?\s{0,4}[:=]\s{0,4}\\{0,8}["']?((?<=["'])[^"'\n\\]{1,120}|[^\s"',\\]{1,120})\\{0,8}["']?[\s,]{1,20}(?:\\{0,8}["'])?\w{0,12}(?:name|key)(?:\\{0,8}["'])?\s{0,4}[:=]\s{0,4}(?:\\{0,8}["'])?$/di;

function valueBefore(text: string, nameStart: number): Span | null {
  if (!namedBefore.test(text.slice(Math.max(0, nameStart - 40), nameStart))) return null;
  const offset = Math.max(0, nameStart - beforeCharsMax);
  const span = valueFirst.exec(text.slice(offset, nameStart))?.indices?.[1];
  return span === undefined ? null : [offset + span[0], offset + span[1]];
}

const looseCharsMax = 80;
/** What may stand between a name and its value, in sentences, tables, tags and code. */
const glue =
  /^(?:>(?:\s|\\[nr]){1,20}(?=<)|[ \t:=|,>*~"'`→–—!(){}[\]-]|\\[t"'=]|&(?:#61|quot);|%2[27]|<(?:\/|[a-z]{1,12}>)?|(?:is|was|as|to|set|string|str|(?:parameter)?value|content|body|send|type|hidden|false|[0-9]|[a-z]{1,12}(?=>))(?![\w.]))*/i;
const looseWord = /[^\s"'`|,;<>(){}[\]\\&]{8,300}/y;

/** Behind something else than a separator only what looks like a secret is one: "the password is …", `| token | … |`. */
function looseValue(text: string, nameEnd: number): Span | null {
  const between = glue.exec(text.slice(nameEnd, nameEnd + looseCharsMax))?.[0].length ?? 0;
  if (between === 0) return null;
  const from = nameEnd + between;
  const to = sticky(looseWord, text, from);
  return looksRandom(text.slice(from, to)) ? [from, to] : null;
}

/** To the next blank or closing quote. A quote within a word is part of it. */
const bare = /(?:[^\s"'`\\]|["'`](?![\s,;:)\]}>.\\]|$)|\\(?![nrt"'`]))*/y;
const parameter = /(?:[^\s"'`\\&#<>]|\\(?![nrt"'`]))*/y;
/** To the end of the line; of a line within JSON, to the end of its string. */
const restOfLine = /(?:[^\r\n"\\]|"(?!\s{0,4}[}\]]|\s{0,4},\s{0,4}["{])|\\(?![nr]))*/y;

interface Quote {
  quote: string;
  /** How many backslashes it has: more the deeper it stands in strings within strings. */
  depth: number;
}

function enclosing(text: string, from: number): Quote | null {
  const quote = text[from - 1] ?? '';
  if (quote === '' || !`"'\``.includes(quote)) return null;
  return { quote, depth: backslashesBefore(text, from - 1) };
}

/** Nothing but the name was enclosed: "`password=` and `user=`". */
function isClosedAt(text: string, at: number, { quote, depth }: Quote): boolean {
  const end = at + depth + 1;
  return text.slice(at, end) === `${'\\'.repeat(depth)}${quote}` && /^[\s.,;:)]?$/.test(text.slice(end, end + 1));
}

function backslashesBefore(text: string, at: number): number {
  let count = 0;
  while (count < 64 && text[at - 1 - count] === '\\') count += 1;
  return count;
}

const opening = /(?:[fbrFBR$]{1,2})?(\\{0,63})("""|'''|["'`])/y;

function quotedValue(text: string, at: number): Span | null {
  const open = match(opening, text, at);
  if (open === null) return null;
  const [whole, backslashes = '', quote = ''] = open;
  const from = at + whole.length;
  const { closed, lineEnd } = closingQuote(text, from, quote, backslashes.length);
  // One that is never closed was cut off, or it is no value at all: it has its line, never what stands below.
  return [from, closed ?? lineEnd];
}

/** Only three quotes go over lines, and not over many. */
const longCharsMax = 4_000;

/**
 * Where the quote is closed in its line, before its backslashes; and where that line ends, if it is not. A quote with
 * more backslashes than the opening one belongs to the value, and so does an escaped line end.
 */
function closingQuote(text: string, from: number, quote: string, depth: number) {
  const next = new RegExp(`${quote}|[\\r\\n]|\\\\[nr]`, 'g');
  next.lastIndex = from;
  let lineEnd: number | null = null;
  for (let found = next.exec(text); found !== null; found = next.exec(text)) {
    const at = found.index;
    if (lineEnd !== null && at > from + longCharsMax) break;
    if (found[0] !== quote) {
      if (found[0].startsWith('\\') && backslashesBefore(text, at) + 1 > (depth + 1) >> 1) continue;
      lineEnd ??= at;
      if (quote.length === 1) break;
      continue;
    }
    const slashes = Math.min(backslashesBefore(text, at), at - from);
    let left = slashes;
    for (let level = depth; level > 0 && left % 2 === 1; level >>= 1) left = (left - 1) / 2;
    if (left % 2 === 0) return { closed: at - slashes + (slashes > depth ? slashes - depth : 0), lineEnd: at };
    // As `indexOf` from the next place would.
    next.lastIndex = at + 1;
  }
  return { closed: null, lineEnd: lineEnd ?? text.length };
}

const nothings =
  /^(?:null|none|nil|undefined|true|false|yes|no|string|str|number|int|boolean|bool|object|any|void|bytes|unknown|required|optional|missing|invalid|expired|wrong|incorrect|empty|set|unset|not|is|are|was|has|the|a|an|and|or|to|for|of|in|this|that|it|await|async|function|new|must|may|can|cannot|should|will|include|omit|inherit|redacted|hidden|masked|\*+|x{3,}|\.{3,}|…|-+|[{([|>]+|<[^>]*>|\$\{[^}]*\}|\$[A-Z_][A-Z0-9_]*|\$?\{\{.*\}?\}?|%[A-Z_]+%|(?:process|import\.meta)\.env\S*|os\.(?:environ|getenv)\S*)?[.,;:!?)\]}]*$/i;
const amount = /^[~<>≈]?[\d.,_/%+-]{1,24}\s?(?:k|m|b|ms|s|min|h|tokens?)?[.,;:!?)\]}]*$/i;

/** Placeholders, words and figures are no secrets. */
function checked(text: string, [from, to]: Span, kind: Name['kind'], isQuoted: boolean): [Span | null, number] {
  const value = text.slice(from, Math.min(to, from + 80)).trim();
  const isShort = to - from <= 80;
  if (to <= from || value.startsWith(redacted)) return [null, Math.max(to, from)];
  const isNothing =
    isShort &&
    (isQuoted
      ? /^(?:\s*|\*+|include|omit|same-origin|<[^>]*>|\$\{[^}]*\}|\$[A-Z_][A-Z0-9_]*)$/.test(value)
      : nothings.test(value));
  const isFigure = isShort && kind !== 'password' && amount.test(value);
  const isOther = kind === 'maybe' && !looksRandom(value.slice(value.lastIndexOf('/') + 1));
  return isNothing || isFigure || isOther ? [null, to] : [[from, to], to];
}

function checkedHeader(text: string, span: Span, kind: Name['kind']): [Span | null, number] {
  if (kind !== 'header') return checked(text, span, kind, false);
  const value = text.slice(span[0], Math.min(span[1], span[0] + 400));
  // A sentence about cookies or authorization holds neither a pair nor a scheme.
  const isHeader = /=|^\S{1,40}\s+\S{6,}|^[\w+/.~-]{16,}/.test(value);
  return isHeader ? checked(text, span, 'password', false) : [null, span[1]];
}

function match(pattern: RegExp, text: string, at: number): RegExpExecArray | null {
  pattern.lastIndex = at;
  return pattern.exec(text);
}

/** Where what the pattern takes from there ends. */
function sticky(pattern: RegExp, text: string, at: number): number {
  return at + (match(pattern, text, at)?.[0].length ?? 0);
}
