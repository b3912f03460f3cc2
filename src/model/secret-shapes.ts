import { looksRandom } from './looks-random.ts';
import type { Span } from './redact.ts';

/** Secrets that are known by how they look, wherever they stand. */
export function knownShapes(text: string): Span[] {
  return [...tokens(text), ...inAddresses(text), ...credentials(text), ...privateKeys(text)];
}

/** Not within a word; the letter of an escape such as `\n` before it is none. */
const start = String.raw`(?<!(?<!\\)[A-Za-z0-9])`;

/** How each begins, what it is made of, and how much of that it takes to be one. */
const tokenShapes: readonly [begins: string, of: string, least: number][] = [
  [`${start}(?:sk|pk|rk)-`, String.raw`[\w-]`, 16],
  ['(?:[spr]k|pk)_(?:live|test|prod)_|whsec_', String.raw`\w`, 10],
  ['gh[pousr]_|github_pat_', String.raw`\w`, 16],
  ['gl(?:pat|ptt|dt|rt|cbt|soat|ft|agent|imt)-|GR1348941', String.raw`[\w-]`, 12],
  ['xox[a-z]{1,2}[-.]|xapp-', String.raw`[\w.-]`, 10],
  [`${start}A(?:KIA|SIA|BIA|CCA)`, '[A-Z0-9]', 16],
  ['AIza', String.raw`[\w-]`, 30],
  [`${start}ya29\\.|GOCSPX-`, String.raw`[\w-]`, 16],
  ['npm_', '[A-Za-z0-9]', 20],
  ['hf_', '[A-Za-z0-9]', 20],
  [`${start}SG\\.`, String.raw`[\w.-]`, 20],
  [`${start}(?:SK|AC)(?=[0-9a-f]{32})`, '[0-9a-f]', 32],
  ['(?<![0-9])[0-9]{8,10}:AA', String.raw`[\w-]`, 30],
  ['pypi-AgE|dckr_(?:pat|oat)_|sntry[su]_|rubygems_|figd_|lin_api_|dop_v1_|doo_v1_', String.raw`[\w-]`, 16],
  ['shp(?:at|ss|ca|pa)_|sq0[a-z]{3}-|tskey-[a-z]{2,8}-|pscale_(?:tkn|pw)_|NRAK-|PMAK-', String.raw`[\w-]`, 16],
  [`ATATT3|AGE-SECRET-KEY-1|hv[sbr]\\.|${start}(?:gsk|r8|xai|pplx|ntn|glsa|nvapi|cio|tk)[_-]`, String.raw`[\w-]`, 24],
  ['sb_secret_|nfp_|phx_|tvly-|pat-(?:na|eu|ap)[0-9]-', String.raw`[\w-]`, 20],
  [String.raw`dp\.(?:st|pt|ct|sa|scim|audit)\.`, String.raw`[\w.-]`, 24],
  [`${start}(?:sbp_|dapi)(?=[0-9a-f]{32})`, '[0-9a-f]', 32],
  [`${start}key-(?=[0-9a-f]{32})`, '[0-9a-f]', 32],
  [
    `${start}(?:fw|glc|tfp|pcsk|e2b|CCIPAT|bk[a-z]{1,2}|sq[upa]|fo1|fm[12]|hca[a-z]{2}|lsv2_(?:pt|sk))_`,
    String.raw`[\w-]`,
    30,
  ],
  [`${start}(?:CFPAT-|pul-|xkeysib-|ATBB|AKCp|cmVmdGtu|dG9rOg|oy2(?=[a-z0-9]{40}))`, String.raw`[\w-]`, 28],
  [`${start}(?:EAA[A-Z]|sl\\.)`, String.raw`[\w-]`, 60],
  [`${start}secret_(?=[A-Za-z0-9]{0,20}[A-Z])`, '[A-Za-z0-9]', 40],
  [`${start}A{20,24}(?!A)`, '[A-Za-z0-9%]', 60],
  [`${start}[0-9]//0`, String.raw`[\w-]`, 30],
  [`${start}[A-Za-z0-9_~.]{3}[78]Q~`, '[A-Za-z0-9_~.-]', 30],
  [`${start}[A-Za-z0-9]{14}\\.atlasv1\\.`, String.raw`[\w-]`, 30],
  [`${start}pat[A-Za-z0-9]{14}\\.`, '[0-9a-f]', 60],
  [`${start}re_[A-Za-z0-9]{8}_`, '[A-Za-z0-9]', 20],
  [`${start}[0-9a-f]{32}-us(?=[0-9])`, '[0-9]', 1],
  [`${start}[0-9]/[0-9]{4,20}:(?=[0-9a-f]{32})`, '[0-9a-f]', 32],
  [`${start}[MNO][\\w-]{23,27}\\.[\\w-]{6}\\.`, String.raw`[\w-]`, 27],
  // JSON in base64, as a web token begins.
  [`${start}eyJ`, String.raw`[\w.-]`, 20],
  // A private key within base64.
  ['LS0tLS1CRUdJTi', '[A-Za-z0-9+/=]', 20],
  // The hash of a password.
  [String.raw`\$(?:2[abxy]|apr1|5|6|y|argon2(?:id|i|d))\$|\{S?SHA(?:256|512)?\}`, '[A-Za-z0-9./$=,+]', 20],
];

// Nothing follows what is repeated, so nothing that was looked at in vain is longer than `least`. One cut off at the end
// of the text counts when half of that is left.
const tokenPattern = new RegExp(
  tokenShapes.map(([begins, of, least]) => `(?:${begins})(?:${of}{${least},}|${of}{${least >> 1},}(?=…?$))`).join('|'),
  'g',
);

function tokens(text: string): Span[] {
  return matches(text, tokenPattern);
}

/** User name and password, or a token in their place; and addresses that are a secret themselves. */
const userinfo = /:\/\/([^\s/?#"'`<>\\]{1,2000})@/g;
/** Databases, brokers and mail: people write passwords with slashes there. */
const withSlashes =
  /(?<=(?:sql|postgres|mongodb|redis|amqp|mqtt|smtp|ftp|ldap)(?:\+\w{1,9}|s|db)?:\/\/[^\s/:@"'`]{0,100}):([^\s"'`@]{1,200})@/g;
const plainName = /^[a-z][a-z0-9._-]{0,31}$/i;
const secretPaths = [
  /(?<=\bhooks\.slack\.com\/)[^\s"'`<>|)]+/g,
  /(?<=\bdiscord(?:app)?\.com\/api\/(?:v\d{1,2}\/)?webhooks\/)[^\s"'`<>|)]+/g,
  /(?<=\b(?:outlook|[\w-]{1,60}\.webhook)\.office(?:365)?\.com\/)[^\s"'`<>|)]+/g,
  /(?<=\bapi\.telegram\.org\/)(?:file\/)?bot[^\s"'`<>|)]+/g,
  /(?<=\b(?:ntfy\.sh|hooks\.zapier\.com|hc-ping\.com|webhook\.site|maker\.ifttt\.com|gotify\.net)\/)[^\s"'`<>|)]+/g,
];
/** Any other hook with something in its path that nobody can guess. */
const otherHook = /(\/(?:web)?hooks?\/(?:[\w-]{1,40}\/){0,3})(?=[A-Za-z-]{0,60}\d)[\w-]{16,}[^\s"'`<>|)]*/g;

function inAddresses(text: string): Span[] {
  if (!text.includes('/')) return [];
  const found = secretPaths.flatMap((pattern) => matches(text, pattern));
  for (const match of text.matchAll(userinfo)) {
    const info = match[1] ?? '';
    const from = match.index + 3;
    // A name alone is a secret where browsers and git take a token for one.
    const isWeb = /https?$/i.test(text.slice(Math.max(0, match.index - 5), match.index));
    const isName = !info.includes(':') && (isWeb ? info === 'git' : plainName.test(info));
    if ((!isName || (info.length >= 20 && looksRandom(info))) && !info.includes('[redacted]'))
      found.push([from, from + info.length]);
  }
  for (const match of text.matchAll(otherHook))
    found.push([match.index + (match[1]?.length ?? 0), match.index + match[0].length]);
  for (const match of text.matchAll(withSlashes)) found.push([match.index + 1, match.index + match[0].length - 1]);
  return found;
}

/** Schemes of `Authorization` without their header, and what programs are given on their command line. */
const schemes = /\b(?:(?:bearer|basic|ssws|geniekey|api-?key)[ \t]{1,4}([\w+/.=~-]{8,})|token[ \t]{1,4}([\w-]{20,}))/gi;
const given = [
  /(?<=\s(?:-u|--user|--proxy-user|--auth)[= ]{1,2}["']?)(?!\d+:\d+\b)[^\s:"']{1,100}:[^\s"']+/g,
  /(?<=(?:\b|\\[nrt])sshpass\s{1,4}-p\s{0,4})[^\s"'\\]+/g,
  /(?<=\b(?:login|machine|account)\s{1,4}\S{1,100}\s{1,4}password\s{1,4})\S+/g,
  /(?<=\bjdbc:oracle:[a-z]{3,4}:[\w$#]{1,60}\/)[^\s@/]{1,200}(?=@)/g,
  /(?<=\b(?:seed|recovery|secret|mnemonic|backup) (?:phrase|words?)["']?\s{0,4}(?::|=|is)\s{0,4}["']?)[a-z]{3,8}(?: [a-z]{3,8}){11,23}/gi,
  /(?<=\b(?:set|SET) (?:password|PASSWORD) (?:for|FOR) [^\s=]{1,100}\s{0,4}=\s{0,4}(?:PASSWORD\()?')[^'\n]{1,200}/g,
];

/** What stands in quotes behind them. */
const begin = String.raw`(?:\b|(?<=\\[nrt]))`;
const before = [
  String.raw`(?:IDENTIFIED|(?:create|alter)\s{1,4}user\s{1,4}[^\s;]{1,100}\s{1,4}identified)\s{1,4}(?:(?:WITH|with)\s{1,4}\S{1,40}\s{1,4})?(?:BY|by|AS|as)\s{1,4}(?:PASSWORD\s{1,4})?`,
  String.raw`(?:ALTER|CREATE)\s{1,4}(?:USER|ROLE|LOGIN)\s[^;\n]{1,200}?\bPASSWORD\s{1,4}(?:=\s{0,4})?`,
  String.raw`(?:alter|create)\s{1,4}(?:user|role)\s[^;\n]{1,200}?\b(?:with|login|encrypted)\s{1,4}password\s{1,4}`,
  String.raw`sshpass\s{1,4}-p\s{0,4}`,
];
const quotedBehind = new RegExp(
  String.raw`${begin}(?:${before.join('|')})(\\{0,8}["'])([^\n]{1,200}?)(?:\1|\n|$)`,
  'dg',
);

function credentials(text: string): Span[] {
  const found = given.flatMap((pattern) => matches(text, pattern)).filter((span) => !isVariable(text.slice(...span)));
  found.push(...matches(text, passLine).filter(([from, to]) => looksRandom(text.slice(from, to))));
  for (const { indices } of text.matchAll(quotedBehind)) if (indices?.[2] !== undefined) found.push(indices[2]);
  for (const match of text.matchAll(schemes)) {
    const value = match[1] ?? match[2] ?? '';
    const end = match.index + match[0].length;
    // Words are short and of one case: `basic understanding`, `Bearer Authentication`.
    if (value.length >= 24 || /\d|[a-z][A-Z]|[A-Z]{2}[a-z]/.test(value)) found.push([end - value.length, end]);
  }
  return found;
}

/** A line of `.pgpass`. */
const passLine = /(?<=(?:^|\n)[\w.*-]{1,100}:(?:\d{2,5}|\*):[^:\s]{1,64}:[^:\s]{1,64}:)[^\s:]{1,200}/g;

/** `$USER:$TOKEN` */
function isVariable(value: string): boolean {
  return /(?:^|:)\$[A-Za-z_{(]/.test(value.slice(0, 200));
}

const keyBegins = /-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----/g;
const keyEnds = /-----END [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----/g;
/** A word of a body, between blanks, line ends and the letters of escaped ones. */
const keyWord = /(?:[^\s\\]|\\(?![nrt]))+/g;
const otherWordsMax = 16;

/** From their first to their last line; one that is cut off, as far as it looks like one. */
function privateKeys(text: string): Span[] {
  if (!text.includes('PRIVATE KEY')) return [];
  const begins = matches(text, keyBegins);
  const ends = matches(text, keyEnds);
  const found: Span[] = [];
  let next = 0;
  let done = 0;
  // An end without its beginning: what stands before it was the key.
  const orphansBefore = (place: number) => {
    for (let end = ends[next]; end !== undefined && end[0] < place; end = ends[next]) {
      found.push([bodyStart(text, done, end[0]), end[1]]);
      done = end[1];
      next += 1;
    }
  };
  for (const [index, [from, afterBegin]] of begins.entries()) {
    orphansBefore(from);
    const end = ends[next];
    const following = begins[index + 1]?.[0] ?? text.length;
    const to = Math.min(end?.[0] ?? following, following);
    const isWhole = end !== undefined && end[0] === to && isBody(text.slice(afterBegin, to));
    if (isWhole) next += 1;
    done = isWhole ? end[1] : bodyEnd(text, afterBegin, to);
    found.push([from, done]);
  }
  orphansBefore(text.length);
  return found;
}

/** A text that only names the first and the last line has other things between them. */
function isBody(text: string): boolean {
  const words = text.match(keyWord) ?? [];
  const chars = (some: readonly string[]) => some.reduce((sum, word) => sum + word.length, 0);
  return words.length === 1 || chars(words.filter(isBase64)) * 2 > chars(words);
}

/** Lines of base64, with other short words between them: headers, line numbers, a quotation's marks. */
function bodyEnd(text: string, from: number, to: number): number {
  let end = from;
  let others = 0;
  keyWord.lastIndex = from;
  for (let word = keyWord.exec(text); word !== null && word.index < to; word = keyWord.exec(text)) {
    const after = Math.min(keyWord.lastIndex, to);
    const isLast = after === to && others === 0 && /^[A-Za-z0-9+/=]+…?["'}\]]*$/.test(word[0]);
    if (isBase64(word[0]) || isLast) {
      end = after;
      others = 0;
    } else {
      others += 1;
      if (others > otherWordsMax) break;
    }
  }
  return end;
}

const bodyCharsMax = 20_000;

function bodyStart(text: string, from: number, to: number): number {
  const before = text.slice(Math.max(from, to - bodyCharsMax), to);
  let start = to;
  let others = 0;
  for (const word of [...before.matchAll(keyWord)].reverse()) {
    if (isBase64(word[0])) {
      start = to - before.length + word.index;
      others = 0;
    } else others += 1;
    if (others > 4) break;
  }
  return start;
}

function isBase64(word: string): boolean {
  const [run = ''] = /[A-Za-z0-9+/=]{16,}/.exec(word) ?? [];
  // No path, no commit.
  return /[A-Z]/.test(run) && /[a-z]/.test(run) && /\d/.test(run);
}

function matches(text: string, pattern: RegExp): Span[] {
  return Array.from(text.matchAll(pattern), (match) => [match.index, match.index + match[0].length] as const);
}
