import os from 'node:os';
import { isScript } from '../act/install/install.ts';
import { readRecords } from '../act/install/record.ts';
import { type InstallableClient, installable } from '../clients/clients.ts';
import { oldestOf } from '../clients/versions.ts';
import type { Home } from '../home/home.ts';
import { versionsInUse, whoseSettings } from './client-version.ts';
import { scriptOf } from './script.ts';
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
  const client = installable();
  const script = scriptOf(client, home);
  if (!isScript(script.file, script.text))
    return {
      ok: false,
      detail: `${script.file} is missing, not executable or of another version`,
      fix: 'run `watchkeeper init` again',
    };
  const wrong = settings.flatMap((file) => {
    const around = { environment, userHome: os.homedir(), cwd: process.cwd() };
    const version = oldestOf(versionsInUse(client, environment, around.userHome, whoseSettings(client, file, around)));
    const what = whatIsWrong(client, file, script.file, version);
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
  { title, installer, permissions }: InstallableClient,
  file: string,
  script: string,
  version: string | null,
): { what: string; fix: string } | null {
  const events = installer.eventsFor(version);
  const again = 'run `watchkeeper init` there again, or `watchkeeper uninstall` to forget it';
  const view = glance(installer, file);
  if (view === null) return { what: 'cannot be read', fix: again };
  if (view.lenient !== null)
    return { what: `has ${view.lenient}, so ${title} skips all of it`, fix: `take the ${view.lenient} out` };
  const have = view.scripts.get(script);
  if (have === undefined) return { what: 'has no hooks of ours any more', fix: again };
  const lacks = events.filter((event) => !have.has(event));
  if (lacks.length > 0) {
    const handoffs =
      permissions !== undefined && lacks.includes(permissions.event)
        ? ', and a handoff in manual mode waits for a person'
        : '';
    return { what: `lacks our hooks for ${lacks.join(', ')}${handoffs}`, fix: again };
  }
  if (permissions !== undefined && !have.has(permissions.event))
    return {
      what: `has no hook for ${permissions.event}: a handoff in manual mode waits for a person`,
      fix:
        version === null
          ? `start ${title}, then run \`watchkeeper init\` there again`
          : `update ${title}, then run \`watchkeeper init\` there again`,
    };
  if (version !== null && have.size > events.length)
    return { what: `has hooks for events that ${title} ${version} does not know`, fix: again };
  return view.hooksDisabled === null ? null : { what: `has ${view.hooksDisabled}`, fix: 'take it out' };
}
