// The hooks that `init` installs for a version of the client, on that version: it starts without a question about its
// settings, and asks through them whether a file may be written. The versions are brought into .clients/ by the test.
import { type ExecFileSyncOptionsWithStringEncoding, execFileSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { eventsFor } from '../../src/clients/claude-code/event-versions.ts';
import { parseInboxFile } from '../../src/clients/claude-code/hooks.ts';
import { viewSettings } from '../../src/clients/claude-code/settings.ts';
import { clientOnPath, launchAgent } from '../clients/agent.ts';
import { type Scenario, scenario } from '../clients/scenario.ts';

const installer = path.join(path.dirname(fileURLToPath(import.meta.url)), '../../scripts/install-clients.mjs');
const quiet: ExecFileSyncOptionsWithStringEncoding = { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] };

const install = (version: string) => execFileSync(process.execPath, [installer, version], quiet).trim();
const newest = () => execFileSync('npm', ['view', '@anthropic-ai/claude-code', 'version'], quiet).trim();

function launch(s: Scenario, program: string, initEnvironment: Record<string, string>) {
  const configDir = path.join(s.dir, 'old-ps', 'config');
  return launchAgent({
    scenario: s,
    session: 'old-ps',
    program,
    configDir,
    permissionMode: 'default',
    prepared: async () => {
      const done = await s.watchkeeper(['init', '--config-dir', configDir], { env: initEnvironment });
      expect(done.code, done.stderr).toBe(0);
    },
  });
}

test.each([['2.1.200'], ['2.1.250'], ['2.1.300'], ['the newest']])(
  'Claude Code %s starts with its hooks without a question, and asks through them',
  async (name) => {
    const version = name === 'the newest' ? newest() : name;
    const program = install(version);
    await scenario(async (s) => {
      // Found by the PATH as by its own launcher; nothing else there is called claude.
      const agent = await launch(s, program, { PATH: `${path.dirname(program)}:${process.env.PATH}` });
      await agent.waitReady();
      expect(await agent.screen()).not.toMatch(/Settings Warning/i);
      const settings = viewSettings(readFileSync(path.join(agent.folder.configDir, 'settings.json'), 'utf8'));
      const events = settings.ok ? [...settings.value.scripts.values()].flatMap((each) => [...each]) : [];
      expect(events.toSorted()).toEqual([...eventsFor(version)].toSorted());
      agent.model.tool('Write', { file_path: path.join(agent.folder.project, 'new.txt'), content: 'x' });
      await agent.type('write it');
      await agent.waitDialog(/Do you want/);
      await s.until('PermissionRequest', () => heard(s).includes('PermissionRequest'));
      expect(heard(s)).toEqual(expect.arrayContaining(['SessionStart', 'UserPromptSubmit', 'PreToolUse']));
    })();
  },
  600_000,
);

test('it would ask at every start about events it does not know', async () => {
  const program = install('2.1.200');
  await scenario(async (s) => {
    const agent = await launch(s, program, clientOnPath);
    await agent.waitForScreen(/Settings Warning/i, 60_000);
  })();
}, 600_000);

function heard(s: Scenario): string[] {
  const folder = path.join(s.watchkeeperHome, 'inbox');
  const names = existsSync(folder) ? readdirSync(folder).filter((name) => !name.endsWith('.new')) : [];
  return names.flatMap((name) => {
    const item = parseInboxFile(readFileSync(path.join(folder, name), 'utf8'));
    return item?.kind === 'hook' ? [item.hook.name] : [];
  });
}
