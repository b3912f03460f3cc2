/** What is said to agents: every kind of text that some way of typing has garbled before. `%n` is made unique. */

const lines = (count: number, line: (n: number) => string) =>
  Array.from({ length: count }, (_, n) => line(n + 1)).join('\n');

export const oneLine: string[] = [
  'hello %n',
  'Spawn task-%n has not produced output for 12 minutes; look at it, please, and say what it does.',
  'text %n of two hundred characters '.padEnd(200, 'and so on '),
  'text %n of which the box shows every row '.padEnd(780, 'over and over '),
  'text %n that the box no longer shows '.padEnd(830, 'again and again '),
  '%n'.padEnd(5_000, 'x'),
  'five kilobytes of words %n '.padEnd(5_000, 'word '),
  'grüße, café, \u00e9, naïve, Ω, ж, ñ %n',
  '日本語の長い文章です。'.repeat(12).concat('%n'),
  'emoji 🎉 🚀 ❤️ 🇯🇵 %n',
  'שלום עולם مرحبا %n',
  '- starts like an option %n',
  '--help -t %n',
  'ends with a semicolon %n;',
  '; %n ; \\; end \\;',
  'Enter',
  'C-c %n Escape',
  '# a heading? %n',
  '@package.json and @nowhere %n',
  '$HOME $PATH $(id) `id` %n',
  '"double" \'single\' `back` %n "open',
  '#{pane_id} %n %s %d %% #[fg=red] #(id)',
  '&& rm -rf nothing || true | cat > out < in & %n',
  '& leading ampersand %n',
  '? %n',
  '1',
  'exit',
  'two   blanks between, two after %n  ',
  '[Pasted text #1 +3 lines] %n',
  'quotes a tag [wk-0000] in the middle %n',
  'C:\\path\\to\\%n \\n \\t \\\\ end',
  '~ * ? [a-z] {a,b} ^ %n',
  '<b>markup</b> &amp; %n',
  'ultrathink about %n',
];

export const severalLines: string[] = [
  'two\nlines %n',
  'three\nlines\nhere %n',
  'four\nlines\nare\nfolded %n',
  'a paragraph\n\nand another, after a blank line\n\n\n%n',
  'code %n:\n  if (a) {\n    b();\n  }\n\nend',
  lines(50, (n) => `line ${n} of %n; "$HOME" 'quoted'`),
  lines(200, (n) => `line ${n} of %n`),
  lines(200, (n) => `line ${n} grüße 日本 🎉 %n #${n}; -${n}`),
  '- a list\n- of items\n# and a heading\n@file $x %n',
];
