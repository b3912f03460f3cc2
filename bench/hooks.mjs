// What a hook costs each call of the agent: against a hook that does nothing, and one in Node that does the same.
import { spawnSync } from 'node:child_process';
import { chmodSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

const root = path.dirname(path.dirname(fileURLToPath(import.meta.url)));
const calls = 200;

const body = JSON.stringify({
  session_id: '00000000-0000-4000-8000-000000000000',
  transcript_path: '/home/user/.claude/projects/-home-user-project/00000000-0000-4000-8000-000000000000.jsonl',
  cwd: '/home/user/project',
  hook_event_name: 'PostToolUse',
  tool_name: 'Bash',
  tool_input: { command: 'npm test', description: 'Run the tests' },
  tool_response: { stdout: 'x'.repeat(2_000), stderr: '', interrupted: false },
});

const nodeHook = (inbox) => `
import { readFileSync, renameSync, writeFileSync } from 'node:fs';
const file = ${JSON.stringify(inbox)} + '/' + process.pid;
writeFileSync(file + '.new', readFileSync(0));
renameSync(file + '.new', file + '.hook');
`;

/** Milliseconds of one call, as the client makes it: through a shell, with the event on standard input. */
function call(command) {
  const beganMs = performance.now();
  spawnSync('/bin/sh', ['-c', command], { input: body });
  return performance.now() - beganMs;
}

function quantile(times, share) {
  return [...times].sort((a, b) => a - b)[Math.floor(times.length * share)];
}

export async function measureHooks() {
  const { hookScript } = await import(path.join(root, 'dist/clients/claude-code/hook-script.js'));
  const dir = mkdtempSync(path.join(tmpdir(), 'wk-bench-'));
  const inbox = path.join(dir, 'inbox');
  mkdirSync(inbox);
  const script = path.join(dir, 'claude-code.sh');
  writeFileSync(script, hookScript(inbox, path.join(dir, 'allowances')));
  chmodSync(script, 0o700);
  const node = path.join(dir, 'hook.mjs');
  writeFileSync(node, nodeHook(inbox));
  const commands = { none: 'cat >/dev/null', ours: `'${script}' hook`, node: `'${process.execPath}' '${node}'` };
  const times = { none: [], ours: [], node: [] };
  // In turns, so that whatever else the machine does falls on all of them.
  for (let n = 0; n < calls; n += 1) for (const way of Object.keys(commands)) times[way].push(call(commands[way]));
  const written = readdirSync(inbox).length;
  rmSync(dir, { recursive: true, force: true });
  if (written < calls) throw new Error(`only ${written} events were written`);
  return Object.fromEntries(
    Object.entries(times).map(([way, all]) => [way, { median: quantile(all, 0.5), most: quantile(all, 0.95) }]),
  );
}
