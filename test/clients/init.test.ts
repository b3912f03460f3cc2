// `init` on the real client: hooks beside those of another tool, a status line that keeps its output, and what init says
// about which settings count where.
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';
import { parseInboxFile } from '../../src/clients/claude-code/hooks.ts';
import { until, withMore } from '../../src/conform/until.ts';
import { clientOnPath, launchAgent } from './agent.ts';
import { type Scenario, scenario } from './scenario.ts';

/** What came through our script: `hook Stop`, `statusline`, each with the pid it came from. */
function inbox(s: Scenario): { what: string; pid: number | null }[] {
  const folder = path.join(s.watchkeeperHome, 'inbox');
  const names = existsSync(folder) ? readdirSync(folder).filter((name) => !name.endsWith('.new')) : [];
  return names.map((name) => {
    const item = parseInboxFile(readFileSync(path.join(folder, name), 'utf8'));
    if (item === null) throw new Error(`not a file of the hook script: ${name}`);
    return item.kind === 'hook'
      ? { what: `hook ${item.hook.name}`, pid: item.hook.owner?.pid ?? null }
      : { what: 'statusline', pid: item.line.owner?.pid ?? null };
  });
}

const count = (s: Scenario, what: string) => inbox(s).filter((item) => item.what === what).length;
const runs = (file: string) => (existsSync(file) ? readFileSync(file, 'utf8').split('\n').length - 1 : 0);

async function init(s: Scenario, ...args: string[]): Promise<void> {
  const said = await s.watchkeeper(['init', ...args], { env: clientOnPath });
  if (said.code !== 0) throw new Error(`init ended with ${said.code}: ${said.stderr}`);
}

test(
  "hooks stand beside another tool's, whose hook runs and whose status line is shown; uninstall puts all right",
  scenario(async (s) => {
    const project = path.join(s.dir, 'shop', 'project');
    const mark = path.join(s.dir, 'other-tool');
    const settings = path.join(project, '.claude', 'settings.local.json');
    mkdirSync(path.dirname(settings), { recursive: true });
    const theirs = {
      permissions: { allow: ['Bash(echo:*)'] },
      hooks: {
        PreToolUse: [{ matcher: 'Bash', hooks: [{ type: 'command', command: `cat >/dev/null; echo x >> '${mark}'` }] }],
      },
      // What the client tells a status line has to reach theirs as well.
      statusLine: { type: 'command', command: "grep -c session_id | sed 's/^/their line, told /'", padding: 1 },
    };
    writeFileSync(settings, JSON.stringify(theirs, null, 4));
    const before = readFileSync(settings);
    await init(s, project);

    const agent = await launchAgent({ scenario: s, session: 'shop-ps', project });
    await agent.waitReady();
    agent.model.tool('Bash', { command: 'echo hello', description: 'say hello' });
    await agent.type('say hello');
    const events = ['SessionStart', 'UserPromptSubmit', 'PreToolUse', 'PostToolUse', 'Stop'];
    const isTold = () => events.every((event) => count(s, `hook ${event}`) === 1);
    await until('our events', isTold, 20_000).catch(withMore(() => JSON.stringify(inbox(s))));
    await until('our status line', () => count(s, 'statusline') > 0);
    expect(inbox(s).map((item) => item.pid)).toEqual(inbox(s).map(() => agent.pid()));
    expect(runs(mark)).toBe(1);
    await agent.waitForScreen(/their line, told 1/);

    const undone = await s.watchkeeper(['uninstall', project]);
    expect(undone.stdout).toContain('restored');
    expect(readFileSync(settings).equals(before)).toBe(true);
    // Taken up by the running client as well: from here on only the other tool hears of it.
    await until('no more events of ours', async () => {
      const seen = inbox(s).length;
      agent.model.tool('Bash', { command: 'echo again', description: 'say it again' });
      const heard = runs(mark);
      await agent.type('again');
      await until("the other tool's hook", () => runs(mark) > heard);
      await agent.waitStatus('idle');
      return inbox(s).length === seen;
    });
    await agent.waitForScreen(/their line, told 1/);
  }),
);

test(
  'a running client takes hooks up by itself, runs an equal command once, and knows the settings of its repository',
  scenario(async (s) => {
    const project = path.join(s.dir, 'repo');
    const within = path.join(project, 'packages', 'app');
    mkdirSync(within, { recursive: true });
    execFileSync('git', ['init', '-q'], { cwd: project });
    const agent = await launchAgent({ scenario: s, session: 'app-ps', project: within, shell: 'bash' });
    await agent.waitReady();
    await agent.type('one');
    await until('one turn', () =>
      agent.transcripts().some(({ records }) => records.some((record) => record.type === 'assistant')),
    );
    expect(inbox(s)).toEqual([]);

    const configDir = agent.folder.configDir;
    await init(s, project);
    const env = { CLAUDE_CONFIG_DIR: configDir };
    const covered = await s.watchkeeper(['init', within], { env });
    expect(covered.stdout).toMatch(/^not needed: /);
    const heard = async (text: string) => {
      await agent.waitStatus('idle');
      await agent.type(text);
      await agent.waitStatus('idle');
      return count(s, 'hook UserPromptSubmit');
    };
    // The client looks at its settings when they change; a moment after that it hears of every prompt.
    let tries = 0;
    await until('hooks in force', async () => (await heard(`two ${++tries}`)) > 0, 20_000);

    // Twice in force and still told once.
    expect((await s.watchkeeper(['init', within, '--force'], { env })).stdout).toMatch(/^installed: /);
    await init(s, '--config-dir', configDir);
    rmSync(path.join(s.watchkeeperHome, 'inbox'), { recursive: true });
    mkdirSync(path.join(s.watchkeeperHome, 'inbox'));
    // The harness writes a client's settings at its start: these are the ones that init left there.
    const extraSettings = JSON.parse(readFileSync(path.join(configDir, 'settings.json'), 'utf8'));
    const fresh = await launchAgent({
      scenario: s,
      session: 'fresh-ps',
      project: within,
      configDir,
      shell: 'sh',
      extraSettings,
    });
    await fresh.waitReady();
    await fresh.type('three');
    await until('the turn is over', () => count(s, 'hook Stop') > 0);
    for (const event of ['SessionStart', 'UserPromptSubmit', 'Stop']) expect(count(s, `hook ${event}`)).toBe(1);
  }),
);
