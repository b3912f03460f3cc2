import path from 'node:path';
import type { RecordedClient } from '../client.ts';
import { decoded } from '../decoded.ts';
import { isRolloutRecord, parseRolloutLine } from './rollout.ts';
import { toolNames } from './tools.ts';

/** Codex is not watched live. */
export const codex: RecordedClient = {
  name: 'codex',
  title: 'Codex',
  tools: toolNames,
  runs: {
    noun: 'rollout',
    folders: (home) => [path.join(home, '.codex', 'sessions')],
    isRecord: isRolloutRecord,
    parseLine: (line, index) => parseRolloutLine(decoded(line), index),
  },
};
