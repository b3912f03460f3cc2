// The engine with its real deeds in a made-up world: what a test does not name is there and allows everything.
import { Actions } from '../../src/actions/actions.ts';
import type { EngineParts } from '../../src/actions/engine.ts';

type Given = Partial<Omit<EngineParts, 'store' | 'typist'>> & Pick<EngineParts, 'clock' | 'config'>;

export function madeActions(given: Given & { store: unknown; typist?: unknown }): Actions {
  const parts = {
    host: 'h',
    hostName: 'h',
    environment: {},
    agent: () => null,
    paused: () => false,
    hold: () => 'ours' as const,
    holdNumber: () => 1,
    flush: async () => true,
    lookSoon: () => {},
    notice: () => {},
    answered: () => {},
    ...given,
  };
  return new Actions({ ...parts, store: given.store as never, typist: given.typist as never });
}
