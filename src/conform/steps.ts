/** What a client is taken through, and the state that is true then, in the words of `status`. */
export const steps = {
  'fresh prompt': 'idle',
  thinking: 'working/thinking',
  tool: 'working/tool',
  /** After its permission dialog. */
  'allowed tool': 'working/tool',
  'turn over': 'idle',
  'permission dialog': 'waiting/permission',
  'question dialog': 'waiting/question',
  'plan dialog': 'waiting/question',
  'trust screen': 'waiting/setup',
  subagent: 'working/subagent',
  'background shell': 'idle',
  retrying: 'retrying',
  'API stall': 'working/api-stall',
  'turn given up': 'idle',
  interrupted: 'idle',
  compacting: 'compacting',
  compacted: 'idle',
  cleared: 'idle',
  'usage limit': 'limited',
  exited: 'ended',
  killed: 'ended',
} as const;

export type TrialStep = keyof typeof steps;
