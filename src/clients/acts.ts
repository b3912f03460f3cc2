import type { CallAct } from '../model/session-event.ts';

/** What a call is for, by the names of the tools of the clients and of the usual programs. */
const acts: ReadonlyMap<string, CallAct | 'shell'> = new Map(
  Object.entries({
    change:
      'edit write multiedit notebookedit create str_replace_editor str_replace_based_edit_tool apply_patch insert replace write_file append patch edit_file',
    look: 'read grep glob ls open goto scroll_down scroll_up find_file search_dir search_file search_web search_files websearch webfetch find cat head tail which whereis type dpkg echo wc pwd tree stat rg ag fd file env printenv less more du df ps locate read_file list_directory view toolsearch',
    wait: 'bashoutput taskoutput agentoutput wait sleep write_stdin killshell',
    ask: 'askuserquestion exitplanmode request_user_input ask_user',
    note: 'todowrite todoread taskcreate taskupdate tasklist think enterplanmode update_plan skill submit exit_cost',
    delegate: 'task agent spawn_agent',
    shell: 'bash shell local_shell exec_command execute_bash run_shell_command run_command terminal',
  }).flatMap(([act, names]) => names.split(' ').map((name) => [name, act as CallAct | 'shell'])),
);

const changingGit =
  /^git\s+(-C\s+\S+\s+)?(commit|apply|am|merge|rebase|cherry-pick|revert|stash|checkout|restore|reset|rm|mv|push)\b/;
/** Returns at once, if a person lets it. */
const quickPrograms =
  /^(cat|head|tail|ls|sed|grep|rg|awk|echo|wc|pwd|stat|which|gofmt|mkdir|cp|mv|rm|touch|chmod|diff|sort|jq|git (status|diff|log|show|add|commit|branch|reset|checkout|stash|rev-parse))\b/;
const commandCharsMax = 4_000;

export function actOf(tool: string, text: string): CallAct {
  const known = acts.get(tool.toLowerCase());
  if (known !== undefined && known !== 'shell') return known;
  // Some clients name a shell command by its first word.
  return known === 'shell' || text.startsWith(tool) ? shellAct(text.slice(0, commandCharsMax)) : 'run';
}

export function isQuick(act: CallAct, tool: string, text: string): boolean {
  if (act === 'change' || act === 'note') return true;
  if (/^(Read|Grep|Glob|LS)$/.test(tool)) return true;
  return acts.get(tool.toLowerCase()) === 'shell' && quickPrograms.test(bare(text.slice(0, commandCharsMax)));
}

function shellAct(command: string): CallAct {
  if (/(^|[\s;&|])sleep\s+\d/.test(command)) return 'wait';
  const own = bare(command);
  if (/<<-?\s*['"]?\w+/.test(command) && />\s*[^\s&/]|>\s*\/(?!dev\/)/.test(command)) return 'change';
  if (/(^|[\s;&|])(sed\s+(-\w+\s+)*-i|perl\s+-p?i|tee\s|patch\s|apply_patch)/.test(command)) return 'change';
  if (/(^|[^0-9&>])>{1,2}\s*(?!\/dev\/|&)[\w./~"'$-]/.test(withoutQuotes(own))) return 'change';
  if (changingGit.test(own)) return 'change';
  if (/^git\s/.test(own)) return /^git\s+(add|config|init|fetch|clone|pull)\b/.test(own) ? 'run' : 'look';
  const program = own.split(/\s+/, 1)[0] ?? '';
  const act = acts.get(program.slice(program.lastIndexOf('/') + 1).toLowerCase());
  return act === 'look' || act === 'wait' ? act : 'run';
}

/** Without what only leads up to the command: directories, variables, sudo, time limits. */
function bare(command: string): string {
  let rest = command.trim();
  for (let turn = 0; turn < 5; turn += 1) {
    const next = rest.replace(
      /^(cd\s+[^;&|]+(&&|;)\s*|\w+=\S*\s+|sudo\s+|time\s+|timeout\s+\S+\s+|export\s+\w+=\S+\s*(&&|;)\s*)/,
      '',
    );
    if (next === rest) break;
    rest = next;
  }
  return rest;
}

function withoutQuotes(text: string): string {
  return text.replace(/'[^']*'|"[^"]*"/g, '""');
}
