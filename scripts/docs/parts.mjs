// The lists of the manual, each made from the code that goes by it.
import { spawnSync } from 'node:child_process';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { Command } from 'commander';
import { root } from './marked.mjs';

const from = (file) => import(pathToFileURL(path.join(root, 'dist', file)).href);
const { configJsonSchema } = await from('config/json-schema.js');
const { projectKeys } = await from('config/narrow.js');
const { failureTexts } = await from('decide/handoff/failure.js');
const { mostDone } = await from('decide/policy.js');
const { defaultTemplates } = await from('decide/templates.js');
const { waitTexts } = await from('decide/wait-words.js');
const { checks } = await from('detect/checks.js');
const { groundsMarkdown } = await from('findings/accuracy.js');
const { addCommands } = await from('serve/cli/commands.js');
const { refusalHelp } = await from('serve/cli/refusal.js');
const { detailMeanings, stateMeanings } = await from('serve/cli/state-words.js');

const helpColumns = 80;

/** Files that are written as a whole. */
export const files = {
  'docs/checks.md': groundsMarkdown,
  'schema/watchkeeper.schema.json': configJsonSchema,
};

/** Parts of a page, by the name in their markers. */
export const parts = {
  'main-help': () => block(mainHelp()),
  'command-list': () => commandList(),
  'command-help': () => commandHelp(),
  'check-list': () => checkList(),
  'check-reasons': () => checks.map(({ name, why }) => `- \`${name}\`: ${why}\n`).join(''),
  'configuration-keys': () => configurationKeys(),
  templates: () => templateTexts(),
  states: () => stateTable(),
  refusals: () => table(['reason', 'what it means and what helps'], refusals()),
  waits: () => table(['in `why`', 'means'], entries(waitTexts)),
  'handoff-failures': () => table(['reason', 'means'], entries(failureTexts)),
};

function block(text) {
  return `\`\`\`text\n${text.trimEnd()}\n\`\`\`\n`;
}

function cell(text) {
  return String(text).replaceAll('|', '\\|').replaceAll('\n', ' ');
}

function table(head, rows) {
  const line = (cells) => `| ${cells.map(cell).join(' | ')} |\n`;
  return `${line(head)}|${head.map(() => '---|').join('')}\n${rows.map(line).join('')}`;
}

function entries(texts) {
  return Object.entries(texts).map(([name, text]) => [`\`${name}\``, text]);
}

/** Of the program itself: only `bin/watchkeeper` puts it together. */
function mainHelp() {
  const env = { PATH: process.env.PATH, HOME: '/nonexistent' };
  const { stdout } = spawnSync(process.execPath, [path.join(root, 'bin/watchkeeper'), '--help'], {
    env,
    encoding: 'utf8',
  });
  return stdout;
}

let written = '';
const program = new Command('watchkeeper').configureOutput({
  writeOut: (text) => {
    written += text;
  },
  getOutHelpWidth: () => helpColumns,
  getOutHasColors: () => false,
});
await addCommands(program, undefined);

function helpOf(command) {
  written = '';
  command.outputHelp();
  return written;
}

/** A command and those below it, with their whole names. */
function family(command, before = 'watchkeeper') {
  const name = `${before} ${command.name()}`;
  return [{ name, command }, ...command.commands.flatMap((child) => family(child, name))];
}

const everyCommand = program.commands.flatMap((command) => family(command));

/** What a page says of a command that does not exist, or of an option that it does not have. */
export function unknownCommands(text) {
  const said = [...text.matchAll(/^```(?:sh|console)\n([\s\S]*?)^```|`(watchkeeper [^`]+)`/gm)].map(
    ([, block, span]) => block ?? span,
  );
  return said.flatMap((code) =>
    [...code.matchAll(/\bwatchkeeper ([a-z][^\n#&|)`]*)/g)].flatMap(([, line]) => unknownIn(line.trim())),
  );
}

function unknownIn(line) {
  const called = everyCommand.findLast(({ name }) => `watchkeeper ${line} `.startsWith(`${name} `));
  if (called === undefined) return [line];
  const known = called.command.options.flatMap(({ long, short }) => [long, short]);
  const options = line.split(/\s/).filter((word) => /^--?[a-z]/.test(word));
  return options.some((option) => ![...known, '--help'].includes(option.split('=')[0])) ? [line] : [];
}

const anchor = (name) => name.replaceAll(' ', '-');

function commandList() {
  const rows = program.commands.map((command) => [
    `[\`${command.name()}\`](#${anchor(`watchkeeper ${command.name()}`)})`,
    command.summary() || command.description(),
  ]);
  return table(['command', 'for'], rows);
}

function commandHelp() {
  return everyCommand.map(({ name, command }) => `## ${name}\n\n${block(helpOf(command))}`).join('\n');
}

const unitWords = { minutes: 'min', percent: '%', factor: 'times', count: 'times', tokens: 'tokens' };

function checkList() {
  const byDeed = ['prompts', 'tells', 'shows'].flatMap((most) => checks.filter(({ name }) => mostDone(name) === most));
  const rows = byDeed.map((check) => {
    const limits = Object.entries(check.thresholds).map(
      ([key, { byDefault, unit }]) => `\`${key}\` (${byDefault} ${unitWords[unit]})`,
    );
    const { about = 'agent', name, title } = check;
    return [`\`${name}\``, `the ${about} ${title}`, ...doneAbout(check), limits.join(', ') || '-'];
  });
  return table(['check', 'raised when', 'the agent', 'you', 'thresholds'], rows);
}

/** What its agent is told and what people are. */
function doneAbout({ name, ladder }) {
  const { template, promptsMax, tells, moment } = ladder;
  const times = promptsMax === 1 ? 'once' : `up to ${promptsMax} times`;
  const at = { idle: 'at its prompt', 'turn-over': 'when its turn is over', any: 'at any moment' }[moment];
  const prompts = template === null ? '-' : `is sent \`${template}\` ${times}, ${at}`;
  const people = {
    repeat: 'are told, repeatedly',
    once: 'are told once',
    instead: 'are told once, but only if the agent may not be prompted',
    never: mostDone(name) === 'shows' ? 'only see it' : '-',
  }[tells];
  return [prompts, people];
}

function configurationKeys() {
  const { properties } = JSON.parse(configJsonSchema());
  const plain = Object.entries(properties).filter(([, node]) => node.properties === undefined);
  const sections = Object.entries(properties).filter(([key, node]) => node.properties && key !== 'templates');
  const part = (title, node, rows) =>
    `### ${title}\n\n${node === null ? '' : `${node.description}\n\n`}${table(['key', 'default', 'allowed', 'for'], rows)}`;
  return [
    part(
      'At the top',
      null,
      plain.flatMap(([key, node]) => keyRows(key, node)),
    ),
    ...sections.map(([key, node]) => part(`\`${key}\``, node, childRows(key, node))),
  ].join('\n');
}

function childRows(prefix, node) {
  return Object.entries(node.properties).flatMap(([key, child]) => keyRows(`${prefix}.${key}`, child));
}

/** A key, and those of what it is a list of. */
function keyRows(key, node) {
  if (node.properties) return childRows(key, node);
  const kinds = node.items?.oneOf ?? (node.items?.properties ? [node.items] : []);
  const own = [
    `\`${key}\`${projectKeys.includes(key) ? ' ᴾ' : ''}`,
    valueText(node.default),
    allowed(node),
    node.description,
  ];
  const of = kinds.flatMap((kind) => {
    const type = kind.properties.type?.const;
    return Object.entries(kind.properties).flatMap(([name, child]) => {
      if (type !== undefined && name === 'channel' && kind !== kinds[0]) return [];
      const at = `${key}[].${name}`;
      return type === undefined || name === 'channel'
        ? keyRows(at, child)
        : keyRows(name === 'type' ? `${key}[].type: ${type}` : at, child);
    });
  });
  return [own, ...of];
}

function valueText(value) {
  return value === undefined ? '-' : `\`${JSON.stringify(value)}\``;
}

function allowed(node) {
  if (node.const !== undefined) return `\`${node.const}\``;
  if (node.enum) return node.enum.map((value) => `\`${value}\``).join(', ');
  if (node.anyOf) return node.anyOf.map(allowed).join(' or ');
  switch (node.type) {
    case 'boolean':
      return '`true`, `false`';
    case 'string':
      return 'text';
    case 'array':
      return node.prefixItems ? `${node.prefixItems.length} numbers` : 'a list';
    case 'number':
    case 'integer':
      return numberText(node);
    default:
      throw new Error(`a value of the configuration that the manual cannot describe: ${JSON.stringify(node)}`);
  }
}

function numberText({ type, minimum, maximum, exclusiveMinimum, exclusiveMaximum }) {
  const what = type === 'integer' ? 'whole number' : 'number';
  const low = minimum === undefined ? `above ${exclusiveMinimum}` : `from ${minimum}`;
  const high = maximum === undefined ? `below ${exclusiveMaximum}` : `to ${maximum}`;
  return `${what} ${low} ${high}`;
}

function templateTexts() {
  const { properties } = JSON.parse(configJsonSchema()).properties.templates;
  const texts = defaultTemplates();
  return Object.entries(properties)
    .map(([key, { description }]) => `- \`templates.${key}\`: ${description}\n  > ${texts[key]}\n`)
    .join('');
}

function stateTable() {
  const rows = Object.entries(stateMeanings).flatMap(([state, means]) => {
    const details = Object.entries(detailMeanings).filter(([, detail]) => detail.of === state);
    const own = details.length === 0 ? [[`\`${state}\``, means]] : [];
    return [...own, ...details.map(([name, detail]) => [`\`${state}/${name}\``, detail.means])];
  });
  return table(['state', 'means'], rows);
}

function refusals() {
  return Object.entries(refusalHelp).map(([reason, text]) => [`\`${reason}\``, text]);
}
