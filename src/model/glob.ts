/** `*` any characters, `?` one. Only the last star is ever tried again, so no pattern takes exponential time. */
export function matchesGlob(pattern: string, name: string): boolean {
  const wanted = [...pattern];
  const actual = [...name];
  let at = 0;
  let star = -1;
  let starAt = 0;
  let index = 0;
  while (index < actual.length) {
    if (wanted[at] === '*') {
      star = at;
      starAt = index;
      at += 1;
    } else if (at < wanted.length && (wanted[at] === '?' || wanted[at] === actual[index])) {
      at += 1;
      index += 1;
    } else if (star !== -1) {
      starAt += 1;
      index = starAt;
      at = star + 1;
    } else {
      return false;
    }
  }
  while (wanted[at] === '*') at += 1;
  return at === wanted.length;
}
