import { existsSync, statSync } from 'node:fs';
import path from 'node:path';
import { type Change, install, isInstalled, placeScript } from '../act/install/install.ts';
import { openOwn } from '../act/install/own-file.ts';
import { type InstallableClient, installable } from '../clients/clients.ts';
import { type Installer, isCommand, type SettingsView } from '../clients/installer.ts';
import { oldestOf } from '../clients/versions.ts';
import { findHome, type Home, makeHomeDir } from '../home/home.ts';
import { fail, ok, type Result } from '../model/result.ts';
import { versionsInUse, whoseSettings } from './client-version.ts';
import { unifiedDiff } from './diff.ts';
import { type BadPlace, type Places, placesOf, type Surroundings, type Target } from './places.ts';
import { scriptOf } from './script.ts';
import { bytesAsText, glance, settingsText, textAsBytes } from './texts.ts';

export interface InitOptions {
  target: Target;
  hooks: boolean;
  statusLine: boolean;
  instructions: boolean;
  force: boolean;
  dryRun: boolean;
}

/** What was done to one file. */
export interface FileDone {
  file: string;
  kind: 'settings' | 'instructions';
  did: 'installed' | 'updated' | 'already-there' | 'covered' | 'restored' | 'removed' | 'nothing' | 'gone';
  detail: string | null;
  /** Of a dry run only. */
  diff: string | null;
}

export type SetupFailure = BadPlace | 'bad-input' | 'refused';

interface Planned {
  change: Change | null;
  done: FileDone;
  notes: string[];
}

/** Everything is looked at before anything is changed. */
export function initialise(
  options: InitOptions,
  around: Surroundings,
): Result<{ items: FileDone[]; notes: string[] }, SetupFailure> {
  const home = findHome(around.environment);
  const client = installable();
  const places = placesOf(client, options.target, around);
  if (!places.ok) return places;
  const plans: Result<Planned, SetupFailure>[] = [
    ...(options.hooks ? [planSettings(client, home, places.value, options, around)] : []),
    ...(options.instructions
      ? instructionFiles(client.installer, places.value.instructions).map((file) => planBlock(client.installer, file))
      : []),
  ];
  const planned: Planned[] = [];
  for (const plan of plans) {
    if (!plan.ok) return plan;
    // One may be a link to the other.
    const twin = planned.find(({ change }) => change !== null && change.file.path === plan.value.change?.file.path);
    if (twin === undefined) planned.push(plan.value);
  }
  if (!options.dryRun) {
    const done = carryOut(client, home, planned);
    if (!done.ok) return done;
  }
  return ok({
    items: planned.map((plan) => (options.dryRun ? withDiff(plan) : plan.done)),
    notes: planned.flatMap(({ notes }) => notes),
  });
}

/** A new version may have a new script: the one that agents run already is kept up to date. */
export function refreshScript(home: Home): void {
  const script = scriptOf(installable(), home);
  if (existsSync(script.file)) placeScript(script.file, script.text, home.inbox);
}

function carryOut(client: InstallableClient, home: Home, planned: Planned[]): Result<void, SetupFailure> {
  const changes = planned.flatMap(({ change }) => (change === null ? [] : [change]));
  if (changes.length === 0) return ok(undefined);
  const made = makeHomeDir(home);
  if (!made.ok) return { ...made, reason: 'bad-input' };
  if (changes.some(({ kind }) => kind === 'settings')) {
    const script = scriptOf(client, home);
    const placed = placeScript(script.file, script.text, home.inbox);
    if (!placed.ok) return { ...placed, reason: 'bad-input' };
  }
  for (const change of changes) {
    if (isInstalled(home.installsDir, change)) continue;
    const done = install(home.installsDir, change, new Date().toISOString());
    if (!done.ok) return { ...done, reason: 'bad-input' };
  }
  return ok(undefined);
}

function planSettings(
  client: InstallableClient,
  home: Home,
  places: Places,
  options: InitOptions,
  around: Surroundings,
): Result<Planned, SetupFailure> {
  const asked = places.settings;
  const opened = openOwn(asked);
  if (!opened.ok) return { ...opened, reason: 'bad-input' };
  const file = opened.value;
  const text = settingsText(file.bytes, asked);
  if (!text.ok) return text;
  const { installer } = client;
  const { settings } = installer;
  const view = settings.view(text.value);
  if (!view.ok) return { ...view, reason: 'bad-input', message: `${asked} ${view.message}` };
  const script = scriptOf(client, home).file;
  const foreign = [...view.value.scripts.keys()].find((other) => other !== script);
  if (foreign !== undefined && !options.force) return otherHome(asked, foreign);

  const others = places.others.flatMap((other) => {
    const seen = glance(installer, other);
    return seen === null ? [] : [{ file: other, view: seen }];
  });
  const covering = others.find((other) => other.view.scripts.size > 0);
  const have = view.value.scripts.get(script);
  const covered = covering !== undefined && have === undefined && !options.force;
  const version = oldestOf(
    versionsInUse(client, around.environment, around.userHome, whoseSettings(client, asked, around)),
  );
  const below = others.findLast((other) => isCommand(other.view.statusLine))?.view ?? null;
  const after = settings.add(text.value, {
    script,
    // Of a version nobody can tell, what an earlier run knew of it stays.
    events: covered ? [] : version === null && have !== undefined ? [...have] : installer.eventsFor(version),
    // One that goes through ours already is not put around itself.
    statusLine: options.statusLine && (below === null || below.statusLineScript === null) ? 'add' : 'chain',
    below: below !== null && isCommand(below.statusLine) ? below.statusLine : null,
  });
  if (!after.ok) return { ...after, reason: 'bad-input', message: `${asked} ${after.message}` };
  const bare = settings.remove(text.value, script, null);
  const bareText = bare.ok && have !== undefined ? bare.value : text.value;
  const change: Change = {
    kind: 'settings',
    file,
    after: Buffer.from(after.value),
    bare: file.bytes === null ? null : { bytes: Buffer.from(bareText), empty: settings.isEmpty(bareText) },
  };
  const same = after.value === text.value;
  const done: FileDone = {
    file: asked,
    kind: 'settings',
    did: same ? (covered ? 'covered' : 'already-there') : have === undefined ? 'installed' : 'updated',
    detail: covered ? `the hooks in ${covering.file} count here too` : hooksDetail(view.value, options),
    diff: null,
  };
  const notes = notesOn(client, asked, view.value, { others, covered, version, options, places, around });
  return ok({ change: same && covered ? null : change, done, notes });
}

function hooksDetail(view: SettingsView, options: InitOptions): string {
  if (isCommand(view.statusLine) && view.statusLineScript === null) return 'hooks; the status line goes through ours';
  return options.statusLine && view.statusLine === null ? 'hooks and a status line' : 'hooks';
}

function otherHome(asked: string, script: string): Result<never, SetupFailure> {
  const home = path.dirname(path.dirname(script));
  return fail(
    'refused',
    `${asked} has the hooks of another Watchkeeper (WATCHKEEPER_HOME=${home})`,
    'uninstall those first, or add ours beside them with --force',
  );
}

interface Circumstances {
  others: { file: string; view: SettingsView }[];
  covered: boolean;
  version: string | null;
  options: InitOptions;
  places: Places;
  around: Surroundings;
}

function notesOn(client: InstallableClient, asked: string, view: SettingsView, now: Circumstances): string[] {
  const { title, installer, permissions, recognition } = client;
  const notes: string[] = [];
  if (view.lenient !== null)
    notes.push(`${title} skips settings with ${view.lenient}, ours among them: take them out of ${asked}`);
  if (now.covered) notes.push(`--force installs here all the same; ${title} runs an equal command once`);
  const disabled = [{ file: asked, view }, ...now.others].find((settings) => settings.view.hooksDisabled !== null);
  if (disabled !== undefined)
    notes.push(`${disabled.view.hooksDisabled} in ${disabled.file} keeps all hooks from running`);
  const shown = now.others.findLast((other) => isCommand(other.view.statusLine));
  if (shown?.view.statusLineScript === null && view.statusLine === null && !now.options.statusLine)
    notes.push(`the status line of ${shown.file} stays as it is: --statusline goes around it`);
  if (view.statusLine === 'other') notes.push(`the status line in ${asked} is no command and stays as it is`);
  if (now.places.project === now.around.userHome)
    notes.push('these settings count for agents started in your home directory: --user is for all');
  if (process.getuid?.() === 0 && now.places.project !== null && statSync(now.places.project).uid !== 0)
    notes.push(`${now.places.project} is another user's, whose agents cannot run hooks of root: run init as that user`);
  const known = installer.eventsFor(now.version);
  if (now.version === null)
    notes.push(
      `no \`${recognition.program}\` on the PATH, running or in the usual places: hooks for the ${known.length} events that every version knows; ` +
        'start it and run init again for all',
    );
  else if (known.length < installer.events.length)
    notes.push(`${title} ${now.version} knows ${known.length} of our events: run init again after an update`);
  if (permissions !== undefined && !known.includes(permissions.event))
    notes.push(`without ${permissions.event} a handoff of an agent in manual mode waits for a person to let it write`);
  return notes;
}

/** The file the client reads; the one that many read where it is there, alone or beside the other. */
function instructionFiles({ instructions }: Installer, folder: string): string[] {
  const [own, common] = instructions.files.map((name) => path.join(folder, name)) as [string, string];
  if (!existsSync(common)) return [own];
  return existsSync(own) ? [own, common] : [common];
}

function planBlock({ instructions }: Installer, asked: string): Result<Planned, SetupFailure> {
  const opened = openOwn(asked);
  if (!opened.ok) return { ...opened, reason: 'bad-input' };
  const file = opened.value;
  const text = bytesAsText(file.bytes, asked);
  if (!text.ok) return text;
  const after = instructions.add(text.value);
  const bare = instructions.remove(text.value);
  if (!after.ok) return { ...after, reason: 'bad-input', message: `${asked} ${after.message}` };
  const had = instructions.has(text.value);
  const bareText = bare.ok && had ? bare.value : text.value;
  return ok({
    change: {
      kind: 'instructions',
      file,
      after: textAsBytes(after.value),
      bare: file.bytes === null ? null : { bytes: textAsBytes(bareText), empty: bareText === '' },
    },
    done: {
      file: asked,
      kind: 'instructions',
      did: after.value === text.value ? 'already-there' : had ? 'updated' : 'installed',
      detail: 'the block for agents',
      diff: null,
    },
    notes: [],
  });
}

function withDiff({ change, done }: Planned): FileDone {
  if (change === null) return done;
  const before = change.file.bytes?.toString('utf8') ?? null;
  return { ...done, diff: unifiedDiff(change.file.path, before, change.after.toString('utf8')) };
}
