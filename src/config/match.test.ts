import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Authority } from '../model/agent.ts';
import { matchesGlob } from '../model/glob.ts';
import { authorityFor } from './match.ts';
import { defaultConfig } from './schema.ts';

describe('a pattern', () => {
  it.each<[string, string, boolean]>([
    ['*-ps', 'consilio-ps', true],
    ['*-ps', '-ps', true],
    ['*-ps', 'consilio-ps.1', false],
    ['*-ps', 'consilio-PS', false],
    ['*', '', true],
    ['?', '', false],
    ['?', '界', true],
    ['?', '🦊', true],
    ['a?c', 'abc', true],
    ['a?c', 'ac', false],
    ['a*b*c', 'a-b-b-c', true],
    ['a*b*c', 'a-c-b', false],
    ['**a', 'ba', true],
    ['a.c', 'abc', false],
    ['[ab]', 'a', false],
    ['[ab]', '[ab]', true],
    ['', '', true],
    ['', 'a', false],
    ['a*', 'a*', true],
  ])('%s on %s: %s', (pattern, name, matches) => {
    expect(matchesGlob(pattern, name)).toBe(matches);
  });

  it('agrees with the same pattern as a regular expression', () => {
    const letters = fc.string({ unit: fc.constantFrom('a', 'b', '*', '?'), maxLength: 8 });
    fc.assert(
      fc.property(letters, fc.string({ unit: fc.constantFrom('a', 'b'), maxLength: 10 }), (pattern, name) => {
        const regex = new RegExp(`^${pattern.replaceAll('*', '.*').replaceAll('?', '.')}$`);
        expect(matchesGlob(pattern, name)).toBe(regex.test(name));
      }),
    );
  });

  it('takes no exponential time', () => {
    const started = performance.now();
    expect(matchesGlob(`${'*a'.repeat(100)}b`, 'a'.repeat(10_000))).toBe(false);
    expect(performance.now() - started).toBeLessThan(1_000);
  });
});

describe('authority', () => {
  const rule = (match: string, authority: Authority) => ({ match, authority });
  const manageAll = [rule('*', 'manage')];

  it('manages *-ps, and observes the rest, by default', () => {
    expect(authorityFor(defaultConfig(), 'a-ps', true)).toBe('manage');
    expect(authorityFor(defaultConfig(), 'a', true)).toBe('observe');
  });

  it('never goes beyond observe outside tmux', () => {
    expect(authorityFor({ agents: manageAll, projectAgents: null }, 'a-ps', false)).toBe('observe');
  });

  it('takes the first rule that matches', () => {
    const agents = [rule('a-*', 'nudge'), rule('a-ps', 'manage')];
    expect(authorityFor({ agents, projectAgents: null }, 'a-ps', true)).toBe('nudge');
  });

  it.each<[Authority, Authority, Authority]>([
    ['manage', 'nudge', 'nudge'],
    ['manage', 'observe', 'observe'],
    ['nudge', 'manage', 'nudge'],
    ['observe', 'manage', 'observe'],
    ['manage', 'manage', 'manage'],
  ])('machine %s, project %s: %s', (machine, project, expected) => {
    const config = { agents: [rule('*', machine)], projectAgents: [rule('*', project)] };
    expect(authorityFor(config, 'a', true)).toBe(expected);
  });

  it("observes what the project's rules leave out", () => {
    expect(authorityFor({ agents: manageAll, projectAgents: [rule('b', 'manage')] }, 'a', true)).toBe('observe');
  });
});
