import { describe, expect, it } from 'vitest';
import type { CallAct } from '../model/session-event.ts';
import { actOf, isQuick, readsFile } from './acts.ts';
import { allTools } from './clients.ts';

describe('what a call is for', () => {
  it.each<[string, string, CallAct]>([
    // Claude Code
    ['Edit', 'src/a.ts', 'change'],
    ['Read', 'src/a.ts', 'look'],
    ['Bash', 'npm test', 'run'],
    ['Bash', 'cd app && FOO=1 timeout 60 grep -r x .', 'look'],
    ['Bash', 'cat > a.txt <<EOF\nx\nEOF', 'change'],
    ['Bash', 'ls 2>/dev/null', 'look'],
    ['Bash', 'sed -i s/a/b/ f', 'change'],
    ['Bash', 'git add -A && git commit -m x', 'change'],
    ['Bash', 'git stash list', 'look'],
    ['Bash', 'grep -r "; git push" docs', 'look'],
    ['Bash', 'sleep 30; cat status', 'wait'],
    ['BashOutput', '', 'wait'],
    ['AskUserQuestion', '', 'ask'],
    ['TodoWrite', '', 'note'],
    ['Task', 'look into it', 'delegate'],
    // Codex
    ['exec_command', 'rg -n foo src', 'look'],
    ['shell', 'cargo build', 'run'],
    ['apply_patch', '*** Begin Patch', 'change'],
    ['write_stdin', '', 'wait'],
    ['update_plan', '', 'note'],
    ['request_user_input', '', 'ask'],
    // Gemini CLI
    ['replace', '/p/a.ts', 'change'],
    ['write_file', '/p/a.ts', 'change'],
    ['run_shell_command', 'git commit -m x', 'change'],
    ['search_file_content', 'foo', 'look'],
    ['read_many_files', '', 'look'],
    ['google_web_search', 'foo', 'look'],
    ['save_memory', 'likes tabs', 'note'],
    // OpenCode
    ['list', '/p', 'look'],
    ['patch', '', 'change'],
    ['todowrite', '', 'note'],
    // OpenHands, SWE-agent, Cline
    ['str_replace_editor', 'view /p/a.py', 'look'],
    ['str_replace_editor', 'str_replace', 'change'],
    ['replace', 'view.ts', 'change'],
    ['execute_bash', 'pytest -x', 'run'],
    ['find_file', 'find_file "x"', 'look'],
    ['javac', 'javac Main.java', 'run'],
    ['./run_tests.sh', './run_tests.sh', 'run'],
    ['replace_in_file', 'a.ts', 'change'],
    ['execute_command', 'ls', 'look'],
    ['ask_followup_question', 'which?', 'ask'],
    // A tool server's
    ['mcp__files__write_file', '/p/a', 'change'],
    ['mcp__files__edit_file', '/p/a', 'change'],
    ['mcp__github__search_code', 'foo', 'look'],
    ['mcp__github__create_issue', '', 'change'],
    ['mcp__db__query', 'select 1', 'look'],
    // PowerShell
    ['PowerShell', 'Get-Content a.txt', 'look'],
    ['PowerShell', 'Set-Content a.txt x', 'change'],
    ['PowerShell', 'Start-Sleep -Seconds 30', 'wait'],
    // Nobody's yet
    ['CodeSearch', 'foo', 'look'],
    ['searchAndReplace', 'foo', 'change'],
    ['modifyFile', 'a', 'change'],
    ['run_terminal_cmd', 'cat a', 'look'],
    ['frobnicate', 'a', 'run'],
    ['', '', 'run'],
    ['__proto__', 'a', 'run'],
    ['constructor', 'a', 'run'],
  ])('%s %s', (tool, text, act) => {
    expect(actOf(tool, text, allTools)).toBe(act);
  });

  it.each([
    ['Read', 'a.png', true],
    ['mcp__files__read_file', '/p/a', true],
    ['exec_command', 'cd /p && cat a', true],
    ['exec_command', 'cat a | grep b', false],
    ['Grep', 'a', false],
    ['Bash', 'find . -name a', false],
  ])('%s %s shows a file that is named: %s', (tool, text, reads) => {
    expect(readsFile(tool, text, allTools)).toBe(reads);
  });

  it('a tool known only by the words of its name may take its time', () => {
    expect(isQuick('change', 'Edit', 'a', allTools)).toBe(true);
    expect(isQuick('change', 'apply_patch', 'a', allTools)).toBe(true);
    expect(isQuick('change', 'mcp__cloud__apply_migration', 'a', allTools)).toBe(false);
    expect(isQuick('change', 'push_image', 'a', allTools)).toBe(false);
  });
});
