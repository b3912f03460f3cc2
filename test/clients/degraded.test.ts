// With a source gone: the state comes from what is left, status and doctor say so, and typing goes on only where two
// independent witnesses allow it. Through the CLI alone, on the real Claude Code.
import { execFileSync } from 'node:child_process';
import { mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import { type Agent, claudeProgram, clientOnPath, type LaunchOptions, launchAgent } from './agent.ts';
import { expectExact, say } from './prompting.ts';
import type { Scenario } from './scenario.ts';
import { watched } from './watching.ts';

/** A client whose registry cannot be written: as after an update that keeps it elsewhere. */
async function unregistered(
  s: Scenario,
  session: string,
  hooks: boolean,
  more: Partial<LaunchOptions>,
): Promise<Agent> {
  const configDir = path.join(s.dir, session, 'config');
  mkdirSync(configDir, { recursive: true });
  writeFileSync(path.join(configDir, 'sessions'), '');
  const prepared = async () => {
    const done = hooks ? await s.watchkeeper(['init', '--config-dir', configDir], { env: clientOnPath }) : null;
    if (done !== null) expect(done.code, done.stderr).toBe(0);
  };
  const agent = await launchAgent({ scenario: s, session, configDir, prepared, ...more });
  await agent.waitForScreen(/❯\u00a0/, 20_000);
  return agent;
}

describe('an agent whose registry is gone', () => {
  test(
    'is spoken to by hooks and screen together: once, exactly, with proof, and not in a dialog',
    watched(async (s, watch) => {
      const agent = await unregistered(s, 'blind-ps', true, { shell: 'sh', permissionMode: 'default' });
      await watch.expect('blind-ps', 'idle', Date.now());
      await s.until('its hook heard', async () => typeof (await watch.status('blind-ps'))?.session_id === 'string');
      agent.model.reply('Forty-two.');
      const said = await say(s, 'blind-ps', 'What is the answer to all of this?', '--wait', '20');
      expect(said).toMatchObject({ outcome: 'confirmed', code: 0, proof: 'hook' });
      expect(said.answer?.text).toBe('Forty-two.');
      await expectExact(agent, 'What is the answer to all of this?', said.tag);

      const busy = agent.model.hold();
      await agent.type('think about it');
      await busy.arrived;
      await watch.expect('blind-ps', 'working/thinking', Date.now());
      expect(await say(s, 'blind-ps', 'And be quick.')).toMatchObject({ outcome: 'queued', proof: 'hook' });
      busy.release();
      await watch.turn('blind-ps', 'ok');

      agent.model.tool('Bash', { command: 'touch made', description: 'make a file' });
      await agent.type('make a file');
      await agent.waitForScreen(/Do you want to/);
      await watch.expect('blind-ps', 'waiting/permission', Date.now());
      expect(await say(s, 'blind-ps', 'Hello?')).toMatchObject({ outcome: 'refused', reason: 'waiting-permission' });
      expect(readdirSync(agent.folder.project)).not.toContain('made');

      // For some seconds after its start it may still be about to write one.
      const isSaid = /blind-ps: degraded, without registry \(it has no entry\)/;
      await s.until('said to be degraded', async () => isSaid.test((await s.watchkeeper(['status'])).stdout));
      const doctor = await s.watchkeeper(['doctor']);
      expect(doctor.code).toBe(1);
      expect(doctor.stdout).toMatch(/sources .*registry 0 of 1/);
    }),
  );

  test(
    'and that has no hooks is seen and told of, but nothing is typed on the word of the screen alone',
    watched(async (s, watch) => {
      const agent = await unregistered(s, 'bare-ps', false, { shell: 'bash', permissionMode: 'default' });
      const seen = await watch.expect('bare-ps', 'idle', Date.now());
      expect(seen.status.source).toBe('screen');
      expect(seen.status.confidence).toBeLessThan(0.7);
      expect(await say(s, 'bare-ps', 'Hello?')).toMatchObject({ outcome: 'refused', reason: 'unsure' });
      expect(agent.model.turns).toHaveLength(0);
    }),
  );

  test(
    'is continued after three 529s with nobody there, by what its hooks and its screen say',
    watched(async (s, watch) => {
      const agent = await unregistered(s, 'night-ps', true, { shell: 'bash', permissionMode: 'auto' });
      await watch.expect('night-ps', 'idle', Date.now());
      agent.model.overloaded(3);
      agent.model.reply('Going on.');
      await agent.type('work through the night');
      const items = await s.until(
        'continued',
        async () => {
          const { items } = (await s.watchkeeper(['audit', 'night-ps', '--json'])).json<{
            items: { trigger: string; outcomes: { outcome: string }[] }[];
          }>();
          return items.some(({ outcomes }) => outcomes.some(({ outcome }) => outcome === 'answered')) ? items : null;
        },
        40_000,
      );
      const typed = items.filter(({ outcomes }) => outcomes.some(({ outcome }) => outcome !== 'refused'));
      expect(typed.map(({ trigger }) => trigger)).toEqual(['rule:silent-stop']);
      expect(agent.model.turns.at(-1)?.prompt).toMatch(/ended with an API error.*\[wk-[0-9a-f]{4}\]$/);
      await watch.expect('night-ps', 'idle', Date.now());
      await watch.turn('night-ps', 'ok');
    }),
  );

  test(
    'keeps its own session while it runs a client as a tool, also one under another name',
    watched(async (s, watch) => {
      const agent = await unregistered(s, 'nest-ps', true, {
        shell: 'sh',
        permissionMode: 'default',
        extraSettings: { permissions: { allow: ['Bash'] } },
      });
      await watch.expect('nest-ps', 'idle', Date.now());
      const nested = `ln -s '${claudeProgram()}' ./2.1.325; ./2.1.325 -p nested < /dev/null; cat go`;
      const fifo = path.join(agent.folder.project, 'go');
      execFileSync('mkfifo', [fifo]);
      agent.model.tool('Bash', { command: nested, description: 'ask another one' });
      agent.model.reply('From within.');
      const done = agent.model.reply('It has answered.');
      await agent.type('ask another one');
      const busy = await watch.expect('nest-ps', 'working/tool Bash', Date.now());
      await s.until('the client within has answered', () => agent.model.turns.length >= 2, 30_000);
      await watch.expect('nest-ps', 'working/tool Bash', Date.now());
      writeFileSync(fifo, 'go\n');
      await done.ended;
      await watch.turn('nest-ps', 'ok');
      const after = await watch.expect('nest-ps', 'idle', Date.now());
      expect(after.status.session_id).toBe(busy.status.session_id);
      expect(watch.said.filter(({ agent: name, kind }) => name === 'nest-ps' && kind === 'session')).toEqual([]);
    }),
  );
});
