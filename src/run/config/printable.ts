const charsMax = 80;

/** Text from a file or a path, safe for one line of a terminal: no control, format or stray surrogate characters. */
export function printable(text: string): string {
  return text.replace(/[\p{C}\u2028\u2029]/gu, (character) => {
    const code = (character.codePointAt(0) ?? 0).toString(16);
    return code.length <= 4 ? `\\u${code.padStart(4, '0')}` : `\\u{${code}}`;
  });
}

/** The same, cut to what a message can bear. Cut before escaping, so that no escape is cut in two. */
export function excerpt(text: string): string {
  const characters = [...text.slice(0, charsMax * 2)];
  return characters.length > charsMax ? `${printable(characters.slice(0, charsMax).join(''))}…` : printable(text);
}
