import type { Signals, Tells } from '../../../conform/signals.ts';
import { steps, type TrialStep } from '../../../conform/steps.ts';

/** Each in its own words: a source that only knows that something runs is not blamed for not knowing what. */
const someWork = ['working/thinking'];
const someWait = ['waiting/permission', 'waiting/question'];
/** In the table's own scenarios every tool is a shell. */
const words = { ...steps, tool: `${steps.tool} Bash`, 'allowed tool': `${steps['allowed tool']} Bash` };
const plainly = (...told: TrialStep[]): Tells => Object.fromEntries(told.map((step) => [step, [words[step]]]));

/**
 * What each source was seen to tell by itself in Claude Code 2.1.325, three runs of three. Left out on purpose: hooks do
 * not tell of an interruption, of a dialog's answer or of the end of a compaction; the transcript has no dialogs, no
 * fresh prompt and no compaction until it is over.
 */
export const signals: Signals = {
  registry: {
    ...plainly('fresh prompt', 'turn over', 'background shell', 'turn given up', 'interrupted', 'compacted', 'cleared'),
    ...plainly('permission dialog', 'question dialog', 'thinking'),
    'plan dialog': someWait,
    tool: someWork,
    'allowed tool': someWork,
    subagent: someWork,
    retrying: someWork,
    'API stall': someWork,
    compacting: someWork,
  },
  hook: {
    ...plainly('fresh prompt', 'turn over', 'background shell', 'turn given up', 'thinking', 'tool', 'subagent'),
    ...plainly('permission dialog', 'question dialog', 'plan dialog', 'compacting', 'cleared'),
    retrying: someWork,
    'API stall': someWork,
  },
  transcript: {
    ...plainly('turn over', 'background shell', 'turn given up', 'interrupted', 'compacted', 'thinking', 'tool'),
    ...plainly('allowed tool', 'subagent', 'retrying', 'usage limit'),
    'API stall': someWork,
    context: ['right'],
  },
  statusline: { context: ['right'] },
  screen: {
    ...plainly('fresh prompt', 'turn over', 'background shell', 'turn given up', 'interrupted', 'compacted', 'cleared'),
    ...plainly('permission dialog', 'question dialog', 'plan dialog', 'trust screen', 'usage limit', 'thinking'),
    ...plainly('subagent', 'retrying', 'API stall', 'compacting'),
    // The row with the command is only drawn after a while.
    tool: [...someWork, words.tool],
    'allowed tool': [...someWork, words['allowed tool']],
  },
};
