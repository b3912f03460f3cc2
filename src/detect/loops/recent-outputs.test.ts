import fc from 'fast-check';
import { expect, it } from 'vitest';
import type { ResultSign } from '../../model/session-event.ts';
import { RecentOutputs } from './recent-outputs.ts';

it('knows the last few different outputs, and asks for a hash only where the key is known', () => {
  fc.assert(
    fc.property(
      fc.array(fc.tuple(fc.constantFrom('a', 'b', 'c'), fc.nat(3))),
      fc.integer({ min: 1, max: 4 }),
      (values, max) => {
        const recent = new RecentOutputs(max);
        const keys = new Set<string>();
        let known: string[] = [];
        const newest = new Map<string, string>();
        for (const [key, number] of values) {
          let asked = false;
          const output: ResultSign = {
            start: key,
            lead: '',
            chars: 1,
            excuse: null,
            problem: '',
            get hash() {
              asked = true;
              return `${key}${number}`;
            },
          };
          expect(recent.has(key, output)).toBe(known.includes(`${key}${number}`));
          if (known.some((one) => one.startsWith(key)) && known.includes(newest.get(key) ?? '')) {
            expect(recent.last(key)?.hash).toBe(newest.get(key));
          }
          recent.add(key, output);
          newest.set(key, `${key}${number}`);
          if (!keys.has(key)) expect(asked).toBe(false);
          keys.add(key);
          if (!known.includes(`${key}${number}`)) known = [...known, `${key}${number}`].slice(-max);
        }
      },
    ),
  );
});
