export function isBlank(code: number): boolean {
  return code < 128 ? code === 32 || (code >= 9 && code <= 13) : isWideBlank(code);
}

/** Of those beyond ASCII. */
export function isWideBlank(code: number): boolean {
  if (code < 0x1680) return code === 0xa0;
  return (
    code === 0x1680 ||
    (code >= 0x2000 && code <= 0x200a) ||
    code === 0x2028 ||
    code === 0x2029 ||
    code === 0x202f ||
    code === 0x205f ||
    code === 0x3000 ||
    code === 0xfeff
  );
}
