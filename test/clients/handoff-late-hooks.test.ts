// An agent that asks before it writes, and no hooks: nothing is begun that only a person could end, and a person is told.
// Then `init` from where no PATH leads to the client, as under cron: it learns the version from the running agent.
import { mkdirSync, readFileSync, symlinkSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';
import { eventsFor } from '../../src/clients/claude-code/event-versions.ts';
import { viewSettings } from '../../src/clients/claude-code/settings.ts';
import type { HandoffDocument } from '../../src/handoff/documents.ts';
import { launchAgent } from './agent.ts';
import { ended, Handing, wholeWay } from './handing-over.ts';
import { configure } from './prompting.ts';
import { scenario } from './scenario.ts';
import { Watching } from './watching.ts';

test(
  'in manual mode a handoff says what it lacks before it begins, and completes after an `init` that finds no client',
  scenario(async (s) => {
    const watch = new Watching(s);
    configure(s, JSON.stringify({ tickSeconds: 0.3, handoff: { deadlineMinutes: 1 } }));
    try {
      await watch.start();
      const extraSettings = { permissions: { allow: ['Bash(touch:*)'] } };
      const agent = await launchAgent({
        scenario: s,
        session: 'late-ps',
        shell: 'bash',
        configDir: 'home',
        extraSettings,
      });
      const model = new Handing(agent);
      await agent.waitReady();
      await s.until('it is known', () => watch.status('late-ps'), 20_000);
      await model.fill(90);

      // By the rule: not asked for, and told.
      const refused = await ended(s, 'late-ps');
      expect(refused).toMatchObject({ trigger: 'rule:at-percent', reason: 'no-permission-hook' });
      expect(refused.steps.map(({ step }) => step)).toEqual(['requested', 'failed']);
      expect(model.documents).toBe(0);
      const inbox = async () =>
        (await s.watchkeeper(['inbox', '--json'])).json<{ items: { kind: string; text: string }[] }>();
      await s.until('a person is told', async () =>
        (await inbox()).items.some(({ kind, text }) => kind === 'handoff-failed' && text.includes('watchkeeper init')),
      );
      const dryRun = await s.watchkeeper(['handoff', 'late-ps', '--dry-run', '--json']);
      expect(dryRun.json<HandoffDocument>().warning).toContain('no hook of ours is there to answer');
      expect((await s.watchkeeper(['status'])).stdout).toMatch(/late-ps: .*manual mode/);

      const bin = path.join(s.dir, 'bin');
      mkdirSync(bin);
      symlinkSync(process.execPath, path.join(bin, 'node'));
      const noClient = { PATH: `${bin}:/usr/bin:/bin` };
      const init = await s.watchkeeper(['init', '--user'], { env: noClient });
      expect(init.code, init.stderr).toBe(0);
      const version = String(agent.registry()?.version);
      const view = viewSettings(readFileSync(path.join(s.home, '.claude/settings.json'), 'utf8'));
      const installed = view.ok ? [...view.value.scripts.values()].map((events) => [...events].toSorted()) : [];
      expect(installed).toEqual([[...eventsFor(version)].toSorted()]);
      expect(installed[0]).toContain('PermissionRequest');

      // The running client takes them up by itself, and the rule hands it over when its next turn has shown that.
      await s.until('hooks in force', async () => {
        if ((await watch.status('late-ps'))?.handoff_waits === false) return true;
        await agent.waitStatus('idle');
        await agent.type('go on');
        await agent.waitStatus('idle');
        return (await watch.status('late-ps'))?.handoff_waits === false;
      });
      const done = await ended(s, 'late-ps', 2, 90_000);
      expect(done.trigger).toBe('rule:at-percent');
      expect(done.steps.map(({ step }) => step)).toEqual(wholeWay);
    } finally {
      watch.stop();
    }
  }),
  240_000,
);
