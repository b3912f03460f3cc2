import os from 'node:os';
import { isScript } from '../act/install/install.ts';
import { readRecords } from '../act/install/record.ts';
import { eventsFor, oldestOf, permissionEvent } from '../clients/claude-code/event-versions.ts';
import { hookScript } from '../clients/claude-code/hook-script.ts';
import type { Home } from '../home/home.ts';
import { versionsInUse, whoseSettings } from './client-version.ts';
import { glance } from './texts.ts';

export interface HooksCheck {
  ok: boolean;
  detail: string;
  fix: string | null;
}

/** Where `init` put hooks, and whether they can run: without them states come from other sources. */
export function checkHooks(home: Home, environment: NodeJS.ProcessEnv): HooksCheck {
  const files = readRecords(home.installsDir).map(({ file, kind }) => ({ file, kind }));
  const settings = files.filter(({ kind }) => kind === 'settings').map(({ file }) => file);
  if (settings.length === 0) return { ok: true, detail: 'not installed; `watchkeeper init` does', fix: null };
  if (!isScript(home.hookScript, hookScript(home.inbox, home.allowancesDir)))
    return {
      ok: false,
      detail: `${home.hookScript} is missing, not executable or of another version`,
      fix: 'run `watchkeeper init` again',
    };
  const wrong = settings.flatMap((file) => {
    const around = { environment, userHome: os.homedir(), cwd: process.cwd() };
    const version = oldestOf(versionsInUse(environment, around.userHome, whoseSettings(file, around)));
    const what = whatIsWrong(file, home.hookScript, eventsFor(version), version);
    return what === null ? [] : [{ file, ...what }];
  });
  if (wrong.length === 0) return { ok: true, detail: files.map(({ file }) => file).join(', '), fix: null };
  return {
    ok: false,
    detail: wrong.map(({ file, what }) => `${file}: ${what}`).join(', '),
    fix: [...new Set(wrong.map(({ fix }) => fix))].join('; '),
  };
}

function whatIsWrong(
  file: string,
  script: string,
  events: readonly string[],
  version: string | null,
): { what: string; fix: string } | null {
  const again = 'run `watchkeeper init` there again, or `watchkeeper uninstall` to forget it';
  const view = glance(file);
  if (view === null) return { what: 'cannot be read', fix: again };
  if (view.lenient !== null)
    return { what: `has ${view.lenient}, so Claude Code skips all of it`, fix: `take the ${view.lenient} out` };
  const have = view.scripts.get(script);
  if (have === undefined) return { what: 'has no hooks of ours any more', fix: again };
  const lacks = events.filter((event) => !have.has(event));
  if (lacks.length > 0) {
    const handoffs = lacks.includes(permissionEvent) ? ', and a handoff in manual mode waits for a person' : '';
    return { what: `lacks our hooks for ${lacks.join(', ')}${handoffs}`, fix: again };
  }
  if (!have.has(permissionEvent))
    return {
      what: `has no hook for ${permissionEvent}: a handoff in manual mode waits for a person`,
      fix:
        version === null
          ? 'start Claude Code, then run `watchkeeper init` there again'
          : 'update Claude Code, then run `watchkeeper init` there again',
    };
  if (version !== null && have.size > events.length)
    return { what: `has hooks for events that Claude Code ${version} does not know`, fix: again };
  return view.hooksDisabled ? { what: 'has disableAllHooks', fix: 'take it out' } : null;
}
