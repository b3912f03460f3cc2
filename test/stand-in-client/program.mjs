// Parrot: a little agent CLI of our own, for tests. It says what it is told to, in a full-screen terminal, and keeps a
// record of its own kind. PARROT_FAULTS makes it misbehave.
import { randomBytes } from 'node:crypto';
import { appendFileSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

const home = process.env.PARROT_HOME;
const faults = (process.env.PARROT_FAULTS ?? '').split(',');
const folder = path.join(home, 'talks', process.cwd().replaceAll('/', '%'));
mkdirSync(folder, { recursive: true });

let talk = '';
let lines = 0;
let said = [];
let box = '';
/** The question that is open, and how it is answered. */
let question = null;
let talking = false;
let hushed = false;
let wasSpokenTo = false;
const waiting = [];

function write(entry) {
  lines += 1;
  const record = { n: `${talk}-${lines}`, when: new Date().toISOString(), ...entry };
  const line =
    faults.includes('garbled') && entry.what !== 'begin' ? `{"n": ${lines}, "when": oops` : JSON.stringify(record);
  const put = () => appendFileSync(path.join(folder, `${talk}.talk`), `${line}\n`);
  if (faults.includes('late') && wasSpokenTo) setTimeout(put, 11_000);
  else put();
}

function begin(id) {
  talk = id;
  said = [];
  write({ what: 'begin' });
}

function draw() {
  const { columns, rows } = process.stdout;
  const wrapped = (text) =>
    text.split('\n').flatMap((line) => line.match(new RegExp(`.{1,${columns - 4}}`, 'gu')) ?? ['']);
  const status = [`* ${talking ? 'talking' : 'ready'}`, '-'.repeat(columns - 1)];
  const inside =
    question === null
      ? [...wrapped(box).map((row, at) => `${at === 0 ? '> ' : '  '}${row}`), '  enter: say it']
      : [`? ${question.text}`, '  y: yes   n: no'];
  const bottom = faults.includes('no-box') ? [] : [...status, ...inside];
  const talked = said.flatMap(wrapped).map((row) => `  ${row}`);
  const shown = ['  Parrot', ...talked.slice(-Math.max(0, rows - bottom.length - 2)), ''];
  process.stdout.write(`\x1b[2J\x1b[H${[...shown, ...bottom].join('\r\n')}`);
}

function submit() {
  const text = box;
  box = '';
  if (text === '') return;
  wasSpokenTo = true;
  appendFileSync(path.join(home, 'submitted'), `${JSON.stringify(text)}\n`);
  if (faults.includes('dies-on-enter')) process.exit(1);
  if (text.startsWith(':')) return command(text);
  if (talking) {
    write({ what: 'later', text });
    waiting.push(text);
  } else void turn(text);
}

function command(text) {
  const [name, id] = text.trim().split(' ');
  if (name === ':new') begin(`talk-${randomBytes(6).toString('hex')}`);
  else if (name === ':back') begin(id);
  else if (name === ':quit') leave(0);
  else said.push(`there is no ${name}`);
}

async function turn(text) {
  talking = true;
  hushed = false;
  write({ what: 'you', text });
  said.push(`you: ${text}`);
  draw();
  await sleep(200);
  // The test says when it has talked long enough.
  while (existsSync(path.join(home, 'hold')) && !hushed) await sleep(30);
  if (!hushed) await answer(text);
  talking = false;
  draw();
  const next = waiting.shift();
  if (next !== undefined) void turn(next);
}

async function answer(text) {
  if (/\bask me\b/.test(text)) {
    const yes = await new Promise((resolve) => {
      question = { text: 'May I have a cracker?', answer: resolve };
      draw();
    });
    question = null;
    return reply(yes ? 'A cracker.' : 'No cracker.');
  }
  if (/\bbe overwhelmed\b/.test(text)) return write({ what: 'trouble', why: 'crowded', text: 'too many parrots' });
  if (/\bbe unknown\b/.test(text)) return write({ what: 'trouble', why: 'stranger', text: 'who are you' });
  if (/\bcontext window usage\b/.test(text)) return reply(readFileSync(path.join(home, 'context'), 'utf8'));
  const file = /(?:to the file|handoff document) (\S+?\.md)\b/.exec(text)?.[1];
  const nonce = /Nonce \((\w+)\)/.exec(text)?.[1];
  if (file !== undefined && nonce !== undefined) keep(path.resolve(file), nonce);
  else if (file !== undefined && !faults.includes('forgetful')) look(path.resolve(file));
  await sleep(100);
  return reply('As you say.');
}

function reply(text) {
  said.push(`me: ${text}`);
  write({ what: 'me', text, ...(faults.includes('uncounted') ? {} : { tokens: 1_000 + lines }), last: true });
}

function does(tool, text, result) {
  const id = `${talk}-${lines}`;
  write({ what: 'does', id, tool, text });
  write({ what: 'did', id, text: result });
}

const parts = ['Goal', 'State', 'Decisions', 'Next step', 'Open files', 'Background work', 'How to verify'];

function keep(file, nonce) {
  mkdirSync(path.dirname(file), { recursive: true });
  const filled = parts.map((name) => `## ${name}\nWhat there is to say about it, in a line.\n`);
  writeFileSync(file, [...filled, '## Git HEAD\nnone\n', `## Nonce\n${nonce}\n`].join('\n'));
  does('save', file, 'saved');
}

function look(file) {
  does('open', file, readFileSync(file, 'utf8'));
}

function leave(code) {
  process.stdout.write('\x1b[?2004l\x1b[?1049l');
  process.exit(code);
}

function key(character) {
  if (question !== null) {
    if (character === 'y' || character === 'n') question.answer(character === 'y');
    return;
  }
  if (character === '\r') submit();
  else if (character === '\x0b') box = box.endsWith('\n') ? box.slice(0, -1) : box.replace(/[^\n]*$/, '');
  else if (character === '\x18' && talking) {
    hushed = true;
    write({ what: 'hushed' });
  } else if (character >= ' ') box += character;
}

let rest = '';
let pasting = false;
process.stdin.setRawMode(true);
process.stdin.setEncoding('utf8');
process.stdin.on('data', (bytes) => {
  appendFileSync(path.join(home, 'received'), bytes);
  rest += bytes;
  while (rest !== '') {
    const mark = /^\x1b\[(20[01])~/.exec(rest);
    if (mark !== null) pasting = mark[1] === '200';
    else if (rest[0] === '\x1b' && rest.length < 6) break;
    else if (pasting) box += rest[0] === '\r' ? '\n' : rest[0];
    else key(rest[0]);
    if (mark !== null && !pasting && faults.includes('dies-on-paste')) process.exit(1);
    rest = rest.slice(mark === null ? 1 : mark[0].length);
  }
  draw();
});
process.stdout.on('resize', draw);
process.stdout.write('\x1b[?1049h\x1b[?2004h');
begin(`talk-${randomBytes(6).toString('hex')}`);
draw();
