/** What somebody would type, and what comes of it. */
type Example = readonly [line: string, does: string];

/** Two or three of each command, under its whole name; without the program's own. Their one place: help and manual read it. */
export const examples: Readonly<Record<string, readonly Example[]>> = {
  up: [
    ['up', 'watch in this terminal; Ctrl-C stops'],
    ['up --watch-only', 'only look on: say what would be done'],
    ['up --detach', 'go on in the background'],
  ],
  down: [
    ['down', 'stop the daemon and its database'],
    ['down --keep-db', 'the database stays, for psql'],
  ],
  init: [
    ['init', 'hooks for agents started in this directory'],
    ['init --user --dry-run', 'what it would change for all your agents'],
    ['init --notify ntfy --url https://ntfy.sh/a-topic', 'messages to a phone'],
  ],
  uninstall: [
    ['uninstall', 'out of this directory'],
    ['uninstall --all --data', 'everywhere, with everything on record'],
  ],
  status: [
    ['status', 'what every agent is doing'],
    ['status --watch', 'the same, anew every second'],
    ['status shop-ps --json', 'one of them, for a script'],
  ],
  why: [
    ['why shop-ps', 'why it is seen so, and what comes next'],
    ['why shop-ps --json', 'the same, for a script'],
  ],
  health: [
    ['health', 'the verdict on every agent'],
    ['health shop-ps', 'on one, with the evidence'],
    ['health --filter unhealthy', 'exit 1 if there is any'],
  ],
  context: [
    ['context shop-ps', 'how its context filled, and when it is full'],
    ['context shop-ps --json', 'every figure'],
  ],
  'can-accept': [
    ['can-accept shop-ps --size large', 'exit 0: yes, 1: no'],
    ['can-accept shop-ps --size tiny --json', 'with the reason, for a script'],
  ],
  handoff: [
    ['handoff shop-ps --dry-run', 'may it begin, and for which document'],
    ['handoff shop-ps --wait 300', 'now, and how it ended'],
  ],
  handoffs: [
    ['handoffs', 'every handoff, and how far it came'],
    ['handoffs shop-ps', 'of one agent, step by step'],
  ],
  'spawn-track': [
    ['spawn-track add --project shop --task-id nightly --output b.log', ''],
    ['spawn-track list', 'how all of it is doing'],
    ['spawn-track done shop nightly', 'it has ended well'],
  ],
  'spawn-track add': [
    ['spawn-track add --project shop --task-id nightly --output b.log', ''],
    ['spawn-track add --project shop --task-id nightly --agent shop-ps', ''],
  ],
  'spawn-track done': [
    ['spawn-track done shop nightly', 'it has ended well'],
    ['spawn-track done shop nightly --reason deployed', 'and why'],
  ],
  'spawn-track fail': [
    ['spawn-track fail shop nightly', 'it has failed'],
    ['spawn-track fail shop nightly --reason "disk full"', 'and why'],
  ],
  'spawn-track list': [
    ['spawn-track list', 'what runs'],
    ['spawn-track list --project shop --all', 'of one project, also what has ended'],
  ],
  inbox: [
    ['inbox', 'what waits for you, and how to answer'],
    ['inbox --json', 'the same, for a script'],
  ],
  ack: [
    ['ack 3f2a91c0', 'no more messages about it'],
    ['ack 3f2a91c0 --wrong', 'there was no such trouble'],
  ],
  prompt: [
    ['prompt shop-ps "How far are you?" --wait 60', 'and print the answer'],
    ['prompt shop-ps - < task.md', 'a text of several lines'],
    ['prompt shop-ps --template continue --set error=529', 'a standing text'],
  ],
  prompts: [
    ['prompts', 'what was said to all agents'],
    ['prompts shop-ps --json', 'to one, with the answers'],
  ],
  compact: [
    ['compact shop-ps', 'to an agent at its prompt'],
    ['compact shop-ps --json', 'the same, for a script'],
  ],
  interrupt: [
    ['interrupt shop-ps --dry-run', 'what would be done, and what speaks against it'],
    ['interrupt shop-ps --wait 10', 'now, or as soon as nobody types there'],
  ],
  audit: [
    ['audit', 'everything done and not done'],
    ['audit shop-ps --json', 'to one agent, whole'],
  ],
  events: [
    ['events shop-ps', 'the newest of one agent'],
    ['events --follow', 'of all, as they come'],
    ['events shop-ps -n 500 --json', 'for a script'],
  ],
  pause: [
    ['pause', 'nothing is done any more, at once'],
    ['pause --reason "demo until noon"', 'and why'],
  ],
  unpause: [
    ['unpause', 'rules act again'],
    ['unpause && watchkeeper status', 'and what is there'],
  ],
  authority: [
    ['authority shop-ps observe', 'only watch it'],
    ['authority notes nudge', 'it may be prompted'],
    ['authority notes manage', 'and handed over to a fresh context'],
  ],
  check: [
    ['check', 'one round; exit 1 if anything is unhealthy'],
    ['check --json', 'the same, for a script'],
  ],
  replay: [
    ['replay --since 7d', 'what would it have told you last week?'],
    ['replay run.jsonl.gz --json', 'one record, for a script'],
  ],
  eval: [
    ['eval runs/', 'how often the checks are right on labelled runs'],
    ['eval runs/ --markdown', 'as a report'],
  ],
  accuracy: [
    ['accuracy --since 7d', 'how often each check was right here'],
    ['accuracy --grounds', 'what each check rests on'],
  ],
  doctor: [
    ['doctor', 'is everything there, and the way out if not'],
    ['doctor --json', 'the same, for a script'],
  ],
  conformance: [
    ['conformance', 'try out the installed client, in two minutes'],
    ['conformance --keep', 'and leave what it wrote, for a look'],
  ],
  config: [
    ['config check', 'are the files right'],
    ['config show', 'every value, and where it comes from'],
  ],
  'config check': [
    ['config check', 'the files that count here'],
    ['config check watchkeeper.yaml', 'this one'],
  ],
  'config show': [
    ['config show', 'every value, and where it comes from'],
    ['config show --json', 'the same, for a script'],
  ],
  'config forget': [
    ['config forget', 'a file that is gone is gone on purpose'],
    ['config forget && watchkeeper up', 'and start without it'],
  ],
  'config schema': [
    ['config schema', 'what may stand in a file'],
    ['config schema > watchkeeper.schema.json', 'for an editor'],
  ],
  redact: [
    ['redact < secret.txt', 'take that text out of everything stored'],
    ['redact --json < secret.txt', 'the same, for a script'],
  ],
  db: [
    ['db url', 'the database, for psql'],
    ['db export > all.ndjson', 'every row as a line'],
    ['db backup wk.backup', 'everything on record into one file'],
  ],
  'db url': [
    ['db url', 'its address'],
    ['db url --json', 'the same, for a script'],
  ],
  'db export': [
    ['db export', 'every row as a line'],
    ['db export > all.ndjson', 'into a file'],
  ],
  'db backup': [
    ['db backup wk.backup', 'everything on record into one file'],
    ['db backup wk.backup --json', 'the same, for a script'],
  ],
  'db restore': [
    ['db restore wk.backup', 'into an empty database'],
    ['db restore wk.backup --replace', 'in place of everything in it'],
  ],
  help: [
    ['help states', 'a topic'],
    ['help prompt', 'a command'],
  ],
};

const columns = 80;

/** As they stand under a command's help: what comes of it beside the line, or below it where there is no room. */
export function examplesText(name: string): string {
  const lines = (examples[name] ?? []).map(([line, does]) => ({ line: `  watchkeeper ${line}`, does }));
  const width = Math.max(0, ...lines.map(({ line }) => line.length)) + 3;
  const isBeside = lines.every(({ does }) => width + does.length <= columns);
  const text = lines.flatMap(({ line, does }) => {
    if (isBeside) return [`${line.padEnd(width)}${does}`.trimEnd()];
    return does === '' ? [line] : [line, `      ${does}`];
  });
  return lines.length === 0 ? '' : `\nExamples:\n${text.join('\n')}`;
}
