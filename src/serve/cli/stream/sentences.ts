import type { About, Because, DeedNews, News, SeenNews } from '../../../daemon/news.ts';
import type { Caller } from '../../../model/caller.ts';
import { counted } from '../../../model/count.ts';
import { shown } from '../../../model/text.ts';
import { ago, type Color, when } from '../output.ts';
import { mayText, whyText } from './beginning.ts';

/** One line of the stream before it is made to fit. */
export interface Sentence {
  /** The agent, or what else it is about. */
  who: string;
  /** What a reader must have, the outcome among it. */
  need: string;
  /** What follows as far as there is room, the most useful first. */
  more: string[];
  color: Color | null;
}

type Told = Exclude<News, { kind: 'beginning' }>;
type Words = [need: string, ...more: string[]];

export function sentenceOf(news: Told): Sentence {
  const [need, ...more] = words(news);
  return { who: who(news), need, more: more.filter((part) => part !== ''), color: colorOf(news) };
}

function who(news: Told): string {
  if ('agent' in news && news.agent !== null) return shown(news.agent, 200);
  return 'project' in news ? news.project : 'watchkeeper';
}

function colorOf(news: Told): Color | null {
  if (news.kind === 'trouble' && !news.isShownOnly) return news.severity === 'critical' ? 'red' : 'yellow';
  if (news.kind === 'handoff' && news.step === 'failed') return 'red';
  return news.kind === 'over' ? 'green' : null;
}

function words(news: Told): Words {
  switch (news.kind) {
    case 'found':
      return [`found, ${stateText(news)[0]}`, `; ${mayText(news.authority)}`, ` (${whyText(news.ground)})`];
    case 'state':
      return stateWords(news);
    case 'authority':
      return [`from now on ${mayText(news.authority)}`];
    case 'trouble':
      return [
        `${news.isKnown ? 'still' : 'found'} ${checkText(news)} since ${when(news.sinceMs)}`,
        news.isShownOnly ? ', only shown' : '',
        `: ${news.text}`,
      ];
    case 'over':
      return [`${checkText(news)} is over`, ` after ${spanText(news.lastedMs)}`];
    case 'plan':
      return planWords(news);
    case 'handoff-plan':
      return [`will hand its context over at ${when(news.atMs)}`, `: ${handoffReasons[news.reason] ?? news.reason}`];
    case 'deed':
      return deedWords(news);
    case 'handoff':
      return handoffWords(news);
    case 'handoff-waits':
      return [`handoff goes on later: ${news.why}`, ` (it is ${news.step})`];
    case 'paused':
      return ['paused: nothing is done', ' until `watchkeeper unpause`'];
    case 'unpaused':
      return ['no longer paused: rules act again'];
    case 'acts':
      return ['the start is over: rules act from now on'];
    case 'mode':
      return [news.mode === 'act' ? 'rules act again (mode: act)' : 'only watching from now on (mode: watch)'];
  }
}

const waits: Record<string, string> = {
  permission: 'waits for a permission',
  question: 'asks a question',
  setup: 'waits at a setup screen',
  dialog: 'waits in a dialog',
};

/** Its state, and what there is to say of it. */
export function stateText(seen: SeenNews): Words {
  const { state, detail, lastTurn, errorKind, endedBadly, limitedUntilMs } = seen;
  switch (state) {
    case 'working':
      return [detail === 'api-stall' ? 'gets no answer from the service' : 'works'];
    case 'idle':
      if (lastTurn === 'failed')
        return ['idle', `, its turn failed${errorKind === null ? '' : ` (${shown(errorKind, 40)})`}`];
      return ['idle', lastTurn === 'interrupted' ? ', its turn was interrupted' : ''];
    case 'waiting':
      return [waits[detail ?? ''] ?? 'waits for a person'];
    case 'retrying':
      return ['retries after an error of the service'];
    case 'limited':
      return [`is at a usage limit${limitedUntilMs === null ? '' : ` until ${when(limitedUntilMs)}`}`];
    case 'compacting':
      return ['compacts its context'];
    case 'ended':
      return ['ended', endedBadly === null ? '' : `: ${shown(endedBadly, 200)}`];
    case 'unknown':
      return [detail === 'suspended' ? 'is suspended (Ctrl-Z)' : 'cannot be read'];
  }
}

function stateWords(news: Extract<News, { kind: 'state' }>): Words {
  const [need, ...more] = stateText(news);
  const worked = news.state === 'idle' && news.before === 'working' ? ` after ${spanText(news.beforeMs)} of work` : '';
  const waited =
    news.before === 'waiting' && news.state !== 'waiting' ? ` after ${spanText(news.beforeMs)} of waiting` : '';
  const told = news.tellAtMs === null ? '' : `; you are told at ${when(news.tellAtMs)}`;
  return [need, ...more, worked, waited, told];
}

function checkText({ check, subject }: Pick<About, 'check' | 'subject'>): string {
  return subject === null ? check : `${check} ${subject}`;
}

function planWords(news: Extract<News, { kind: 'plan' }>): Words {
  const what = news.does === 'tell' ? 'will tell you' : 'will prompt it';
  const at = news.atMs === null ? ', but not now' : ` at ${when(news.atMs)}`;
  return [`${what} about ${checkText(news)}${at}`, `: ${news.why}`];
}

const handoffReasons: Record<string, string> = {
  'at-percent': 'much of it is used',
  'usable-end': 'little of it is left',
  compaction: 'its client would soon compact it',
};

function handoffWords({ step, reason, file, trigger, tookMs }: Extract<News, { kind: 'handoff' }>): Words {
  const why = trigger === 'human' ? 'a person asked for it' : handoffReasons[trigger.replace(/^rule:/, '')];
  switch (step) {
    case 'requested':
      return [`handoff of its context begins, because ${why ?? trigger}`];
    case 'prompted':
      return reason === null
        ? ['handoff: asked for the document', `, ${file}`]
        : [`handoff: document sent back: ${reason}`];
    case 'written':
      return [
        reason === null ? 'handoff: the document is written' : `handoff: the document is judged again: ${reason}`,
      ];
    case 'verified':
      return ['handoff: the document is good'];
    case 'saved':
      return ['handoff: a copy of the document is stored', `, ${file}`];
    case 'cleared':
      return [reason === null ? 'handoff: its context is cleared' : `handoff: ${reason}`];
    case 'resumed':
      return ['handoff: told the fresh context to go on'];
    case 'confirmed':
      return ['handoff: the fresh context read the document'];
    case 'done':
      return ['handoff done', tookMs === null ? '' : ` after ${spanText(tookMs)}`];
    case 'failed':
      return [`handoff failed: ${reason ?? 'for no known reason'}`, ': `watchkeeper handoffs` has more'];
  }
}

function deedWords(news: DeedNews): Words {
  const { deed, outcome, by, trigger, text, tag, answerMs } = news;
  if (outcome === 'answered')
    return ['answered', tag === null ? '' : ` [${tag}]`, answerMs === null ? '' : ` after ${spanText(answerMs)}`];
  if (outcome === 'failed-by-service') return [`did not answer: ${news.reason ?? 'the service failed'}`, tagged(tag)];
  if (outcome === 'interrupted') return ['was interrupted before it answered', tagged(tag)];
  const result = resultText(news);
  if (deed === 'notify') return tellingWords(news);
  const isPersons = trigger === 'human';
  const name = isPersons ? callerText(by) : null;
  switch (deed) {
    case 'prompt':
      return isPersons ? [`${name} prompted it: ${result}`, quoted(text), tagged(tag)] : rulePromptWords(news, result);
    case 'interrupt':
      return [`${name ?? 'the handoff'} interrupted it: ${result}`];
    case 'command':
      return [`${name ?? 'the handoff'} typed ${shown(text ?? 'a command', 40)}: ${result}`];
    case 'authority':
      return [`${name} set its authority to ${text}`, outcome === 'confirmed' ? '' : `: ${result}`];
    case 'ack':
      return [`${name} acknowledged ${text}`];
    default:
      return [`${name ?? trigger} ${deed}: ${result}`];
  }
}

function rulePromptWords({ outcome, reason, because, trigger, tag }: DeedNews, result: string): Words {
  if (outcome === 'refused') {
    const about = because === null ? asksText(trigger) : `about ${because.check}`;
    if (reason === 'watch-mode') return [`would prompt it ${about}`, ', but only watches'];
    return [`not prompted ${about}: ${reason ?? 'refused'}`];
  }
  if (because === null) return [`prompted: ${result}`, `, ${asksText(trigger)}`, tagged(tag)];
  return [`prompted: ${result}, because of ${because.check}`, ...sinceText(because), tagged(tag)];
}

/** Prompts that are about no trouble. */
function asksText(trigger: string): string {
  if (trigger === 'handoff') return 'for its handoff';
  return trigger === 'rule:spawn-progress' ? 'to ask how its background work goes' : `by ${trigger}`;
}

function sinceText({ sinceMs, more }: Because): string[] {
  return [` since ${when(sinceMs)}`, more > 0 ? ` and ${counted(more, 'other trouble')}` : ''];
}

function tellingWords({ outcome, reason, because, channels, trigger }: DeedNews): Words {
  const about = because === null ? trigger.replace(/^rule:/, '') : because.check;
  if (outcome === 'told') {
    const where = reason === 'inbox-only' || channels.length === 0 ? 'inbox' : `by ${channels.join(', ')}`;
    return [`told you because of ${about}`, ` (${where})`, ...(because === null ? [] : sinceText(because).slice(0, 1))];
  }
  return [`could not tell you about ${about}: ${reason ?? outcome}`];
}

/** How it ended, and why where that is not plain. */
function resultText({ outcome, reason }: DeedNews): string {
  return reason === null || outcome === 'confirmed' ? outcome : `${outcome} (${reason})`;
}

function callerText(by: Caller | null): string {
  return by === null || by === 'rule' ? 'somebody' : shown(by.replace(/^human /, ''), 40);
}

function tagged(tag: string | null): string {
  return tag === null ? '' : ` [${tag}]`;
}

function quoted(text: string | null): string {
  return text === null ? '' : `, "${shown(text, 60)}"`;
}

function spanText(ms: number): string {
  return ago(0, ms);
}
