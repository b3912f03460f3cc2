import { type ToolNames, withCommonTools } from '../acts.ts';

/** What the client's own tools are for, where many clients have no tool of that name. */
export const toolNames: ToolNames = {
  change: 'multiedit notebookedit',
  look: 'toolsearch',
  wait: 'bashoutput taskoutput agentoutput killshell',
  ask: 'askuserquestion exitplanmode',
  note: 'todowrite todoread taskcreate taskupdate tasklist enterplanmode skill',
};

export const tools = withCommonTools(toolNames);
