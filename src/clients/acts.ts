import type { CallAct } from '../model/session-event.ts';

/** What calls are for, by the names of the tools in small letters. */
export type ToolNames = Readonly<Partial<Record<CallAct | 'shell', string>>>;

/** Tools by names that several clients have, or servers of tools, or clients without a folder here; and the usual programs. */
const common: ToolNames = {
  change:
    'edit write create str_replace_editor str_replace_based_edit_tool apply_patch insert replace write_file append patch edit_file write_to_file replace_in_file apply_diff set-content add-content out-file new-item remove-item copy-item move-item',
  look: 'read grep glob ls open goto scroll_down scroll_up find_file search_dir search_file search_web search_files websearch webfetch find cat head tail which whereis type dpkg echo wc pwd tree stat rg ag fd file env printenv less more du df ps locate read_file list_directory view list read_many_files search_file_content google_web_search web_fetch list_files codesearch view_image dir get-content get-childitem select-string gc gci',
  wait: 'wait sleep write_stdin start-sleep',
  ask: 'request_user_input ask_user ask_followup_question question',
  note: 'think update_plan submit exit_cost save_memory write_todos attempt_completion finish',
  delegate: 'task agent spawn_agent',
  shell:
    'bash shell local_shell exec_command execute_bash run_shell_command run_command terminal execute_command run_in_terminal powershell',
};

/**
 * What the words of a name nobody knows say, as of a tool server's or a client's yet to come. The first that fits
 * counts: a change taken for a look would be an alarm in healthy work, the other way round one alarm less.
 */
const words = toolsOf({
  note: 'todo todos plan memory memories thought thoughts',
  ask: 'ask question confirm approve',
  wait: 'wait await sleep poll output',
  delegate: 'subagent delegate spawn',
  change:
    'edit write create insert replace patch append delete remove update rename move save apply modify set add put commit push upload overwrite',
  shell: 'run exec execute shell bash terminal command cmd console',
  look: 'read view search find list grep glob open fetch get show look query lookup browse inspect describe scan check',
});

/** The tools of one client, or of several. */
export type Tools = ReadonlyMap<string, CallAct | 'shell'>;

function toolsOf(...all: ToolNames[]): Tools {
  const entries = all.flatMap((names) => Object.entries(names) as [CallAct | 'shell', string][]);
  return new Map(entries.flatMap(([act, list]) => list.split(' ').map((name) => [name, act] as const)));
}

/** Those that many have, and these. */
export function withCommonTools(...own: ToolNames[]): Tools {
  return toolsOf(common, ...own);
}

export const commonTools = withCommonTools();

/** Also behind others, as in `git add -A && git commit`. */
const changingGit =
  /(?:^|[;&|]\s*)git\s+(-C\s+\S+\s+)?(commit|apply|am|merge|rebase|cherry-pick|revert|stash(?!\s+(list|show))|checkout|restore|reset|rm|mv|push)\b/;
/** Returns at once, if a person lets it. */
const quickPrograms =
  /^(cat|head|tail|ls|sed|grep|rg|awk|echo|wc|pwd|stat|which|gofmt|mkdir|cp|mv|rm|touch|chmod|diff|sort|jq|git (status|diff|log|show|add|commit|branch|reset|checkout|stash|rev-parse))\b/;
const quickLooks = new Set(
  'read grep glob ls list view read_file read_many_files list_directory list_files search_file_content'.split(' '),
);
const commandCharsMax = 4_000;

export function actOf(tool: string, text: string, tools: Tools): CallAct {
  const known = tools.get(plainName(tool));
  // Some editors also show files.
  if (known === 'change' && /^view( |$)/.test(text)) return 'look';
  if (known !== undefined && known !== 'shell') return known;
  // Some clients name a shell command by its first word.
  if (known === 'shell' || text.startsWith(tool)) return shellAct(text.slice(0, commandCharsMax));
  const guess = actByWords(tool);
  return guess === 'shell' ? shellAct(text.slice(0, commandCharsMax)) : guess;
}

/** What a tool of that very name is for; null: a shell, or one that only its words could tell. */
export function ownAct(tool: string, tools: Tools): CallAct | null {
  const known = tools.get(tool.toLowerCase());
  return known === undefined || known === 'shell' ? null : known;
}

export function isQuick(act: CallAct, tool: string, text: string, tools: Tools): boolean {
  // Of a tool known by its words alone nobody knows how long it takes.
  const known = tools.get(tool.toLowerCase());
  if (known === undefined && !text.startsWith(tool)) return false;
  if (act === 'change' || act === 'note') return true;
  if (quickLooks.has(tool.toLowerCase()) && !text.startsWith(tool)) return true;
  return known === 'shell' && quickPrograms.test(bare(text.slice(0, commandCharsMax)));
}

const readers = new Set(
  'read open cat head tail view bat less more read_file read_many_files view_image get-content gc'.split(' '),
);

/** Shows what is in a file that is named, other than a search, whose answer may be that there is nothing. */
export function readsFile(tool: string, text: string, tools: Tools): boolean {
  const name = plainName(tool);
  if (tools.get(name) !== 'shell') return readers.has(name);
  const command = bare(text);
  return readers.has(command.split(/\s+/, 1)[0] ?? '') && !command.includes('|');
}

const serverMark = 'mcp__';

/** Is it a tool of a server? Clients that have such call it by both names: `mcp__SERVER__TOOL`. */
export function isOfServer(tool: string): boolean {
  return tool.toLowerCase().startsWith(serverMark);
}

/** Without the server that a tool comes from. */
export function plainName(tool: string): string {
  const name = tool.toLowerCase();
  return isOfServer(name) ? name.slice(name.lastIndexOf('__') + 2) : name;
}

function actByWords(tool: string): CallAct | 'shell' {
  const named = new Set(
    tool
      .slice(tool.lastIndexOf('__') + 1)
      .replace(/([a-z])([A-Z])/g, '$1 $2')
      .toLowerCase()
      .match(/[a-z]+/g) ?? [],
  );
  for (const [word, act] of words) if (named.has(word)) return act;
  return 'run';
}

function shellAct(command: string): CallAct {
  if (/(^|[\s;&|])(sleep|start-sleep)\s[-\w\s]{0,80}\d/i.test(command)) return 'wait';
  const own = bare(command);
  if (/<<-?\s*['"]?\w+/.test(command) && />\s*[^\s&/]|>\s*\/(?!dev\/)/.test(command)) return 'change';
  if (/(^|[\s;&|])(sed\s+(-\w+\s+)*-i|perl\s+-p?i|tee\s|patch\s|apply_patch)/.test(command)) return 'change';
  const said = withoutQuotes(own);
  if (/(^|[^0-9&>])>{1,2}\s*(?!\/dev\/|&)[\w./~"'$-]/.test(said)) return 'change';
  if (changingGit.test(said)) return 'change';
  if (/^git\s/.test(own)) return /^git\s+(add|config|init|fetch|clone|pull)\b/.test(own) ? 'run' : 'look';
  const program = own.split(/\s+/, 1)[0] ?? '';
  const act = commonTools.get(program.slice(program.lastIndexOf('/') + 1).toLowerCase());
  return act === 'look' || act === 'wait' || (act === 'change' && program.includes('-')) ? act : 'run';
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
