/**
 * The sections of a handoff document, found in whatever Markdown an agent writes: headings of any level, underlined or
 * bold ones, numbered, with a colon, or just `Goal: …`. What stands in a code fence is text and opens nothing.
 */
export const sectionNames = [
  'Goal',
  'State',
  'Decisions',
  'Next step',
  'Open files',
  'Background work',
  'How to verify',
  'Git HEAD',
] as const;
export type SectionName = (typeof sectionNames)[number];

/** The lines of each section that is there. */
export type Sections = ReadonlyMap<SectionName, readonly string[]>;

/** What agents call them, without case. */
const called: Record<SectionName, readonly string[]> = {
  Goal: ['goal', 'goals', 'objective', 'objectives', 'purpose', 'task', 'mission'],
  State: ['state', 'status', 'progress', 'where things stand', 'state and progress', 'done so far'],
  Decisions: ['decisions', 'decision', 'decision log', 'design decisions'],
  'Next step': ['next step', 'next steps', 'next', 'next action', 'next actions', 'next task', 'next tasks'],
  'Open files': [
    'open files',
    'open file',
    'files',
    'files touched',
    'changed files',
    'modified files',
    'working files',
  ],
  'Background work': [
    'background work',
    'background',
    'background task',
    'background tasks',
    'background jobs',
    'background processes',
    'background shells',
    'active spawns',
    'spawns',
    'work in the background',
  ],
  'How to verify': [
    'how to verify',
    'verify',
    'verification',
    'verifying',
    'how to check',
    'how to test',
    'tests',
    'testing',
  ],
  'Git HEAD': ['git head', 'head', 'git', 'git commit', 'git state', 'git status', 'head commit', 'commit'],
};
const nameOf = new Map(sectionNames.flatMap((name) => called[name].map((alias) => [alias, name] as const)));

/** `The current goal of this session` is the goal, `State machine` is not the state. */
const before = /^(?:(?:the|current|my|our|key|main|running|relevant|list of|immediate|exact) ){1,3}/;
const after = new Set('of and so for to at in that made taken with now still currently by or here as &'.split(' '));

const headingCharsMax = 200;

interface Heading {
  /** Of `#` and underlined ones; null: a bold or plain one, which stands within those. */
  level: number | null;
  name: SectionName | null;
  /** What follows on the same line. */
  rest: string;
}

export function sectionsOf(text: string): Sections {
  const found = new Map<SectionName, string[]>();
  let major: { name: SectionName | null; level: number } = { name: null, level: 0 };
  let minor: SectionName | null = null;
  const add = (name: SectionName | null, line: string) => {
    if (name !== null) found.get(name)?.push(line);
  };
  const addText = (line: string) => {
    add(major.name, line);
    if (minor !== major.name) add(minor, line);
  };

  const lines = text.split(/\r\n|\r|\n/);
  let fence: string | null = null;
  let isComment = false;
  for (let index = 0; index < lines.length; index += 1) {
    const line = lines[index] as string;
    if (fence !== null) {
      if (closesFence(line, fence)) fence = null;
      else addText(line);
      continue;
    }
    if (isComment || line.trimStart().startsWith('<!--')) {
      isComment = !line.includes('-->');
      continue;
    }
    fence = /^ {0,3}(`{3,}|~{3,})/.exec(line)?.[1] ?? null;
    if (fence !== null) continue;

    const heading = headingAt(line, lines[index + 1] ?? '');
    if (heading === null) {
      addText(line);
      continue;
    }
    const { level, name, rest } = heading;
    if (name !== null && !found.has(name)) found.set(name, []);
    if (level === null) {
      // To the section around it, it is a line like others.
      add(major.name, line);
      minor = name;
      if (minor !== major.name) add(minor, rest);
    } else {
      minor = null;
      if (name !== null || level <= major.level) major = { name, level };
      add(name, rest);
    }
  }
  return found;
}

function closesFence(line: string, fence: string): boolean {
  const text = line.trim();
  return text.length >= fence.length && text === (fence[0] ?? '').repeat(text.length);
}

function headingAt(line: string, next: string): Heading | null {
  const text = line.slice(0, headingCharsMax);
  const beyond = line.slice(headingCharsMax);
  const marked = /^ {0,3}(#{1,6})(?!#)\s*(.*)$/.exec(text);
  if (marked !== null) return { level: marked[1]?.length ?? 1, ...titled(marked[2] ?? '', beyond) };

  const plain = text.replace(/^\s{0,3}(?:[-+*]\s|\d{1,3}[.)]\s)?\s{0,3}/, '');
  const bold = /^(\*\*|__)(.{1,120}?)\1/.exec(plain);
  const said = titled(plain, beyond);
  const underline = /^ {0,3}(=|-)\1*\s*$/.exec(next)?.[1];
  // Below anything but a heading it is a rule across the page.
  if (underline !== undefined && said.name !== null) return { level: underline === '=' ? 1 : 2, ...said };
  if (bold !== null) {
    const { name, rest } = titled(bold[2] ?? '', '');
    const follows = `${plain.slice(bold[0].length)}${beyond}`.replace(/^\s*[:—–-]?\s*/, '');
    if (name !== null) return { level: null, name, rest: `${rest} ${follows}`.trim() };
    return follows === '' ? { level: null, name, rest: '' } : null;
  }
  // Words alone on a line, or before a colon: only by their exact name, for they may be a sentence of another section.
  const isExact = nameOf.has((plain.split(':', 1)[0] ?? '').trim().toLowerCase());
  return isExact ? { level: null, ...said } : null;
}

/** `Git HEAD (main): 1a2b3c4`: the name before what explains it, and the explanation. */
function titled(title: string, beyond: string): { name: SectionName | null; rest: string } {
  const bare = title.replaceAll(/[*_`]/g, '');
  const cut = /[:(]|\s[-–—]\s|—/.exec(bare);
  const head = cut === null ? bare : bare.slice(0, cut.index);
  const rest = cut === null ? '' : bare.slice(cut.index + cut[0].length);
  return { name: sectionCalled(wordsOf(head)), rest: `${rest}${beyond}`.trim() };
}

function wordsOf(text: string): string {
  const words = text.toLowerCase().match(/[\p{L}&]+(?:['’][\p{L}]+)?/gu) ?? [];
  return words.join(' ');
}

function sectionCalled(words: string): SectionName | null {
  const short = words.replace(before, '').split(' ');
  // As a whole, or up to a word that goes on to explain it.
  for (let count = short.length; count > 0; count -= 1) {
    const name = nameOf.get(short.slice(0, count).join(' '));
    if (name !== undefined) return count === short.length || after.has(short[count] ?? '') ? name : null;
  }
  return null;
}
