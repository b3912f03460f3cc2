import fc from 'fast-check';
import { expect, it } from 'vitest';
import { Recent } from './recent.ts';

it('knows the last few different values and nothing older', () => {
  const value = fc.constantFrom('a', 'b', 'c', 'd', 'e', 'f');
  fc.assert(
    fc.property(fc.array(value), fc.integer({ min: 1, max: 4 }), (values, max) => {
      const recent = new Recent(max);
      let known: string[] = [];
      for (const one of values) {
        expect(recent.has(one)).toBe(known.includes(one));
        recent.add(one);
        if (!known.includes(one)) known = [...known, one].slice(-max);
      }
      recent.clear();
      expect(values.some((one) => recent.has(one))).toBe(false);
    }),
  );
});
