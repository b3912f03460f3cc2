import type { Trial } from '../../client.ts';
import { startFakeModel } from './fake-model.ts';
import { signals } from './signals.ts';
import { runStateTable } from './state-table.ts';

export const trial: Trial = { signals, startModel: startFakeModel, play: runStateTable };
