import { claudeCode } from './claude-code/client.ts';
import type { AgentClient } from './client.ts';

/** Every client that is watched; a process belongs to the first that knows it. */
export const clients: readonly AgentClient[] = [claudeCode];

/** The own command of some client that this name is, or might be completed to; null: of none. */
export function ownCommandFor(name: string): string | null {
  for (const { dialect } of clients) {
    const own = dialect.ownCommandFor(name);
    if (own !== null) return own;
  }
  return null;
}
