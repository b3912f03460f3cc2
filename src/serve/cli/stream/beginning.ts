import type { Beginning, LooksIn } from '../../../daemon/news.ts';
import type { Authority } from '../../../model/agent.ts';
import { counted } from '../../../model/count.ts';
import { printable, shown } from '../../../model/text.ts';
import type { AuthorityGround, GroundedAuthority } from '../../../watch/authority.ts';
import { when } from '../output.ts';
import { stateText } from './sentences.ts';

type Agent = Beginning['agents'][number];

const namesMax = 8;
/** So many are each described; of more it is said how many do what. */
const describedMax = 10;

/** What is there, whom it may type to and by which rule, from when on, and how to stop that. */
export function beginningTexts(beginning: Beginning): string[] {
  const { agents, looksIn } = beginning;
  if (agents.length === 0) return [...nobodyTexts(looksIn), ...switchTexts(beginning)];
  return [foundText(agents), ...stateTexts(agents), ...authorityTexts(beginning), ...switchTexts(beginning)];
}

function foundText(agents: readonly Agent[]): string {
  const inside = agents.filter(({ isInTmux }) => isInTmux).length;
  const outside = agents.length - inside;
  const where = outside === 0 ? 'in tmux' : inside === 0 ? 'outside tmux' : `${inside} in tmux, ${outside} outside`;
  return `found ${counted(agents.length, 'agent')}, ${where}`;
}

function stateTexts(agents: readonly Agent[]): string[] {
  const text = (agent: Agent) => {
    const [need, ...more] = stateText(agent);
    return `${need}${more.join('')}`;
  };
  if (agents.length <= describedMax)
    return agents.map((agent) => {
      const percent = agent.percent === null ? '' : `, ${Math.floor(agent.percent)}% of its context used`;
      return `${name(agent)}: ${text(agent)}${percent}`;
    });
  const byState = groups(agents, (agent) => stateText(agent)[0]);
  return [...byState].map(([state, some]) => `${some.length} of them: ${state}: ${names(some)}`);
}

/** One line for all of whom the same holds for the same reason; those it may do most to come first. */
function authorityTexts({ agents, rulesFrom, mode }: Beginning): string[] {
  const order: readonly Authority[] = ['manage', 'nudge', 'observe'];
  const byGround = groups(agents, (agent) => `${order.indexOf(agent.authority)}${groundText(agent, rulesFrom)}`);
  return [...byGround]
    .toSorted(([a], [b]) => a.localeCompare(b))
    .flatMap(([, some]) => {
      const [one] = some;
      if (one === undefined) return [];
      const may = mode === 'act' ? mayWords[one.authority] : mayWords[one.authority].replace(/^may/, 'could');
      return [`${may} ${names(some)} (${groundText(one, rulesFrom)})`];
    });
}

const mayWords: Record<Authority, string> = {
  manage: 'may prompt and hand over',
  nudge: 'may prompt',
  observe: 'only watches',
};

function groundText({ ground, authority }: GroundedAuthority, rulesFrom: string): string {
  switch (ground.by) {
    case 'rule': {
      const from = ground.isProjects
        ? "in the project's file"
        : rulesFrom === 'default'
          ? 'built in'
          : `in ${rulesFrom}`;
      return `rule ${shown(ground.match, 60)}: ${authority}, ${from}`;
    }
    case 'person':
      return 'as somebody said by `watchkeeper authority`';
    case 'no-rule':
      return 'no rule names it';
    case 'rename':
      return 'its name or session is another by now';
    case 'outside-tmux':
      return 'outside tmux';
  }
}

/** Of one agent, in short. */
export function mayText(authority: Authority): string {
  const may = { manage: 'may be prompted and handed over', nudge: 'may be prompted', observe: 'only watched' };
  return may[authority];
}

/** And why. */
export function whyText(ground: AuthorityGround): string {
  const why = { person: 'as somebody said', 'no-rule': 'no rule', rename: 'renamed', 'outside-tmux': 'outside tmux' };
  return ground.by === 'rule' ? `rule ${shown(ground.match, 60)}` : why[ground.by];
}

function switchTexts({ mode, modeFrom, watchOnly, paused, quietUntilMs, isFirst }: Beginning): string[] {
  const nothing = 'nothing is typed and nobody is called';
  if (watchOnly) return [`this run only watches (--watch-only): ${nothing}; it says what it would do`];
  if (mode !== 'act') return [`it only watches (mode: watch, ${modeFrom}): ${nothing}; it says what it would do`];
  const stop = [
    'to stop that: `watchkeeper pause` for all, `watchkeeper authority NAME observe` for one, ' +
      '`watchkeeper up --watch-only` from the start',
  ];
  if (paused) return ['paused: nothing is done until `watchkeeper unpause`', ...stop];
  if (quietUntilMs === null) return ['rules act from now on', ...stop];
  const start = isFirst ? 'this is the first start' : 'it has just started';
  const setting = isFirst ? 'start.firstQuietSeconds' : 'start.quietSeconds';
  return [
    `${start}: rules do nothing before ${when(quietUntilMs)} (${setting}); what you ask for is done at once`,
    ...stop,
  ];
}

function nobodyTexts({ clients, everyMs, servers, tmuxFolder, configDirs }: LooksIn): string[] {
  const every = everyMs === 1_000 ? 'every second' : `every ${everyMs / 1_000} s`;
  const running = servers.map(
    ({ socket, panes }) => `${printable(socket)} (${panes === null ? 'no answer' : counted(panes, 'pane')})`,
  );
  const folder = tmuxFolder === null ? '' : ` in ${printable(tmuxFolder)}`;
  const tmux = running.length === 0 ? `no server of yours runs${folder}` : running.join(', ');
  return [
    `no agent yet; it looks for ${clients} ${every} and says so when one is there`,
    `in tmux: ${tmux}`,
    `outside tmux, by what they leave in ${configDirs.map(printable).join(', ')}`,
    'start one in a tmux session named NAME-ps, such as `tmux new -s shop-ps`: it may then be prompted and handed over',
  ];
}

function name({ agent }: Agent): string {
  return shown(agent, 60);
}

function names(agents: readonly Agent[]): string {
  const some = agents.slice(0, namesMax).map(name).join(', ');
  return agents.length <= namesMax ? some : `${some} and ${agents.length - namesMax} more`;
}

function groups<T>(items: readonly T[], of: (item: T) => string): Map<string, T[]> {
  const found = new Map<string, T[]>();
  for (const item of items) found.set(of(item), [...(found.get(of(item)) ?? []), item]);
  return found;
}
