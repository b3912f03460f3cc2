import type { Command } from 'commander';
import type { StoredSpawn } from '../../../model/spawn.ts';
import { shown } from '../../../model/text.ts';
import { time } from '../../../model/time.ts';
import { endTracked, type TrackFailure, trackedSpawns, trackSpawn } from '../../../spawns/spawn-track.ts';
import { onRecord } from '../database.ts';
import { CommandFailure, exit } from '../outcome.ts';
import { ago, type Color, print, printJson, say, table } from '../output.ts';

interface AddOptions {
  project: string;
  taskId: string;
  type?: string;
  description?: string;
  output?: string;
  agent?: string;
  replace?: boolean;
}

interface ListOptions {
  project?: string;
  all?: boolean;
  json?: boolean;
}

const listMax = 1_000;

export function addSpawnTrack(program: Command): void {
  const track = program
    .command('spawn-track')
    .summary('background work to watch: what was spawned, and how it is doing')
    .description(
      'Subagents and background shells of agents are found by themselves; this is for everything else. Work counts as stalled when its output file stays as it is for `spawn.stallMinutes`; then the agent that began it is prompted. It needs no daemon, only the database.',
    );
  track
    .command('add')
    .description('watch a piece of work from now on')
    .requiredOption('--project <name>', 'the project it belongs to')
    .requiredOption('--task-id <id>', 'its name, unique in the project')
    .option('--type <word>', 'what kind of work it is')
    .option('--description <text>', 'for people')
    .option('--output <file>', 'the file it writes to; it need not be there yet')
    .option('--agent <name>', 'who began it, and is asked about it; otherwise PROJECT-ps, or the agent this runs under')
    .option('--replace', 'replace one of the same name')
    .option('--json', 'one JSON document')
    .action(async (options: AddOptions & { json?: boolean }) => {
      const { project, taskId } = options;
      const request = {
        project,
        taskId,
        type: options.type ?? null,
        description: options.description ?? null,
        output: options.output ?? null,
        agent: options.agent ?? null,
        replace: options.replace === true,
      };
      const added = await onRecord((url) => trackSpawn(url, request));
      if (!added.ok) throw failure(added);
      const { parent, output } = added.value;
      if (options.json) printJson({ v: 1, project, task_id: taskId, agent: parent, output_file: output });
      else
        say(
          `watching ${taskId}${parent === null ? '; no agent is known that could be asked about it' : ` for ${parent}`}`,
        );
    });
  for (const [name, status] of [
    ['done', 'finished'],
    ['fail', 'failed'],
  ] as const) {
    track
      .command(name)
      .description(
        status === 'finished'
          ? 'say that it has ended well'
          : 'say that it has failed; the agent that began it is asked about it',
      )
      .argument('<project>')
      .argument('<task-id>')
      .option('--reason <text>', 'for the record')
      .action(async (project: string, taskId: string, options: { reason?: string }) => {
        const ended = await onRecord((url) =>
          endTracked(url, { project, taskId, status, reason: options.reason ?? null }),
        );
        if (!ended.ok) throw failure(ended);
        say(`${taskId}: ${status}`);
      });
  }
  track
    .command('list')
    .description('what runs, however it was found; with --all also what has ended')
    .option('--project <name>', 'only of this project')
    .option('--all', 'also what has ended')
    .option('--json', 'one JSON document')
    .action(async (options: ListOptions) => {
      const wanted = { project: options.project ?? null, all: options.all === true, limit: listMax };
      const list = await onRecord((url) => trackedSpawns(url, wanted));
      if (!list.ok) throw failure(list);
      if (options.json) printJson({ v: 1, items: list.value.map(spawnDocument) });
      else if (list.value.length === 0) say('nothing runs in the background');
      else print(listText(list.value));
    });
}

const codes: Record<TrackFailure, number> = {
  unavailable: exit.noDatabase,
  'no-agent': exit.notFound,
  none: exit.notFound,
  taken: exit.no,
  client: exit.no,
  over: exit.no,
  unsafe: exit.usage,
};

function failure({ reason, message, fix }: { reason: TrackFailure; message: string; fix?: string }): CommandFailure {
  const wayOut = reason === 'unavailable' ? 'see `watchkeeper doctor`' : (fix ?? null);
  return new CommandFailure(codes[reason], message, wayOut);
}

/** The first requirement's columns under their own names. */
function spawnDocument(spawn: StoredSpawn) {
  return {
    id: spawn.id,
    project: spawn.project,
    task_id: spawn.taskId,
    task_type: spawn.taskType,
    description: spawn.description,
    spawn_time: time(spawn.spawnedAtMs),
    last_output_change: time(spawn.lastOutputMs),
    output_file: spawn.output,
    status: spawn.status,
    agent: spawn.agent,
    reason: spawn.reason,
    source: spawn.source,
    ended_at: time(spawn.endedAtMs),
  };
}

const colors: Record<StoredSpawn['status'], Color | null> = {
  running: 'green',
  stalled: 'yellow',
  failed: 'red',
  finished: 'dim',
  abandoned: 'red',
};

function listText(spawns: StoredSpawn[]): string {
  const nowMs = Date.now();
  const rows = spawns.map((spawn) => {
    const color = colors[spawn.status];
    return [
      { text: String(spawn.id) },
      { text: shown(spawn.project) },
      { text: shown(spawn.taskId) },
      { text: spawn.status, ...(color === null ? {} : { color }) },
      { text: ago(spawn.spawnedAtMs, nowMs) },
      { text: spawn.lastOutputMs === null ? '-' : `${ago(spawn.lastOutputMs, nowMs)} ago` },
      { text: spawn.agent ?? '-' },
      { text: shown([spawn.description, spawn.reason].filter(Boolean).join(': ') || (spawn.output ?? '-')) },
    ];
  });
  return table(['NO.', 'PROJECT', 'TASK', 'STATUS', 'FOR', 'OUTPUT', 'AGENT', 'WHAT'], rows);
}
