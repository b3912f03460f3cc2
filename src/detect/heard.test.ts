import { expect, test } from 'vitest';
import type { TurnRow } from '../clients/client.ts';
import type { Detail, State } from '../model/agent.ts';
import { untrusted } from '../model/text.ts';
import { heardOnScreen } from './heard.ts';
import type { ScreenSigns } from './state.ts';

const thinking: TurnRow = {
  text: untrusted('* Musing… (5m 2s · deep in thought)'),
  counts: ' ',
  heardWithinMs: 50_000,
};
const other: TurnRow = { text: untrusted('* Musing… (5m 2s · running stop hook)'), counts: ' ', heardWithinMs: null };

function screen(turn: TurnRow | null, drawnMs: number | null, countedMs: number | null): ScreenSigns {
  const reading = { shows: 'busy' as const, takesPrompts: true, tool: null, subagents: null, contextLeft: null };
  return { reading: { ...reading, resets: null, turn }, sinceMs: 0, atMs: 400_000, drawnMs, countedMs };
}

test.each<[string, ScreenSigns | null, [State, Detail | null], number | null]>([
  ['no picture', null, ['working', 'thinking'], null],
  ['it thinks, and its row goes on', screen(thinking, 400_000, null), ['working', 'thinking'], 350_000],
  ['its row stands still: so does the client', screen(thinking, 100_000, null), ['working', 'thinking'], 50_000],
  ['never seen to move', screen(thinking, null, null), ['working', 'thinking'], null],
  ['tokens come in', screen(thinking, 400_000, 399_000), ['working', 'thinking'], 399_000],
  ['something else than thinking goes on', screen(other, 400_000, null), ['working', 'thinking'], null],
  ['a command prints', screen(other, 400_000, 398_000), ['working', 'tool'], 398_000],
  ['a silent command, however the seconds go by', screen(other, 400_000, null), ['working', 'tool'], null],
  ['a tool while the row still says thinking', screen(thinking, 400_000, null), ['working', 'tool'], null],
  ['the service is silent, as the row says', screen(null, 100_000, 90_000), ['working', 'api-stall'], 90_000],
  ['at its prompt', screen(thinking, 400_000, 400_000), ['idle', null], null],
])('%s', (_, signs, [state, detail], heardMs) => {
  expect(heardOnScreen(signs, { state, detail })).toBe(heardMs);
});
