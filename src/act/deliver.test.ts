import { describe, expect, it } from 'vitest';
import { claudeCode } from '../clients/claude-code/client.ts';
import type { Refusal } from '../model/action.ts';
import type { TypableText } from '../model/text.ts';
import { type Delivery, type DeliveryPorts, deliver as deliverTypable, type Proof } from './deliver.ts';
import type { PaneNow } from './pane-facts.ts';
import type { Typed } from './pane-terminal.ts';

type Given = Omit<Delivery, 'text'> & { text: string };

const deliver = (given: Given, ports: DeliveryPorts) =>
  deliverTypable({ ...given, text: given.text as TypableText }, ports);

const delivery: Given = { text: 'Go on with it. [wk-12ab]', mark: '[wk-12ab]', tag: 'wk-12ab', proofMs: 8_000 };
const proof: Proof = { queued: false, source: 'transcript', nameless: false, atMs: 1 };

/** A client's input box: `C-u` takes out its last row, `C-s` puts the text aside and brings it back. */
class FakeTerminal {
  box = '';
  stashed: string | null = null;
  submitted: string[] = [];
  pressed: string[] = [];
  nowMs = 0;
  refusal: Refusal | null = null;
  /** Enter does nothing this often. */
  swallows = 0;
  /** When the record of the submission comes. */
  provedAtMs: number | null = 0;
  afterPaste: () => void = () => {};
  /** What is chosen in the client's menu while the box holds this text. */
  menu: (text: string) => string | null = () => null;

  readonly ports: DeliveryPorts = {
    terminal: {
      facts: async (): Promise<PaneNow> => ({
        pid: 1,
        dead: false,
        mode: '',
        synchronized: false,
        people: [],
        controlled: false,
        onlookers: { format: '', value: '' },
        command: 'claude',
      }),
      fence: async () => true,
      screen: async () => this.box,
      paste: async (text): Promise<Typed> => {
        this.box += text;
        this.afterPaste();
        return 'done';
      },
      keys: async (name, times): Promise<Typed> => {
        for (let time = 0; time < times; time += 1) this.#press(name);
        return 'done';
      },
      leaveCopyMode: async () => {},
    },
    whyNotNow: () => this.refusal,
    at: async () => {},
    dialect: {
      ...claudeCode.dialect,
      findInputBox: (screen) => ({
        text: screen,
        mark: '❯',
        stashed: this.stashed !== null,
        chosen: this.menu(screen),
      }),
    },
    proof: async (_tag, timeoutMs) => {
      const comesAtMs = this.submitted.length === 0 ? null : this.provedAtMs;
      const isInTime = comesAtMs !== null && comesAtMs <= this.nowMs + timeoutMs;
      this.nowMs = isInTime ? Math.max(this.nowMs, comesAtMs) : this.nowMs + timeoutMs;
      return isInTime ? proof : null;
    },
    monotonicMs: () => this.nowMs,
    sleep: async (ms) => {
      this.nowMs += ms;
    },
  };

  #press(name: string): void {
    this.pressed.push(name);
    if (name === 'C-u') this.box = this.box.split('\n').slice(0, -1).join('\n');
    else if (name === 'C-s') [this.box, this.stashed] = [this.stashed ?? '', this.box === '' ? null : this.box];
    else if (this.swallows > 0) this.swallows -= 1;
    else {
      this.submitted.push(this.box);
      [this.box, this.stashed] = [this.stashed ?? '', null];
    }
  }
}

function terminal(given: Partial<FakeTerminal> = {}): FakeTerminal {
  return Object.assign(new FakeTerminal(), given);
}

describe('a prompt is typed and submitted once', () => {
  it('with one Enter, proved by the client', async () => {
    const there = terminal();
    expect(await deliver(delivery, there.ports)).toMatchObject({ outcome: 'confirmed', draftRestored: null });
    expect(there.submitted).toEqual([delivery.text]);
    expect(there.pressed).toEqual(['Enter']);
  });
  it('with a second Enter when the first was swallowed and the box provably holds our text', async () => {
    const there = terminal({ swallows: 1 });
    expect(await deliver(delivery, there.ports)).toMatchObject({ outcome: 'confirmed' });
    expect(there.submitted).toEqual([delivery.text]);
    expect(there.pressed).toEqual(['Enter', 'Enter']);
  });
  it('with one Enter only, though the proof comes late', async () => {
    const there = terminal({ provedAtMs: 6_000 });
    expect(await deliver(delivery, there.ports)).toMatchObject({ outcome: 'confirmed', proofMs: 6_000 });
    expect(there.pressed).toEqual(['Enter']);
  });
  it('without any proof nobody knows, and nothing is pressed again', async () => {
    const there = terminal({ provedAtMs: null });
    expect(await deliver(delivery, there.ports)).toMatchObject({ outcome: 'uncertain', reason: 'no-proof' });
    expect(there.pressed).toEqual(['Enter']);
  });
  it('with no second Enter once a person has typed behind it', async () => {
    const there = terminal({ swallows: 1, provedAtMs: null });
    const press = there.ports.terminal.keys;
    there.ports.terminal.keys = async (name, times, guard) => {
      const typed = await press(name, times, guard);
      there.box += ' and mine';
      return typed;
    };
    expect(await deliver(delivery, there.ports)).toMatchObject({ outcome: 'uncertain', reason: 'no-proof' });
    expect(there.submitted).toEqual([]);
    expect(there.box).toBe(`${delivery.text} and mine`);
  });
  it('a draft is put aside and comes back', async () => {
    const there = terminal({ box: 'half a thought' });
    expect(await deliver(delivery, there.ports)).toMatchObject({ outcome: 'confirmed', draftRestored: true });
    expect(there.submitted).toEqual([delivery.text]);
    expect(there.box).toBe('half a thought');
  });
});

describe('what an earlier delivery of ours left in the box', () => {
  const command: Given = { text: '/resume 12ab-34cd', mark: '12ab-34cd', tag: '12ab-34cd', proofMs: 1_000 };
  it('a command with a blank in it is known again in the box', async () => {
    const there = terminal();
    expect(await deliver(command, there.ports)).toMatchObject({ outcome: 'confirmed' });
    expect(there.submitted).toEqual([command.text]);
  });
  it.each([
    [delivery.text, { ...delivery, text: 'Once more. [wk-77aa]', mark: '[wk-77aa]', tag: 'wk-77aa' }],
    [command.text, command],
  ])('is taken out: %s', async (left, given) => {
    const there = terminal({ box: left });
    expect(await deliver({ ...given, leftovers: [left] }, there.ports)).toMatchObject({ outcome: 'confirmed' });
    expect(there.submitted).toEqual([given.text]);
    expect([there.box, there.stashed]).toEqual(['', null]);
  });
  it('what only resembles it is a draft, and stays', async () => {
    const there = terminal({ box: `${command.text} please` });
    const given = { ...command, leftovers: [command.text], neverOverDraft: true };
    expect(await deliver(given, there.ports)).toMatchObject({ outcome: 'refused', reason: 'draft' });
    expect(there.box).toBe(`${command.text} please`);
    expect(there.pressed).toEqual([]);
  });
});

describe("a person's words that come in the very moment stay where they are", () => {
  const mixed: [string, Given, (ours: string) => string][] = [
    ['before ours', delivery, (ours) => `wait, ${ours}`],
    ['after ours', delivery, (ours) => `${ours} wait`],
    ['in the middle of ours', delivery, (ours) => `${ours.slice(0, 5)}wait${ours.slice(5)}`],
    ['on a row of their own', delivery, (ours) => `wait\n${ours}`],
    [
      'before ours, which is not all ASCII',
      { ...delivery, text: 'Weiter, früh. [wk-12ab]' },
      (ours) => `wait, ${ours}`,
    ],
    ['beside a paste that is not shown', delivery, () => '[Pasted text #1] wait'],
  ];
  it.each(mixed)('%s', async (_where, given, mix) => {
    const there = terminal();
    there.afterPaste = () => {
      there.box = mix(given.text);
    };
    expect(await deliver(given, there.ports)).toMatchObject({ outcome: 'uncertain', reason: 'left-in-box' });
    expect(there.box).toBe(mix(given.text));
    expect(there.submitted).toEqual([]);
    expect(there.pressed).toEqual([]);
  });
  it('also when they come while we take ours out', async () => {
    const there = terminal();
    there.afterPaste = () => {
      there.refusal = 'paused';
    };
    const press = there.ports.terminal.keys;
    there.ports.terminal.keys = async (name, times, guard) => {
      const typed = await press(name, times, guard);
      there.box += 'what is this';
      return typed;
    };
    expect(await deliver(delivery, there.ports)).toMatchObject({ outcome: 'uncertain', reason: 'left-in-box' });
    expect(there.box).toBe('what is this');
  });
});

describe('our own text is taken back when it may not be submitted after all', () => {
  const texts: [string, string, string][] = [
    ['one row', delivery.text, delivery.text],
    ['several rows', 'one thing\nanother thing\na third [wk-12ab]', 'one thing\nanother thing\na third [wk-12ab]'],
    ['a paste that is not shown', 'one\ntwo [wk-12ab]', '[Pasted text #3 +1 lines]'],
    ['drawn otherwise than pasted', 'Früh → spät. [wk-12ab]', 'Fr h ⇒ sp t. [wk-12ab]'],
  ];
  it.each(texts)('%s', async (_what, text, shown) => {
    const there = terminal();
    there.afterPaste = () => {
      there.box = shown;
      there.refusal = 'paused';
    };
    expect(await deliver({ ...delivery, text }, there.ports)).toMatchObject({ outcome: 'refused', reason: 'paused' });
    expect(there.box).toBe('');
    expect(there.submitted).toEqual([]);
  });
  it('and the draft comes back', async () => {
    const there = terminal({ box: 'half a thought' });
    there.afterPaste = () => {
      there.refusal = 'paused';
    };
    expect(await deliver(delivery, there.ports)).toMatchObject({ outcome: 'refused', draftRestored: true });
    expect(there.box).toBe('half a thought');
  });
  it('but not under the hands of a person', async () => {
    const there = terminal();
    there.afterPaste = () => {
      there.refusal = 'human-typing';
    };
    expect(await deliver(delivery, there.ports)).toMatchObject({ outcome: 'uncertain', reason: 'left-in-box' });
    expect(there.box).toBe(delivery.text);
  });
});

describe('a command that the client would complete to another one', () => {
  const command = { text: '/tina:check ', mark: '/tina:check', tag: 'check', proofMs: 8_000, neverCompleted: true };
  const completes = (text: string) => (text.startsWith('/tina:check') ? '/tina:checkpoint' : null);
  it('is taken out of the box again, however late its menu comes', async () => {
    const there = terminal();
    there.menu = (text) => (there.nowMs < 500 ? null : completes(text));
    expect(await deliver(command, there.ports)).toMatchObject({ outcome: 'refused', reason: 'unknown-command' });
    expect([there.submitted, there.box, there.pressed.includes('Enter')]).toEqual([[], '', false]);
  });
  it('is submitted where no other is chosen', async () => {
    const there = terminal();
    there.menu = (text) => (text.startsWith('/tina:check') ? '/tina:check' : null);
    expect(await deliver(command, there.ports)).toMatchObject({ outcome: 'confirmed' });
    expect(there.submitted).toEqual([command.text]);
  });
  it('is not submitted with what a person typed while its menu was waited for', async () => {
    const there = terminal();
    there.menu = () => {
      if (there.nowMs > 200 && !there.box.endsWith('mine')) there.box += ' mine';
      return null;
    };
    expect(await deliver(command, there.ports)).toMatchObject({ outcome: 'uncertain', reason: 'left-in-box' });
    expect([there.submitted, there.box]).toEqual([[], '/tina:check  mine']);
  });
  it('is not submitted by a second Enter either', async () => {
    const there = terminal({ swallows: 1, provedAtMs: null });
    there.menu = (text) => (there.pressed.includes('Enter') ? completes(text) : null);
    expect(await deliver(command, there.ports)).toMatchObject({ outcome: 'uncertain', reason: 'left-in-box' });
    expect(there.pressed).toEqual(['Enter']);
  });
});
