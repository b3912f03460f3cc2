import path from 'node:path';
import type { RecordedClient } from '../client.ts';
import { decoded } from '../decoded.ts';
import { excuses } from './excuses.ts';
import { isRolloutRecord, parseRolloutLine } from './rollout.ts';

/** Codex is not watched live. */
export const codex: RecordedClient = {
  name: 'codex',
  title: 'Codex',
  excuses,
  runs: {
    noun: 'rollout',
    folders: (home) => [path.join(home, '.codex', 'sessions')],
    isRecord: isRolloutRecord,
    parseLine: (line, index) => parseRolloutLine(decoded(line), index),
  },
};
