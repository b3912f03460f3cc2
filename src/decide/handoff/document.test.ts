import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { whyUnsafe } from '../prompt-text.ts';
import {
  askAgainText,
  type DocumentExpected,
  fileProblems,
  handoffFile,
  headNamed,
  requestText,
  resumeText,
  staleProblem,
  verifyDocument,
} from './document.ts';

const nonce = 'wk-1a2b3c4d';
const head = '3f786850e387550fdab836ed7e6dc881de23001b';
const expected: DocumentExpected = { nonce, background: [], hasGit: true };

const parts = {
  Goal: 'Make the parser accept nested lists without a stack that grows with its input.',
  State: 'The reader is done and tested; the writer is half done in src/write.ts.',
  Decisions: 'none',
  'Next step': 'Write the second half of src/write.ts, then run the tests.',
  'Open files': 'none',
  'Background work': 'none',
  'How to verify': 'npm test',
  'Git HEAD': head,
  Nonce: nonce,
};
type Part = keyof typeof parts;

/** A document in one way of writing headings. */
function written(changes: Partial<Record<Part, string | null>> = {}, heading = (name: string) => `## ${name}`): string {
  const all: Record<string, string | null> = { ...parts, ...changes };
  const sections = Object.entries(all).flatMap(([name, text], index) =>
    text === null ? [] : [heading(name).replace('N.', `${index + 1}.`), '', text, ''],
  );
  return ['# Handoff', '', ...sections].join('\n');
}

const wordsOf = (text: string, what: Partial<DocumentExpected> = {}) =>
  verifyDocument(text, { ...expected, ...what }).map(({ words }) => words);

describe('a document with everything is good, however its headings are written', () => {
  it.each<[string, (name: string) => string]>([
    ['##', (name) => `## ${name}`],
    ['#', (name) => `# ${name}`],
    ['######', (name) => `###### ${name}`],
    ['closed', (name) => `## ${name} ##`],
    ['no blank', (name) => `##${name}`],
    ['capitals', (name) => `## ${name.toUpperCase()}`],
    ['colon', (name) => `## ${name}:`],
    ['numbered', (name) => `## N. ${name}`],
    ['numbered, bold', (name) => `N. **${name}**`],
    ['bold', (name) => `**${name}**`],
    ['bold, colon within', (name) => `**${name}:**`],
    ['bold, colon after', (name) => `**${name}**:`],
    ['bold in a heading', (name) => `### **${name}**`],
    ['underscores', (name) => `__${name}__`],
    ['underlined', (name) => `${name}\n${'='.repeat(name.length)}`],
    ['underlined lightly', (name) => `${name}\n---`],
    ['plain with colon', (name) => `${name}:`],
    ['plain', (name) => name],
    ['a sign before it', (name) => `## 🎯 ${name}`],
    ['code', (name) => `## \`${name}\``],
    ['the', (name) => `## The current ${name}`],
    ['an explanation after', (name) => `## ${name} (as of now)`],
    ['an explanation with of', (name) => `## ${name} of this session`],
  ])('%s', (_name, heading) => expect(wordsOf(written({}, heading))).toEqual([]));

  it('on one line each', () => {
    const lines = Object.entries(parts).map(([name, text]) => `- **${name}:** ${text}`);
    expect(wordsOf(lines.join('\n'))).toEqual([]);
    expect(
      wordsOf(
        Object.entries(parts)
          .map(([name, text]) => `${name}: ${text}`)
          .join('\r\n'),
      ),
    ).toEqual([]);
  });

  it('with subheadings and code within a section', () => {
    const next = '### First\n\n```sh\nnpm test\n```\n\n#### Then\n\ncommit';
    expect(wordsOf(written({ 'Next step': next, 'Git HEAD': `\`\`\`\n${head}\n\`\`\`` }))).toEqual([]);
  });

  it('where a line of one section looks like another', () =>
    expect(wordsOf(written({ 'Next step': 'Goal: finish the writer' }))).toEqual([]));

  it('by other usual names', () => {
    const others: Record<string, string> = {
      Goal: 'Objective',
      'Next step': 'Next steps',
      'How to verify': 'Verification',
      'Open files': 'Files',
    };
    expect(wordsOf(written({}, (name) => `## ${others[name] ?? name}`))).toEqual([]);
  });
});

describe('what is missing or not filled in is named', () => {
  const required = Object.keys(parts).filter((name) => name !== 'Nonce') as Part[];
  it.each(required)('no section %s', (name) =>
    expect(wordsOf(written({ [name]: null }))).toEqual([`the section ${name} is missing`]),
  );
  it.each(required)('nothing under %s', (name) =>
    expect(wordsOf(written({ [name]: '' }))).toEqual(
      [`the section ${name} is not filled in`, name === 'Git HEAD' ? 'Git HEAD names no commit' : ''].filter(Boolean),
    ),
  );
  it.each([
    'TODO',
    'tbd',
    '- TBD',
    '...',
    '…',
    '---',
    '`TODO`',
    '**to be filled in**',
    '- [ ] TODO',
    '<!-- the goal -->',
    '\n\n',
    '| |',
  ])('a placeholder: %j', (text) => {
    for (const name of ['Goal', 'Decisions', 'Next step', 'Open files'] as const)
      expect(wordsOf(written({ [name]: text }))).toEqual([`the section ${name} is not filled in`]);
  });
  it.each(['none', 'None yet.', 'N/A', 'nothing', '[the goal]', '<your goal here>', '{goal}', 'x', 'see above'])(
    'none is no goal, state or next step: %j',
    (text) => {
      for (const name of ['Goal', 'State', 'Next step', 'How to verify'] as const)
        expect(wordsOf(written({ [name]: text }))).toEqual([`the section ${name} is not filled in`]);
    },
  );
  it.each(['none', 'None.', '- none', 'n/a', '(none)', 'nothing'])('but may be said of the others: %j', (text) =>
    expect(wordsOf(written({ Decisions: text, 'Open files': text, 'Background work': text }))).toEqual([]),
  );
  it('a next step that says that all is done is one', () =>
    expect(wordsOf(written({ 'Next step': 'None: all work is done and pushed.' }))).toEqual([]));
  it('a heading in a code fence is none', () => {
    const fenced = `${written({ Goal: null })}\n\`\`\`\n## Goal\nthe goal\n\`\`\`\n`;
    expect(wordsOf(fenced)).toEqual(['the section Goal is missing']);
  });
  it('a fence within a longer one does not end it', () => {
    const fenced = `${written({ Goal: null })}\n\`\`\`\`\n\`\`\`\n## Goal\nthe goal\n\`\`\`\`\n`;
    expect(wordsOf(fenced)).toEqual(['the section Goal is missing']);
  });
  it('the text of the next section is not that of this one', () =>
    expect(
      wordsOf(written({}, (name) => (name === 'Goal' ? '# Goal\n' : `## ${name}`)).replace(parts.Goal, '')),
    ).toEqual(['the section Goal is not filled in']));
  it('a heading that only begins alike is another', () =>
    expect(wordsOf(written({}, (name) => (name === 'State' ? '## State machine' : `## ${name}`)))).toEqual([
      'the section State is missing',
    ]));
});

describe('nonce, HEAD, background work and size', () => {
  it.each([
    ['another one', written({ Nonce: 'wk-ffffffff' })],
    ['none', written({ Nonce: null })],
    ['a longer one', written({ Nonce: `${nonce}5` })],
    ['half of it', written({ Nonce: nonce.slice(0, -1) })],
  ])('the nonce: %s', (_name, text) => expect(wordsOf(text)).toEqual([`the nonce ${nonce} is not in it`]));
  it('the nonce may stand anywhere', () =>
    expect(wordsOf(`<!-- ${nonce} -->\n${written({ Nonce: null })}`)).toEqual([]));

  it.each([
    [head, head],
    [`\`${head.toUpperCase()}\` on main`, head],
    ['main at 3f78685 (dirty)', '3f78685'],
    ['2026-11-16, 1234567', '1234567'],
    ['16 November 20261116: 3f78685', '3f78685'],
    [`${head}${'0'.repeat(24)}`, `${head}${'0'.repeat(24)}`],
    ['defaced', null],
    ['main', null],
    ['none', null],
    ['3f786', null],
    [`${head}0`, null],
  ])('HEAD in %j is %s', (text, commit) => {
    expect(headNamed(written({ 'Git HEAD': text }))).toBe(commit);
    expect(wordsOf(written({ 'Git HEAD': text }))).toEqual(commit === null ? ['Git HEAD names no commit'] : []);
  });
  it('HEAD on the line of its heading', () =>
    expect(headNamed(`${written({ 'Git HEAD': null })}\n## Git HEAD: ${head}\n`)).toBe(head));
  it('where there is no repository none is fine', () =>
    expect(wordsOf(written({ 'Git HEAD': 'none' }), { hasGit: false })).toEqual([]));

  it('running work is listed by id', () => {
    const background = ['task-1', 'bash_2'];
    expect(
      wordsOf(written({ 'Background work': '- task-1: the build\n- `bash_2` the server' }), { background }),
    ).toEqual([]);
    expect(wordsOf(written({ 'Background work': 'task-1, bash\\_2.' }), { background })).toEqual([]);
    expect(wordsOf(written({ 'Background work': 'task-12 and task-1-b' }), { background })).toEqual([
      'Background work does not list “task-1”, “bash_2”',
    ]);
    expect(wordsOf(written({ 'Background work': 'none', State: 'task-1 and bash_2 run' }), { background })).toEqual([
      'Background work does not list “task-1”, “bash_2”',
    ]);
  });
  it('of many that are not listed only some are named', () => {
    const background = Array.from({ length: 40 }, (_, index) => `task-${index}`);
    expect(wordsOf(written(), { background })).toEqual([
      'Background work does not list “task-0”, “task-1”, “task-2”, “task-3”, “task-4” and 35 more',
    ]);
  });

  it('too little', () => expect(wordsOf(`Goal: x\n${nonce}`)).toContain('it is shorter than 200 bytes'));
  it('nothing', () => expect(wordsOf('')).toHaveLength(10));
  it('too much', () => {
    expect(wordsOf(`${written()}${'x'.repeat(256 * 1024)}`)).toEqual(['it is larger than 256 KiB']);
    expect(wordsOf(`${written()}${'日'.repeat(100_000)}`)).toEqual(['it is larger than 256 KiB']);
  });
  it('no text', () => expect(wordsOf(`${written()}\0`)).toEqual(['it is not a text']));
});

describe('hostile documents', { timeout: 60_000 }, () => {
  it('never throw', () => {
    const pieces = fc.constantFrom(
      '# ',
      '**',
      '__',
      '```',
      '~~~',
      '<!--',
      '-->',
      '===',
      '---',
      '\n',
      '\r',
      'Goal',
      ':',
      '`',
      ' ',
      '(',
      '—',
      '\ud800',
      nonce,
      head,
      '\t',
      '1. ',
      '- [ ] ',
      '|',
      'of ',
      'the ',
    );
    const text = fc.oneof(
      fc.string({ unit: 'binary' }),
      fc.array(fc.oneof(pieces, fc.string()), { maxLength: 200 }).map((all) => all.join('')),
    );
    fc.assert(
      fc.property(text, fc.array(fc.string(), { maxLength: 3 }), (some, background) => {
        const problems = verifyDocument(some, { ...expected, background });
        expect(problems.every(({ words }) => words.length > 0)).toBe(true);
        headNamed(some);
      }),
      { numRuns: 500 },
    );
  });

  it.each([
    '#',
    '*',
    '_',
    '**',
    '`',
    '~',
    '<!--',
    '-',
    '=',
    ' ',
    '\n',
    '(',
    'a',
    'goal ',
    'the ',
    'state of ',
    '**a',
    '1. ',
    '> ',
    '|',
    'f',
    '0',
    '[',
    ':',
    '# goal\n',
    '```\n',
  ])('a quarter of a million bytes of %j are read in no time', (piece) => {
    const text = piece.repeat(Math.floor(250_000 / piece.length));
    const startMs = performance.now();
    verifyDocument(text, { ...expected, background: ['f', 'a'.repeat(50)] });
    // A few milliseconds; a pattern that backtracks takes minutes.
    expect(performance.now() - startMs).toBeLessThan(5_000);
  });
});

describe('the words', () => {
  const projectDir = '/home/me/demo';
  const file = `${projectDir}/.watchkeeper/handoffs/handoff-2026-11-16-08-30-00.md`;
  const text = (filled: ReturnType<typeof requestText>) => (filled.ok ? filled.text : `refused: ${filled.reason}`);
  const request = { file, projectDir, nonce, why: 'your context window is 87% full', background: ['task-1', 'bash_2'] };

  it('name the file, the nonce, every section and what runs', () => {
    const asked = text(requestText(request, {}));
    for (const part of [file, nonce, ...Object.keys(parts), '“task-1”, “bash_2”', '87%']) expect(asked).toContain(part);
  });
  it('say what is wrong', () => {
    const problems = verifyDocument(written({ Goal: null, Nonce: null }), expected);
    expect(text(askAgainText(problems, request, {}))).toContain(
      `not good yet: the nonce ${nonce} is not in it, the section Goal is missing. Please`,
    );
    expect(text(askAgainText([staleProblem], request, {}))).toContain('it is older than your last work');
  });
  it.each(Object.entries(fileProblems))('say it of a file that is %s', (_kind, problem) =>
    expect(text(askAgainText([problem], request, {}))).toContain(`not good yet: ${problem.words}. Please`),
  );
  it('resume from the file', () =>
    expect(text(resumeText(request, {}))).toContain(`read the handoff document ${file}`));
  it('are one line that can be typed, whatever is wrong', () => {
    const worst = verifyDocument('', { ...expected, background: ['!a', '/b', '$(c)'] });
    for (const filled of [
      requestText({ ...request, background: ['$(id)', '!x'] }, {}),
      askAgainText(worst, request, {}),
      resumeText(request, {}),
    ])
      expect([filled.ok, whyUnsafe(text(filled), true)]).toEqual([true, null]);
  });
  it('name the file by its place in the project where its full path cannot be typed', () => {
    const odd = "/home/me/it's";
    expect(text(resumeText({ file: `${odd}/h/a.md`, projectDir: odd }, {}))).toContain('document h/a.md now');
    expect(text(resumeText({ file: "/else/it's.md", projectDir: odd }, {}))).toMatch(/^refused: /);
  });
  it('come from the configuration where it has others', () =>
    expect(text(resumeText(request, { handoffResume: 'Lies {file}.' }))).toBe(`Lies ${file}.`));

  it('the file is named after the second, in the project or in the directory given, and is nobody else’s', () => {
    const atMs = Date.UTC(2026, 10, 16, 8, 30);
    expect(handoffFile('.watchkeeper/handoffs', projectDir, atMs, new Set())).toBe(file);
    expect(handoffFile('/srv/handoffs', projectDir, atMs, new Set())).toBe(
      '/srv/handoffs/handoff-2026-11-16-08-30-00.md',
    );
    expect(handoffFile('.watchkeeper/handoffs', projectDir, atMs, new Set([file]))).toBe(
      file.replace('-00.md', '-01.md'),
    );
  });
});
