// In manual permission mode with nobody there: the one file the daemon allowed is written without a dialog, and every other
// request stays one. On the real Claude Code, with the hooks that `init` installs.
import { chmodSync, existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';
import { allow, withdraw } from '../../src/actions/allowances.ts';
import { findHome } from '../../src/home/home.ts';
import { readProcess } from '../../src/record/own-process.ts';
import { claudeProgram, clientOnPath, launchAgent } from './agent.ts';
import { watched } from './watching.ts';

test(
  'exactly that file, by exactly that client and conversation, and only until it is withdrawn',
  watched(async (s, watch) => {
    const configDir = path.join(s.dir, 'manual-ps', 'config');
    const agent = await launchAgent({
      scenario: s,
      session: 'manual-ps',
      configDir,
      shell: 'bash',
      permissionMode: 'default',
      extraSettings: { permissions: { allow: ['Bash(./within)'] } },
      prepared: async () => {
        const done = await s.watchkeeper(['init', '--config-dir', configDir], { env: clientOnPath });
        expect(done.code, done.stderr).toBe(0);
      },
    });
    await agent.waitReady();
    const { project } = agent.folder;
    const file = path.join(project, '.watchkeeper', 'handoffs', 'handoff-2026-01-02-03-04-05.md');
    const home = findHome({ WATCHKEEPER_HOME: s.watchkeeperHome });
    const allowed = () => {
      const pid = agent.pid() ?? 0;
      const startTicks = readProcess(pid)?.startTicks ?? '';
      const sessionId = String(agent.registry()?.sessionId);
      const done = allow(home, { pid, startTicks, sessionId, file, untilMs: Date.now() + 600_000 });
      if (!done.ok) throw new Error(done.message);
      return done.value;
    };
    const turns = () => agent.model.turns.length;
    /** The model gets the result of its call: nobody had to answer. */
    const passes = async (tool: string, input: Record<string, unknown>) => {
      const before = turns();
      agent.model.tool(tool, input);
      await agent.type(`use ${tool}`);
      await s.until(`${tool} to go through`, () => turns() >= before + 2, 20_000);
      await agent.waitStatus('idle');
    };
    const asks = async (tool: string, input: Record<string, unknown>) => {
      agent.model.tool(tool, input);
      await agent.type(`use ${tool}`);
      await agent.waitDialog(/Do you want/, 20_000);
      await agent.keys('Escape');
      await agent.waitStatus('idle');
    };
    const write = (place: string) => ({ file_path: place, content: 'one\n' });

    const id = allowed();
    await passes('Write', write(file));
    expect(readFileSync(file, 'utf8')).toBe('one\n');
    await passes('Edit', { file_path: file, old_string: 'one', new_string: 'two' });
    expect(readFileSync(file, 'utf8')).toBe('two\n');
    await s.until('both are on record', () => heard('allowed').length === 2);
    expect(heard('permission')).toEqual([]);

    const beside = path.join(path.dirname(file), 'handoff-2026-01-02-03-04-06.md');
    const elsewhere = path.join(project, path.basename(file));
    await asks('Write', write(beside));
    await asks('Write', write(elsewhere));
    await asks('Bash', { command: `echo x > '${file}'`, description: 'write it' });
    expect([beside, elsewhere].filter(existsSync)).toEqual([]);

    // A client that the agent runs as a tool asks for the same file: in its own name, so in vain.
    const within = path.join(project, 'within');
    writeFileSync(within, `#!/bin/sh\nexec '${claudeProgram()}' -p within </dev/null\n`);
    chmodSync(within, 0o700);
    rmSync(file);
    const before = turns();
    agent.model.tool('Bash', { command: './within', description: 'ask another one' });
    agent.model.tool('Write', write(file));
    await agent.type('ask another one');
    await s.until('both have ended', () => turns() >= before + 4, 30_000);
    await agent.waitStatus('idle');
    expect(existsSync(file)).toBe(false);

    withdraw(home, id);
    await asks('Write', write(file));
    expect(existsSync(file)).toBe(false);

    allowed();
    agent.model.tool('Agent', { description: 'write it', prompt: 'write it', subagent_type: 'general-purpose' });
    agent.model.subagent.tool('Write', write(file));
    await agent.type('let another one write it');
    await agent.waitDialog(/Do you want/, 20_000);
    expect(existsSync(file)).toBe(false);

    function heard(kind: string) {
      return watch.said.filter((said) => said.agent === 'manual-ps' && said.kind === 'hook' && said.data.kind === kind);
    }
  }),
);
