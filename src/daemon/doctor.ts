import { execFile } from 'node:child_process';
import { accessSync, constants, existsSync, readdirSync } from 'node:fs';
import os from 'node:os';
import { inboxFilesMax } from '../clients/inbox.ts';
import { loadConfig } from '../config/load.ts';
import { goneFiles } from '../config/memory.ts';
import { configWayOut } from '../config/places.ts';
import { findHome, type Home, homeFix, runningDaemon, whyNotSafe } from '../home/home.ts';
import { counted } from '../model/count.ts';
import { shown } from '../model/text.ts';
import { describeServer } from '../record/queries.ts';
import { databaseFolder, databaseRuns, databaseUrl, databaseUser } from '../rows/database.ts';
import { checkHooks } from '../setup/hooks-check.ts';
import { checkConformance } from './conformance-check.ts';
import { askControl } from './control.ts';
import type { RequestDocument } from './requests/table.ts';

export interface DoctorCheck {
  name: string;
  ok: boolean;
  detail: string;
  fix: string | null;
}

type DaemonFacts = RequestDocument<'doctor'>;

export async function runDoctor(environment: NodeJS.ProcessEnv): Promise<DoctorCheck[]> {
  const home = findHome(environment);
  const facts = await daemonFacts(home);
  return [
    checkPlatform(),
    await checkTmux(),
    checkHome(home),
    checkConfig(environment, facts?.config_missing ?? goneFiles(home)),
    checkDaemon(home, facts),
    await checkDatabase(home, environment, facts),
    { name: 'hooks', ...checkHooks(home, environment) },
    checkInbox(home),
    { name: 'conformance', ...checkConformance(home.conformanceDir, await runningClients(home)) },
    ...(facts === null
      ? []
      : [checkServers(facts), checkHolds(facts), checkChannels(facts), checkSources(facts), checkInput(facts)]),
  ];
}

async function daemonFacts(home: Home): Promise<DaemonFacts | null> {
  const daemon = runningDaemon(home);
  if (daemon === null) return null;
  const answer = await askControl(daemon.sockets.control, { ask: 'doctor' }, 5_000);
  return answer.ok ? answer.value : null;
}

async function runningClients(home: Home): Promise<{ client: string; version: string | null }[]> {
  const daemon = runningDaemon(home);
  if (daemon === null) return [];
  const status = await askControl(daemon.sockets.control, { ask: 'status' }, 5_000);
  const agents = status.ok ? status.value.agents.filter(({ state }) => state !== 'ended') : [];
  return agents.map(({ client, client_version }) => ({ client, version: client_version }));
}

function good(name: string, detail: string): DoctorCheck {
  return { name, ok: true, detail, fix: null };
}

function wrong(name: string, detail: string, fix: string): DoctorCheck {
  return { name, ok: false, detail, fix };
}

function checkPlatform(): DoctorCheck {
  const detail = `${process.platform} ${process.arch}, Node ${process.versions.node}`;
  return process.platform === 'linux'
    ? good('platform', detail)
    : wrong('platform', detail, 'run it on Linux: it reads /proc');
}

function checkTmux(): Promise<DoctorCheck> {
  return new Promise((resolve) => {
    execFile('tmux', ['-V'], { timeout: 5_000 }, (error, stdout) => {
      resolve(
        error === null
          ? good('tmux', stdout.trim())
          : wrong('tmux', 'tmux is not installed', 'install it (Debian: apt-get install tmux)'),
      );
    });
  });
}

function checkHome(home: Home): DoctorCheck {
  if (!existsSync(home.dir)) return good('home', `${home.dir} (made by the first \`up\`)`);
  try {
    accessSync(home.dir, constants.R_OK | constants.W_OK | constants.X_OK);
    const why = whyNotSafe(home);
    return why === null ? good('home', home.dir) : wrong('home', `${home.dir} ${why}`, homeFix);
  } catch {
    return wrong('home', `${home.dir} is not writable`, 'set WATCHKEEPER_HOME to a directory of yours');
  }
}

function checkConfig(environment: NodeJS.ProcessEnv, missing: string[]): DoctorCheck {
  const places = { file: environment.WATCHKEEPER_CONFIG ?? null, home: os.homedir(), projectDir: process.cwd() };
  const loaded = loadConfig(places);
  if (!loaded.ok) return wrong('config', loaded.message, 'see `watchkeeper config check`');
  if (missing.length > 0)
    return wrong('config', `missing: ${missing.map((file) => shown(file)).join(', ')}`, configWayOut);
  const files = loaded.value.files.filter((file) => file.found).map((file) => file.path);
  return good('config', files.length === 0 ? 'all defaults' : files.join(', '));
}

function checkDaemon(home: Home, facts: DaemonFacts | null): DoctorCheck {
  const daemon = runningDaemon(home);
  if (daemon === null) return wrong('daemon', 'not running', 'start it with `watchkeeper up`');
  if (facts === null) return wrong('daemon', `pid ${daemon.pid} does not answer`, `see ${home.logFile}`);
  return good('daemon', `pid ${daemon.pid}, ${counted(facts.agents, 'agent')}, ${facts.memory_mb} MB`);
}

async function checkDatabase(
  home: Home,
  environment: NodeJS.ProcessEnv,
  facts: DaemonFacts | null,
): Promise<DoctorCheck> {
  const url = databaseUrl(home, environment);
  if (!url.ok) return wrong('database', url.message, url.fix ?? '');
  const kind = environment.DATABASE_URL ? 'DATABASE_URL' : 'embedded';
  if (kind === 'embedded' && !databaseRuns(home))
    return wrong('database', 'embedded, not running', 'start it with `watchkeeper up`');
  const server = await describeServer(url.value);
  if (!server.ok)
    return wrong(
      'database',
      server.message,
      kind === 'embedded' ? 'run `watchkeeper down` and `up`' : 'check DATABASE_URL',
    );
  const waiting = facts?.database.waiting ?? 0;
  const user =
    kind === 'embedded'
      ? ` in ${shown(databaseFolder(home) ?? '?')}, as the user ${shown(databaseUser(home) ?? '?', 100)}`
      : '';
  const detail = `${kind}${user}, PostgreSQL ${server.value.version}, schema ${server.value.schema}`;
  if (facts?.database.down)
    return wrong(
      'database',
      `${detail}; ${counted(waiting, 'row waits', 'rows wait')}: ${facts.database.failure}`,
      'they are stored when the database is back',
    );
  return good('database', detail);
}

function checkServers(facts: DaemonFacts): DoctorCheck {
  const bad = facts.servers.filter((server) => server.failure !== null && server.failure !== 'gone');
  if (bad.length > 0) {
    return wrong(
      'servers',
      bad.map((server) => `${shown(server.socket)}: ${server.failure}`).join(', '),
      'see whether `tmux -S SOCKET list-sessions` answers there',
    );
  }
  const alive = facts.servers.filter((server) => server.failure === null);
  return good(
    'servers',
    alive.length === 0
      ? 'no tmux server'
      : alive.map((server) => `${shown(server.socket)} (${counted(server.panes ?? 0, 'pane')})`).join(', '),
  );
}

/** Which daemon looks after which agent. */
function checkHolds({ holds }: DaemonFacts): DoctorCheck {
  const problem = holds.find((hold) => hold.by === 'nobody' && hold.problem !== null)?.problem ?? null;
  if (problem !== null) return wrong('holds', 'every agent is only observed', problem);
  const others = holds.filter(({ by }) => by === 'other');
  const ours = `${counted(holds.filter(({ by }) => by === 'us').length, 'agent')} held`;
  if (others.length === 0) return good('holds', ours);
  const list = others
    .map(({ agent, pid, home }) => `${agent} by pid ${pid ?? '?'} (data in ${home ?? '?'})`)
    .join(', ');
  return wrong('holds', `${ours}; held by another Watchkeeper: ${shown(list, 1_000)}`, 'stop one of the two');
}

function checkChannels(facts: DaemonFacts): DoctorCheck {
  const bad = facts.channels.filter((channel) => !channel.ok);
  if (bad.length > 0) {
    return wrong(
      'channels',
      bad.map(({ name, reason }) => `${name}: ${reason}`).join(', '),
      'each message is tried again; `watchkeeper init --test-notify` tries every channel now',
    );
  }
  return good(
    'channels',
    facts.channels.length === 0 ? noChannel(facts) : facts.channels.map(({ name }) => name).join(', '),
  );
}

function noChannel({ channels_set: set }: DaemonFacts): string {
  return set > 0
    ? `${set} set up, none used yet`
    : 'none set up, so only `watchkeeper inbox` says who waits for you: `watchkeeper init --notify TYPE` adds one';
}

/** A source that fails is a state told from less; one that was never set up is not. */
function checkSources(facts: DaemonFacts): DoctorCheck {
  const told = Object.entries(facts.sources).filter(([, { ok, failing }]) => ok + failing.length > 0);
  const detail = told.map(([source, { ok, failing }]) => `${source} ${ok} of ${ok + failing.length}`).join(', ');
  const failing = told.flatMap(([source, counts]) => counts.failing.map((reason) => `${source}: ${reason}`));
  if (failing.length === 0) return good('sources', detail === '' ? 'no agent' : detail);
  const why = [...new Set(failing)].slice(0, 5).join('; ');
  return wrong(
    'sources',
    `${detail} (${why})`,
    'states come from the other sources; `watchkeeper status` says for which agents',
  );
}

/** A full one drops what hooks say: nobody has read it for long. */
function checkInbox(home: Home): DoctorCheck {
  const waiting = existsSync(home.inbox) ? readdirSync(home.inbox).length : 0;
  const detail = waiting === 0 ? 'nothing waits' : counted(waiting, 'event waits', 'events wait');
  return waiting < inboxFilesMax
    ? good('inbox', detail)
    : wrong(
        'inbox',
        `${detail}, and further ones are dropped`,
        'start the daemon with `watchkeeper up`: it takes them in',
      );
}

/** Bad input changes a counter, not a decision; here is where one sees it. */
function checkInput(facts: DaemonFacts): DoctorCheck {
  const counted = Object.entries(facts.counters).map(([name, count]) => `${name} ${count}`);
  return good('input', counted.length === 0 ? 'nothing odd was read' : counted.join(', '));
}
