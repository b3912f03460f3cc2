import { redact } from '../../model/redact.ts';
import { type UntrustedText, untrusted } from '../../model/text.ts';
import { asObject, asObjects, asString, type JsonObject } from '../json.ts';

// More than is shown: a secret that is cut off is not known as one.
const askedCharsMax = 1_500;
const partCharsMax = 400;
const marginChars = 1_000;
const partsMax = 12;
const depthMax = 3;

/** What a call wants to do, as a person who has to allow it reads it: the client's own tools in their order, others by all they are given. */
export function askedText(tool: string, value: unknown): UntrustedText | null {
  const input = asObject(value);
  if (input === null) return null;
  const text = own(tool, input) ?? everything(input);
  return text === '' ? null : untrusted(copied(text.slice(0, askedCharsMax)));
}

function own(tool: string, input: JsonObject): string | null {
  const said = (key: string) => asString(input[key]);
  switch (tool) {
    case 'Bash':
      return said('command');
    case 'Write':
      return joined(': ', said('file_path'), said('content'));
    case 'Edit':
      return joined(': ', said('file_path'), joined(' → ', part(said('old_string')), part(said('new_string'))));
    case 'WebFetch':
      return joined(': ', said('url'), said('prompt'));
    case 'AskUserQuestion':
      return asObjects(input.questions).slice(0, partsMax).map(questionText).join(' · ');
    case 'ExitPlanMode':
      return said('plan') ?? '';
    default:
      return null;
  }
}

function questionText(question: JsonObject): string {
  const choices = asObjects(question.options).flatMap(({ label }) => asString(label) ?? []);
  const text = asString(question.question) ?? '';
  return choices.length === 0 ? text : `${text} (${choices.slice(0, partsMax).join(' / ')})`;
}

/** Of a tool of a server nobody here knows which of its words matter. */
function everything(input: JsonObject): string {
  return Object.entries(input)
    .slice(0, partsMax)
    .map(([key, value]) => `${key.slice(0, 100)}: ${part(plain(value, depthMax))}`)
    .join(', ');
}

/** What is nested deeper, or goes on for longer, is only hinted at. */
function plain(value: unknown, depth: number): string {
  if (typeof value !== 'object' || value === null) return part(asString(value)) ?? String(value);
  if (depth === 0) return '…';
  const parts = Array.isArray(value)
    ? value.slice(0, partsMax).map((each) => plain(each, depth - 1))
    : Object.entries(value)
        .slice(0, partsMax)
        .map(([key, each]) => `${key.slice(0, 100)}: ${plain(each, depth - 1)}`);
  return Array.isArray(value) ? `[${parts.join(', ')}]` : `{${parts.join(', ')}}`;
}

function part(text: string | null): string | null {
  // What is cut in the middle of a secret is not known as one any more.
  return text === null || text.length <= partCharsMax
    ? text
    : redact(text.slice(0, partCharsMax + marginChars)).slice(0, partCharsMax);
}

function joined(mark: string, ...parts: (string | null)[]): string | null {
  const known = parts.filter((each) => each !== null);
  return known.length === 0 ? null : known.join(mark);
}

/** A plain slice of a text keeps all of it in memory. */
function copied(text: string): string {
  return Buffer.from(text, 'utf16le').toString('utf16le');
}
