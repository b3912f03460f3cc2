import { looksRandom } from './looks-random.ts';
import type { Span } from './redact.ts';

/** What programs are given on their command line, in the spelling that each of them has for it. */
export function commandSecrets(text: string): Span[] {
  const found = [...spansOf(text, pipe, isSecret), ...spansOf(text, hereString, looksRandom)];
  for (const { programs, options } of commands) {
    for (const program of text.matchAll(programs)) {
      const from = program.index + program[0].length;
      const rest = restOfCommand(text, from);
      for (const option of options) found.push(...spansOf(rest, option, isSecret, from));
    }
  }
  for (const [begins, end] of [
    [secretVerbs, null],
    [secretCalls, callEnd],
  ] as const) {
    for (const match of text.matchAll(begins)) {
      const from = match.index + match[0].length;
      const rest = restOfCommand(text, from);
      const to = end === null ? -1 : rest.search(end);
      found.push(...spansOf(to === -1 ? rest : rest.slice(0, to), word, looksRandom, from));
    }
  }
  return found;
}

/** Where the first group of the pattern stands, if it is a secret. */
function spansOf(text: string, pattern: RegExp, isOne: (value: string) => boolean, offset = 0): Span[] {
  const found: Span[] = [];
  for (const { indices, 1: value } of text.matchAll(pattern)) {
    const span = indices?.[1];
    if (span !== undefined && isOne(value ?? '')) found.push([offset + span[0], offset + span[1]]);
  }
  return found;
}

const commandCharsMax = 300;

/** Up to where another command begins. */
function restOfCommand(text: string, from: number): string {
  const rest = text.slice(from, from + commandCharsMax);
  const end = rest.search(/[\n\r;|&]|\\n/);
  return end === -1 ? rest : rest.slice(0, end);
}

/** Not within a word; the letter of an escape such as `\n` before it is none. */
const start = String.raw`(?<!(?<!\\)[\w-])`;
const value = String.raw`\\{0,8}["']?((?<=["'])[^"'\\]{1,200}|[^\s"'\\${'`'}]{1,200})`;
const option = (begins: string) => new RegExp(String.raw`(?<=\s)${begins}${value}`, 'dg');
const named = (programs: string) => new RegExp(`${start}(?:${programs})(?=\\s)`, 'g');

const commands: readonly { programs: RegExp; options: readonly RegExp[] }[] = [
  { programs: named('(?:mysql|mariadb)[a-z-]{0,10}|7z[ar]?|unrar|rar'), options: [option('-p')] },
  {
    programs: named('login|mongo[a-z]{0,10}|cqlsh|cypher-shell|rabbitmqadmin|twine|rdesktop|user(?:add|mod)'),
    options: [option('-p[ =]{1,2}')],
  },
  { programs: named('sqlcmd|bcp|zip|unzip'), options: [option(String.raw`-P\s{0,2}`)] },
  { programs: named('ssh-keygen'), options: [option(String.raw`-[NP]\s{0,2}`)] },
  { programs: named('redis-cli'), options: [option(String.raw`-a\s{1,2}`)] },
  { programs: named('ldap[a-z]{3,10}'), options: [option(String.raw`-w\s{0,2}`)] },
  { programs: named('openssl'), options: [option(String.raw`-k\s{1,2}`)] },
  { programs: named('(?:x|wl)?freerdp3?'), options: [option('/p:')] },
  { programs: named('smbclient|rpcclient|net'), options: [option(String.raw`-U\s{0,2}["']?[^\s%"']{1,100}%`)] },
  { programs: named('https?'), options: [option(String.raw`-a\s{1,2}["']?[^\s:"']{1,100}:`)] },
  {
    programs: named('curl'),
    options: [
      option(String.raw`-[a-zA-Z]{0,8}[uU]\s{0,2}["']?[^\s:"'-][^\s:"']{0,99}:`),
      option(String.raw`(?:-b|--cookie)\s{1,2}(?=["']?[\w.-]{1,60}=)`),
    ],
  },
  { programs: named('sqlplus|sqlldr|expdp|impdp'), options: [option(String.raw`[\w$#]{1,60}/(?=[^\s@]{1,200}@)`)] },
];

/** As a sentence goes on behind an option that it only names. */
const said =
  /^(?:is|are|was|and|or|the|an?|to|for|with|without|needs|takes|wants|option|flag|in|on|then|must|may|can|cannot|not)$/;

/** No variable, no port, no other option, no stroke of a sentence. */
function isSecret(text: string): boolean {
  return !said.test(text) && !/^(?:\$[\w{(].*|\d{1,5}|-.*|%.*%|<.*|\[redacted\].*|[.,;:)\]]+)$/.test(text);
}

/** Behind these a secret stands among other words, and is known by its look alone. */
const secretVerbs = new RegExp(
  `${start}(?:${[
    'htpasswd|chpasswd|vncpasswd|(?:vault|cargo|npm|oc|flyctl|fly) login|auth token|(?:add-)?authtoken|add_user|change_password',
    'net user?|kv put|(?:secrets?|env|versions) (?:put|set|add|create)|config (?:--?\\w+ )?set|configure set|gem push|setx',
    'config (?:pypi-token|http-basic|github-oauth)|put-parameter|put-secret-value|create-secret|ConvertTo-SecureString',
  ].join('|')})(?=[\\s.])`,
  'g',
);
/** And these are called with it. */
const secretCalls =
  /\b(?:jwt\.(?:sign|verify)|createHmac|\w{0,10}_?[bB]asic_?[aA]uth|auth ?= ?|\w{0,20}[cC]onnect(?:ion)?|PDO|Fernet|[sS]tripe|auth|login)\(/g;
const callEnd = /\)/;
/** Of `name=value` the value. */
const word = /(?<![\w.:=-])(?:[\w.-]{1,60}[=:])?([^\s"'`,;()<>\\{}[\]=:]{8,300}={0,2})/dg;

const pipe =
  /\b(?:echo|printf)\s{1,4}(?:-\w{1,3}\s{1,4})?\\{0,8}["']?(?:[\w@.-]{1,60}:)?([^\s"'|\\]{1,200})\\{0,8}["']?\s{0,4}\|\s{0,4}(?:sudo\s(?:-\w\s){0,3}-S|[^\n|]{0,80}?(?:chpasswd|passwd|--(?:password-)?stdin|--with-token))/dg;
const hereString = /<<<\s{0,4}(?:\\{0,8}["'])?([^\s"'\\]{8,300})/dg;
