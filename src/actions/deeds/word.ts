import type { Action } from '../../model/action.ts';
import type { Json } from '../../model/event.ts';
import type { Deed, Doing, Done, Order } from './deed.ts';

declare module '../../model/action.ts' {
  interface DeedNames {
    ack: true;
    authority: true;
  }
}

interface WordOrder extends Order {
  /** What is said. */
  word: { [key: string]: Json };
  /** Makes it so; whether it is stored. */
  change: () => Promise<boolean>;
}

/**
 * A person's word that changes something here and is typed to nobody. It holds also where no row can be written: who says
 * that an agent is to be left alone does not wait for a database.
 */
export class Word implements Deed<WordOrder, 'confirmed'> {
  readonly needs = null;
  readonly points = ['changed'];

  intent({ word }: WordOrder) {
    return word;
  }

  isDoneWithoutRow(): boolean {
    return true;
  }

  async do({ change }: WordOrder, _action: Action, doing: Doing): Promise<Done<'confirmed'>> {
    const isStored = await change();
    await doing.at('changed');
    return { outcome: 'confirmed', reason: isStored && doing.hasRow ? null : 'not-stored', proof: null, proofMs: null };
  }
}
