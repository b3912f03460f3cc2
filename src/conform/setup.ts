import type { TrialModel } from '../clients/client.ts';
import type { Sandbox } from './sandbox.ts';
import type { Sampler } from './truth.ts';

/** Where it happens, with which client, and who looks on. */
export interface Stage<Model extends TrialModel = TrialModel> {
  world: Sandbox<Model>;
  sampler: Sampler;
  program: string;
}

/** One way of setting a client up for the table of states. */
export interface Setup {
  /** Begins the names of its agents. */
  name: string;
  hooks: boolean;
  statusLine: boolean;
  registry: boolean;
  shell: 'direct' | 'bash' | 'sh';
  mode: 'default' | 'auto';
}

export function describeSetup({ hooks, statusLine, registry, shell, mode }: Setup): string {
  const word = (on: boolean, what: string) => `${on ? '' : 'no '}${what}`;
  return [
    word(registry, 'registry'),
    word(hooks, 'hooks'),
    word(statusLine, 'status line'),
    shell,
    mode === 'default' ? 'manual' : mode,
  ].join(', ');
}
