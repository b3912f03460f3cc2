import { expect, it } from 'vitest';
import { whyNoSecret } from './redact.ts';

it.each([
  ['nothing', '', /nothing came/],
  ['five characters', '12345', /shorter than 6/],
  ['five of two halves each', '🎉🎉🎉🎉🎉', /shorter than 6/],
  ['blanks', ' \n      ', /nothing but blanks/],
  ['a NUL within', 'abc\u0000defghi', /NUL/],
  ['half a character', 'abcdefg\ud800', /UTF-8/],
])('%s is no secret that could be taken out', (_name, secret, why) => expect(whyNoSecret(secret)).toMatch(why));

it.each(['123456', 'a b c d', 'пароль', '-----BEGIN\nx'])('%s is one', (secret) =>
  expect(whyNoSecret(secret)).toBe(null),
);
