import type { News } from '../../../daemon/news.ts';
import type { WatchEvent } from '../../../model/event.ts';
import { eventWords } from '../event-text.ts';
import { columnsMax, cutTo, line, paint, roomFor, width, wrapped } from '../output.ts';
import { beginningTexts } from './beginning.ts';
import { type Sentence, sentenceOf } from './sentences.ts';

/** Recorded, but of no interest to somebody who looks on. */
const quiet = new Set(['request', 'progress', 'cost']);

const nameColumnsMax = 20;
const nameColumnsMin = 7;
const indent = ' '.repeat(10);

/** What `up` says, line by line, each with the time at which it is said: they never go backwards. */
export class Stream {
  readonly #print: (line: string) => void;
  readonly #now: () => Date;
  readonly #columns: number;
  #nameColumns = nameColumnsMin;
  #day: string;
  /** The last reply of each agent. */
  readonly #replies = new Map<string, string>();

  constructor(print: (line: string) => void, now: () => Date = () => new Date(), room = roomFor()) {
    this.#print = print;
    this.#now = now;
    this.#columns = Math.min(room, columnsMax);
    this.#day = now().toDateString();
  }

  news(news: News): void {
    if (news.kind === 'beginning') for (const text of beginningTexts(news)) this.#whole(text);
    else this.#line(sentenceOf(news));
  }

  /** Everything else, for --verbose, as wide as the terminal. A reply that is recorded piece by piece is told once. */
  event(event: WatchEvent): void {
    if (quiet.has(event.kind)) return;
    const message = event.kind === 'reply' ? event.data.messageId : null;
    if (typeof message === 'string') {
      if (this.#replies.get(event.agent) === message) return;
      this.#replies.set(event.agent, message);
    }
    this.#print(line(`${this.#time()}  ${eventWords(event)}`));
  }

  /** The consent of whoever reads it depends on it: broken, not cut. */
  #whole(text: string): void {
    const lines = wrapped(text, indent, this.#columns).split('\n');
    const [first = '', ...rest] = lines;
    this.#print(`${this.#time()}  ${first.slice(indent.length)}`);
    for (const line of rest) this.#print(line);
  }

  #line({ who, need, more, color }: Sentence): void {
    const time = this.#time();
    const most = Math.max(nameColumnsMin, Math.min(nameColumnsMax, Math.floor(this.#columns / 4)));
    const name = cutTo(who, most);
    this.#nameColumns = Math.max(this.#nameColumns, Math.min(width(name), most));
    const pad = ' '.repeat(Math.max(0, this.#nameColumns - width(name)));
    const room = Math.max(1, this.#columns - time.length - 2 - this.#nameColumns - 2);
    this.#print(`${time}  ${name}${pad}  ${paint(fitted(need, more, room), color)}`.trimEnd());
  }

  #time(): string {
    const now = this.#now();
    const day = now.toDateString();
    // A stream of days says which.
    if (day !== this.#day) this.#print(day);
    this.#day = day;
    return now.toTimeString().slice(0, 8);
  }
}

/** As much of it as there is room for: what must be read first, and then every part that fits as a whole or, last, cut. */
export function fitted(need: string, more: readonly string[], room: number): string {
  let text = need;
  for (const part of more) {
    const left = room - width(text);
    if (width(part) <= left) text += part;
    // A cut part is worth its place only where some of it is left.
    else if (left > 12 && part.startsWith(':')) return text + cutTo(part, left);
  }
  return cutTo(text, room);
}
