// Whatever a text from outside holds, reading it takes time in proportion to its size.

import { expect, it } from 'vitest';
import { commonTools, readsFile } from '../clients/acts.ts';
import { squeezedDigest } from '../clients/call-digest.ts';
import { parseInboxFile } from '../clients/claude-code/hooks.ts';
import { removeInstructions } from '../clients/claude-code/instructions.ts';
import { readJson } from '../clients/claude-code/json-text.ts';
import { writeRequest } from '../clients/claude-code/permission.ts';
import { parseRegistry } from '../clients/claude-code/registry.ts';
import { findInputBox } from '../clients/claude-code/screen.ts';
import { readScreen } from '../clients/claude-code/screen-state.ts';
import { viewSettings } from '../clients/claude-code/settings.ts';
import { parseTranscriptLine } from '../clients/claude-code/transcript.ts';
import { callSign, resultSign } from '../clients/signs.ts';
import { staysInside } from '../config/places.ts';
import { parseYaml } from '../config/yaml.ts';
import { parseContextAnswer } from '../decide/context-answer.ts';
import { headNamed, verifyDocument } from '../decide/handoff/document.ts';
import { whyUnsafe } from '../decide/prompt-text.ts';
import { fillTemplate } from '../decide/templates.ts';
import { failureAtEnd } from '../detect/last-line.ts';
import { redact } from '../model/redact.ts';
import { printable, shown, storable, untrusted } from '../model/text.ts';

const kib = 1024;
const growthMax = 2.5;
/** Below that nobody notices, and a busy machine measures anything. */
const unnoticedMs = 60;
const tries = 4;
/** No machine is that busy. */
const hopelessMs = 8_000;

/** What the patterns for secrets are made of: each piece by itself and before each that may end or turn it. */
const begins = [
  ...[
    'eyJ',
    'sk-',
    'ghp_',
    'xoxb-',
    'AIza',
    'SG.',
    'SK0',
    'AKIA',
    'npm_',
    '12345678:AA',
    '$2b$',
    'LS0tLS1CRUdJTi',
    'hvs.',
  ],
  ...['://', 'redis://a:', 'https://u:', 'hooks.slack.com/', 'discord.com/api/webhooks/', '/hooks/', '/webhook/a/'],
  ...['bearer ', 'basic ', 'token ', ' -u ', ' sshpass -p ', 'login a password '],
  ...['-----BEGIN PRIVATE KEY-----', '-----END PRIVATE KEY-----', '-----BEGIN PRIVATE KEY----- AAAAAAAAAAAAAAAAAAAA '],
  ...[
    'password=',
    'password="',
    "password:'",
    'password',
    'a_token:',
    'api_key=',
    'key_',
    'cookie: ',
    'authorization: ',
  ],
  ...["'pass=ab' ", '"token=ab" ', '`otp=a', '\'pass=a"} ', 'password="""\n', '\\"secret=\\"a\\n'],
  ...['name: token\n value: ', '"name":"token","value":"', 'password:\n  abcdef', 'setToken("', 'setenv A_TOKEN '],
  ...["ALTER USER a PASSWORD '", 'alter user a ', "IDENTIFIED BY '", "sshpass -p '"],
  ...[
    'mysql -p',
    ' login -p ',
    'curl -u a:',
    'htpasswd a ',
    'htpasswd a1B2c3D4 ',
    'auth("',
    'echo a | ',
    '<<< ',
    'zip -P ',
  ],
  ...[
    'password is ',
    'password | ',
    'password <',
    'password>\n<',
    'api key ',
    'a_key=',
    'a:1:b:c:',
    '{"value":"a","name":"token',
  ],
  ...[
    'seed phrase: abc ',
    'jdbc:oracle:thin:a/',
    "SET PASSWORD FOR a = '",
    '{SHA}',
    'AAAAAAAAAAAAAAAAAAAA',
    'account a password ',
  ],
  ...[
    'password: |\n ',
    'passwords: [',
    '<secret a',
    'token: !a ',
    '--token ',
    "('password',",
    '<secret>',
    'PWD=/',
    '%3Dtoken',
    '\\u0041',
    '\u001b[1m',
    '\u200b',
  ],
];
const turns = ['', 'a', '7', '-', '.', ' ', '\n', '\\', '\\n', '"', '\\"', "'", '@', '/', '=', ':'];
/** With all of them, since a new start of the same pattern lies behind each. */
const restarts = ['', '-', ' '];
const secrets = begins.flatMap((begin, index) =>
  // Of the others each with some: all pairs would take minutes.
  turns.filter((turn, at) => restarts.includes(turn) || (index + at) % 12 === 0).map((turn) => `${begin}${turn}`),
);
const plain = [
  'a',
  ' ',
  '\n',
  ' \n',
  '\t',
  '\\',
  '"',
  '{',
  '[',
  '[{',
  '{"a":',
  '-',
  '0',
  'a1',
  '🎉',
  '\u001b[',
  '\u001b[1',
  '> ',
];
const markdown = [
  '# ',
  '**',
  '__a',
  '`',
  '```\n',
  '~~~~',
  '<!--',
  '=\n',
  '- ',
  'Goal: ',
  'Goal\n===\n',
  '# State (',
  '12345678',
];
const screens = ['❯ ', '─', '✻ ', '(', '· 1 ', '… (', '↓ 1', 'Esc to ', ' · Retrying in ', '\u001b[0m ', ' a'];
const commands = ['sleep ', 'sed -a ', 'cd a', "'", 'git -C a ', '> ', 'A=1 ', '<<', 'timeout ', ';  '];
const yaml = ['- - ', 'a: 1\n', '|\n a\n', '# ', "'"];

const expected = { nonce: 'wk-1', background: ['a', '12345678', `${'a'.repeat(60)}b`], hasGit: true };
const records = (text: string) => [
  JSON.stringify({ type: 'user', message: { role: 'user', content: text } }),
  JSON.stringify({ type: 'user', message: { role: 'user', content: [{ type: 'tool_result', content: text }] } }),
  JSON.stringify({
    type: 'assistant',
    message: { content: [{ type: 'tool_use', name: 'Bash', input: { command: text } }] },
  }),
];

const readers: [name: string, atMost: number, pieces: readonly string[], read: (text: string) => unknown][] = [
  ['secrets', 256 * kib, secrets, redact],
  ['a shown text', 128 * kib, plain, (text) => shown(text, text.length)],
  ['a printed text', 256 * kib, plain, printable],
  ['a stored text', 256 * kib, plain, storable],
  ['a handoff document', 256 * kib, [...plain, ...markdown], (text) => verifyDocument(text, expected)],
  [
    'the commit in it',
    256 * kib,
    ['# HEAD\na', '# HEAD\na1b2c3d4e5f6g', 'a1', 'ffffffff '],
    (text) => headNamed(`# HEAD\n${text}`),
  ],
  ['a prompt', 100_000, plain, (text) => whyUnsafe(`x${text}`, true)],
  ['what stands in a slot', 100_000, [...plain, '{a}'], (text) => fillTemplate('continue', { error: text }, {})],
  [
    'an answer about the context',
    200_000,
    ['context ', 'context: 1% (1', ',111', 'context a a a '],
    parseContextAnswer,
  ],
  [
    'a transcript',
    256 * kib,
    [...plain, ...commands],
    (text) => records(text).map((line) => parseTranscriptLine(line, 'x')),
  ],
  ['a command', 64_000, commands, (text) => [callSign('Bash', text, text), readsFile('Bash', text, commonTools)]],
  [
    'an output',
    256 * kib,
    [...plain, 'line 1', '11111111-', 'pid ', '2026-01-01 '],
    (text) => Object.values(resultSign(text, true)),
  ],
  ['a squeezed output', 64_000, plain, (text) => squeezedDigest('', text)],
  ['a hook', 256 * kib, plain, (text) => parseInboxFile(`wk1 hook 1 1\n{"a":"${text}`)],
  ['a permission request', 256 * kib, plain, writeRequest],
  ['a registry entry', 256 * kib, plain, parseRegistry],
  ['settings', 256 * kib, [...plain, '//', '/*', '"a":1,'], (text) => [readJson(`{${text}`), viewSettings(text)]],
  ['instructions', 256 * kib, [...plain, '<!-- watchkeeper:begin v1 -->\n'], removeInstructions],
  [
    'a screen',
    64 * kib,
    [...plain, ...screens, ...screens.map((row) => `${row}\n`)],
    (text) => [readScreen(text), findInputBox(text)],
  ],
  ['the end of an output', 256 * kib, [...plain, 'A.', 'AError'], (text) => failureAtEnd(untrusted(text))],
  ['a configuration', 256 * kib, yaml, parseYaml],
  ['a place that a project names', 256 * kib, ['a', '/', 'a/', './'], (text) => staysInside('/', text)],
];

it.each(readers)('%s', { timeout: 120_000 }, (_name, atMost, pieces, read) => {
  expect(pieces.find((piece) => !isLinear(piece, atMost, read))).toBeUndefined();
});

function isLinear(piece: string, atMost: number, read: (text: string) => unknown): boolean {
  const whole = piece.repeat(Math.ceil(atMost / piece.length)).slice(0, atMost);
  const half = whole.slice(0, atMost / 2);
  for (let attempt = 0; attempt < tries; attempt += 1) {
    const wholeMs = spentMs(() => read(whole));
    if (wholeMs > hopelessMs) return false;
    if (wholeMs < unnoticedMs || wholeMs < growthMax * spentMs(() => read(half))) return true;
  }
  return false;
}

/** Of the processor, which a busy machine changes less than the time on the clock. */
function spentMs(work: () => unknown): number {
  const before = process.cpuUsage();
  try {
    work();
  } catch {
    // Refused is an answer too, if it comes soon.
  }
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1000;
}
