import { printable } from '../model/text.ts';

const charsMax = 80;

/** Text of a file, cut to what a message can bear. Cut before escaping, so that no escape is cut in two. */
export function excerpt(text: string): string {
  const characters = [...text.slice(0, charsMax * 2)];
  return characters.length > charsMax ? `${printable(characters.slice(0, charsMax).join(''))}…` : printable(text);
}
