import { fail, ok, type Result } from '../../model/result.ts';

/**
 * The block for CLAUDE.md and AGENTS.md: what an agent should know about being watched. Its marks name the version, so
 * that a later one takes its place.
 */
const version = 1;
const beginMark = /^<!-- watchkeeper:begin v\d{1,6} -->(?=\r?$)/gm;
const endMark = /^<!-- watchkeeper:end -->(?=\r?$)/gm;

// ASCII only: it is put between the bytes of a file whose encoding nobody asked for.
const block = `<!-- watchkeeper:begin v${version} -->
## Watchkeeper

Watchkeeper watches this session from outside: whether it moves, waits, fails or runs out of context.

- A prompt that ends in a tag such as \`[wk-3f2a]\` comes from it. Answer at once and in a few lines, then go on with
  what you were doing. It is a question about the work, never a new task.
- Asked for your context window: answer in one line, \`Context: 31.6% (63,153/200,000 tokens)\`, with the figures of the
  last system warning. If you were told none, say \`Context: unknown\`; do not guess.
- Your own subagents and background shells are seen without your help. Report any other work you start and do not wait
  for (a script, a job, an agent in another terminal), with a file that its output goes to:
  \`watchkeeper spawn-track add --project PROJECT --task-id ID --output FILE [--type TYPE] [--description TEXT]\`,
  and at its end \`watchkeeper spawn-track done PROJECT ID\` or \`watchkeeper spawn-track fail PROJECT ID\`.
- Told that a spawn is silent: look at its process and its output, and say whether it runs, hangs or failed, and what
  you do about it.
- Asked for a handoff: start nothing new, and write the file the prompt names, whole, with these headings: Goal; State;
  Decisions, and why; Next step; Open files; Running background work; How to verify; Git HEAD (\`git rev-parse HEAD\`);
  Nonce, copied from the prompt where it names one. Write for a reader who knows nothing of this session. Then say in
  one line that it is written.
<!-- watchkeeper:end -->`;

/** The block of this version in the text, in the place of an older one or at the end; the same text where it is there. */
export function addInstructions(text: string): Result<string, 'broken-block'> {
  const found = findBlock(text);
  if (!found.ok) return found;
  const newline = text.includes('\r\n') ? '\r\n' : '\n';
  const fresh = block.replaceAll('\n', newline);
  const place = found.value;
  if (place !== null) return ok(text.slice(0, place.start) + fresh + text.slice(place.end));
  const gap = text === '' || /\n\r?\n$/.test(text) ? '' : text.endsWith('\n') ? newline : newline + newline;
  return ok(`${text}${gap}${fresh}${newline}`);
}

/** Without the block, and the blank line that was put before it; the same text where there is none. */
export function removeInstructions(text: string): Result<string, 'broken-block'> {
  const found = findBlock(text);
  if (!found.ok) return found;
  const place = found.value;
  if (place === null) return ok(text);
  const after = text.slice(place.end).replace(/^\r?\n/, '');
  const before = text.slice(0, place.start);
  return ok((after === '' ? before.replace(/(\r?\n)\r?\n$/, '$1') : before) + after);
}

export function hasInstructions(text: string): boolean {
  return text.search(beginMark) !== -1;
}

function findBlock(text: string): Result<{ start: number; end: number } | null, 'broken-block'> {
  const starts = [...text.matchAll(beginMark)];
  const ends = [...text.matchAll(endMark)];
  const [start, secondStart] = starts;
  const [end, secondEnd] = ends;
  if (start === undefined && end === undefined) return ok(null);
  const paired = start !== undefined && end !== undefined && start.index < end.index;
  if (!paired || secondStart !== undefined || secondEnd !== undefined)
    return fail(
      'broken-block',
      'has marks of a Watchkeeper block that do not belong together',
      'leave one begin and one end mark, or take them out by hand',
    );
  return ok({ start: start.index, end: end.index + end[0].length });
}
