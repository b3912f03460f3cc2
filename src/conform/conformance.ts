// Takes the installed client through the table of states in a world of its own, and finds out which sources still tell
// the truth about it. Nothing of the user's own is touched: no environment, home, tmux server, daemon or network.
import { execFile } from 'node:child_process';
import { mkdtempSync, realpathSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { AgentClient, Trial, Unplayed } from '../clients/client.ts';
import { fail, ok, type Result } from '../model/result.ts';
import { type ConformanceResult, writeResult } from '../watch/conformance-results.ts';
import { emptyEnvironment } from './environment.ts';
import { Sandbox } from './sandbox.ts';
import type { Setup } from './setup.ts';
import { judgeSignals } from './signals.ts';
import { Sampler } from './truth.ts';

export interface ConformanceOptions {
  client: Triable;
  /** null: the one on the PATH. */
  program: string | null;
  environment: NodeJS.ProcessEnv;
  /** Where the result goes. */
  resultDir: string;
  /** Leaves the temp folder, for a look at it. */
  keep: boolean;
  progress: (line: string) => void;
  /** Ends the run early; everything is cleaned up all the same. */
  stop: AbortSignal;
}

type Triable = AgentClient & Required<Pick<AgentClient, 'trial'>>;

export interface Conformed {
  result: ConformanceResult;
  file: string;
  /** What was said in the looks that were dangerously wrong. */
  dangerous: string[];
}

export type ConformanceFailure = 'no-client' | 'timed-out' | 'stopped' | 'outside' | 'failed';

type Judged = Omit<ConformanceResult, 'v' | 'watchkeeper_version'> & Pick<Conformed, 'dangerous'>;

/** With everything there is to see it by; and one that has no registry, so that its screen is asked all the time. */
const everything = { name: 'all', hooks: true, statusLine: true, registry: true } as const;
const screenOnly = { name: 'bare', hooks: false, statusLine: false, registry: false } as const;
const setups: Setup[] = [everything, screenOnly].map((setup) => ({ ...setup, shell: 'bash', mode: 'default' }));

/** Seen: 110 s; a run that takes longer than this does not come to an end. */
const runMs = 600_000;

export async function runConformance(options: ConformanceOptions): Promise<Result<Conformed, ConformanceFailure>> {
  const program = findProgram(options);
  if (!program.ok) return program;
  const trial = await options.client.trial();
  const dir = realpathSync(mkdtempSync(path.join(os.tmpdir(), 'wk-conformance-')));
  const world = new Sandbox(dir, await trial.startModel());
  if (options.keep) options.progress(`${dir} will be left`);
  const judged = await inTime(judge(world, trial, program.value, options), options.stop);
  if (options.stop.aborted) options.progress('stopping: daemon, clients, tmux server and folder');
  const cleaned = await world.end(options.keep).then(
    () => null,
    (error: Error) => error.message,
  );
  const { outside } = world.model;
  if (outside.length > 0)
    return fail('outside', `the client tried to reach ${outside.slice(0, 3).join(', ')}`, 'this run does not count');
  if (cleaned !== null) return fail('failed', `the run could not be cleaned up (${cleaned})`, `look into ${dir}`);
  if (!judged.ok) return judged;
  const { dangerous, ...found } = judged.value;
  return ok({ ...writeResult(options.resultDir, found), dangerous });
}

/** The one that counts is where the links lead: that is what Watchkeeper knows a client by. */
function findProgram({ client, program, environment }: ConformanceOptions): Result<string, ConformanceFailure> {
  const folders = (environment.PATH ?? '').split(path.delimiter).filter(path.isAbsolute);
  const places =
    program === null ? folders.map((folder) => path.join(folder, client.recognition.program)) : [path.resolve(program)];
  const [found] = places.flatMap((place) => {
    try {
      return [realpathSync(place)];
    } catch {
      return [];
    }
  });
  if (found === undefined && program === null)
    return fail('no-client', `${client.title} is not on the PATH`, 'name its program with --program PATH');
  if (found === undefined)
    return fail('no-client', `there is no ${program}`, `name the program of ${client.title} with --program PATH`);
  if (!client.recognition.isProgram(found, ['node', found]))
    return fail('no-client', `${found} is not ${client.title}'s own program`, 'name that with --program PATH');
  return ok(found);
}

function inTime<T>(
  work: Promise<Result<T, ConformanceFailure>>,
  stop: AbortSignal,
): Promise<Result<T, ConformanceFailure>> {
  const done = work.catch((error: Error) => fail('timed-out', firstLine(error.message), keepHint));
  const late = sleep(runMs, null, { ref: false }).then(() =>
    fail('timed-out', `no end after ${runMs / 1000} s`, keepHint),
  );
  const stopped = new Promise<Result<T, ConformanceFailure>>((resolve) => {
    const say = () => resolve(fail('stopped', 'stopped before its end', 'nothing is left of it, nothing was written'));
    if (stop.aborted) say();
    stop.addEventListener('abort', say, { once: true });
  });
  return Promise.race([done, late, stopped]);
}

const keepHint = 'nothing was written; run it again on a quiet machine, or with --keep to look at its folder';

async function judge(
  world: Sandbox,
  trial: Trial,
  program: string,
  { client, progress }: ConformanceOptions,
): Promise<Result<Judged, ConformanceFailure>> {
  const asked = await askVersion(world, program);
  progress(`${program}${asked === null ? '' : `, version ${asked}`}; about two minutes`);
  // Nothing stays of it, so no system user is made either.
  const up = await world.watchkeeper(['up', '--detach', '--no-create-user', '--tmux-socket', world.tmux.socket]);
  if (up.code !== 0) return fail('failed', `a daemon of its own does not start: ${up.stderr.trim()}`);
  const beganMs = performance.now();
  const sampler = new Sampler(world.watchkeeperHome, (agent, step) => {
    const seconds = Math.round((performance.now() - beganMs) / 1000);
    if (agent.startsWith(`${everything.name}-`)) progress(`${String(seconds).padStart(4)} s  ${step}`);
  });
  const unplayed: Unplayed[] = [];
  try {
    const each = await Promise.all(setups.map((setup) => trial.play({ world, sampler, program }, setup)));
    for (const [n, missing] of each.entries())
      for (const { scenario, reason } of missing)
        unplayed.push({ scenario: `${setups[n]?.name}: ${scenario}`, reason: firstLine(reason) });
  } finally {
    sampler.stop();
  }
  const [first] = unplayed;
  if (first !== undefined && sampler.heard('').length === 0) return fail('timed-out', first.reason, keepHint);
  const version = sampler.clientVersion() ?? asked;
  if (version === null) return fail('failed', 'the client does not tell its version');
  const scores = sampler.scores().map(({ score }) => score);
  const dangerous = scores.flatMap((score) => score.dangerous);
  const sum = (count: (score: (typeof scores)[number]) => number) => scores.reduce((all, one) => all + count(one), 0);
  return ok({
    client: client.name,
    client_version: version,
    at: new Date().toISOString(),
    fused: {
      said: sum(({ samples }) => samples),
      right: sum(({ right }) => right),
      unknown: sum(({ unknown }) => unknown),
      dangerous: dangerous.length,
    },
    signals: judgeSignals(trial.signals, sampler.heard(`${everything.name}-`), sampler.heard(`${screenOnly.name}-`)),
    unplayed,
    dangerous,
  });
}

function askVersion(world: Sandbox, program: string): Promise<string | null> {
  const proxy = { HTTP_PROXY: world.model.proxyUrl, HTTPS_PROXY: world.model.proxyUrl };
  const env = { ...emptyEnvironment(world.home), ...proxy };
  return new Promise((resolve) => {
    execFile(program, ['--version'], { env, cwd: world.home, timeout: 20_000 }, (error, stdout) => {
      resolve(error === null ? (/\d+\.\d+\.\d+[\w.-]*/.exec(stdout)?.[0] ?? null) : null);
    });
  });
}

const firstLine = (text: string) => text.split('\n')[0] ?? '';
