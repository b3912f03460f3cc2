import path from 'node:path';
import type { AgentClient } from '../../../src/clients/client.ts';
import { parseLine } from './record.ts';
import { findInputBox, readScreen } from './screen.ts';

/** A little client of our own (`program.mjs`): a plain `> ` box, a record of its own kind, no registry and no hooks. */
export const parrot: AgentClient = {
  name: 'parrot',
  title: 'Parrot',
  recognition: {
    program: 'parrot',
    environmentNames: ['PARROT_HOME', 'HOME'],
    configDir: ({ PARROT_HOME: own, HOME: home }) => own ?? (home === undefined ? null : path.join(home, '.parrot')),
    defaultConfigDir: (home) => path.join(home, '.parrot'),
    mayBe: (process) => process.command === 'parrot',
    isProgram: (_executable, words) => words?.[1]?.endsWith('/parrot-cli/program.mjs') === true,
  },
  sources: {
    record: {
      root: (configDir) => path.join(configDir, 'talks'),
      file: (configDir, cwd, sessionId) => path.join(configDir, 'talks', cwd.replaceAll('/', '%'), `${sessionId}.talk`),
      fileName: (sessionId) => `${sessionId}.talk`,
      sessionOf: (fileName) => /^(talk-[0-9a-f]{12})\.talk$/.exec(fileName)?.[1] ?? null,
      parseLine,
    },
    screen: { read: readScreen },
  },
  dialect: {
    findInputBox,
    keys: { submit: 'Enter', clearRow: 'C-k', interrupt: 'C-x' },
    commands: {
      clear: { text: ':new', mark: 'new', provedBy: 'session' },
      resume: (sessionId) => ({ text: `:back ${sessionId}`, mark: sessionId, provedBy: 'session' }),
    },
    ownCommandFor: (name) => ['new', 'back', 'quit'].find((own) => own.startsWith(name)) ?? null,
  },
  models: {
    contextWindow: () => ({ window: 10_000, usable: 9_000 }),
    compactionPoint: () => null,
  },
};
