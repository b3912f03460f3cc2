/** Who asked for something: a person by the name of their account, an agent that Watchkeeper watches, or a rule of ours. */
export type Caller = `human ${string}` | `agent ${string}` | 'rule';

const nameCharsMax = 64;

/** Only what stands in names of accounts everywhere; the rest could be anything. */
export function humanNamed(account: string): Caller {
  return `human ${account.replaceAll(/[^A-Za-z0-9._@-]/g, '?').slice(0, nameCharsMax) || '?'}`;
}

export function isAgent(caller: Caller): boolean {
  return caller.startsWith('agent ');
}
