// What differs from run to run is made the same, so that a transcript in the documentation can be compared with another
// run: clock times and dates, durations, pids, ids, tags of prompts, panes, ports, the user's number and how many lines a record has. Columns are as
// wide as what stands in them, and long texts break where the line is full: blanks count as one, and a line that goes on
// below its beginning counts as one line.

const varying: [pattern: RegExp, as: string][] = [
  [/\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(\.\d+)?Z?/g, 'TIME'],
  [/\d{4}-\d\d-\d\d-\d\d-\d\d-\d\d/g, 'TIME'],
  [/\b\d\d:\d\d:\d\d\b/g, 'TIME'],
  [/\b[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}\b/g, 'ID'],
  [/\b(?=[0-9a-f]*\d)[0-9a-f]{8}\b/g, 'ID'],
  [/\bwk-n?[0-9a-f]{4}\b/g, 'TAG'],
  [/\b(pid|daemon) \d+/g, '$1 N'],
  [/\b\d+(\.\d+)? ?(ms|s|m|min)\b/g, 'DURATION'],
  [/%\d+\b/g, '%N'],
  [/\b\d+ +TIME/g, 'N TIME'],
  [/\b\d+ lines\b/g, 'N lines'],
  [/\b127\.0\.0\.1:\d+/g, '127.0.0.1:N'],
  [/\btmux-\d+\//g, 'tmux-N/'],
  // Run by root, the database has to be somewhere else than in the data directory.
  [/, its database in [^;\n]+/g, ''],
];

export function steadyLines(text: string): string[] {
  const steady = varying.reduce((all, [pattern, as]) => all.replaceAll(pattern, as), text);
  return steady
    .replaceAll(/\n[ \t]+/g, ' ')
    .split('\n')
    .map((line) => line.replaceAll(/[ \t]+/g, ' ').trim())
    .filter(Boolean);
}
