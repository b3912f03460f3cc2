import { type ToolNames, withCommonTools } from '../acts.ts';

export const toolNames: ToolNames = {
  change: 'apply_patch',
  look: 'view_image',
  wait: 'write_stdin',
  ask: 'request_user_input',
  note: 'update_plan',
  delegate: 'spawn_agent',
  shell: 'local_shell exec_command',
};

export const tools = withCommonTools(toolNames);
