/** As most terminals are where nothing says otherwise; `LANG=C` says otherwise. */
const showsAll = isUnicode(process.env);

export function isUnicode({ LC_ALL: all, LC_CTYPE: characters, LANG: language }: NodeJS.ProcessEnv): boolean {
  const locale = all || characters || language || '';
  return locale === '' || /utf-?8/i.test(locale);
}

/** What reads the same in ASCII; anything else is a question mark. */
const inAscii: Readonly<Record<string, string>> = {
  ...{ '…': '...', '→': '->', '–': '-', '—': '-', '·': '-', '×': 'x', '≈': '~' },
  ...{ '“': '"', '”': '"', '‘': "'", '’': "'" },
  ...{ '▁': '.', '▂': '.', '▃': '.', '▄': ':', '▅': ':', '▆': '#', '▇': '#', '█': '#', '┬': '+', '┤': '|' },
};

/** A text for people, in characters that their locale can show. */
export function inLocale(text: string, showsMore = showsAll): string {
  return showsMore ? text : text.replaceAll(/[^\0-\x7f]/gu, (character) => inAscii[character] ?? '?');
}

/** JSON loses nothing by it. */
export function jsonInLocale(json: string, showsMore = showsAll): string {
  if (showsMore) return json;
  return json.replaceAll(/[^\0-\x7f]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`);
}
