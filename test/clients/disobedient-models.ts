// What models do with the request for a handoff, and in the fresh context, and how each of that ends.
import { execFileSync } from 'node:child_process';
import { mkdirSync, renameSync, rmSync, symlinkSync, truncateSync, utimesSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { errorBody } from '../../src/clients/claude-code/conform/model-script.ts';
import { Gate, type Kind } from './disobeying.ts';
import { type Ask, type Disobedience, type Handing, makeRepository } from './handing-over.ts';

const isRequest = ({ asked }: Ask) => asked === 'document' || asked === 'again';
const said = { text: 'The handoff document is written.' };

function good({ nonce }: Ask, model: Handing): string {
  return model.document(nonce, model.stepFile(1));
}

/** Whatever is asked for, the file is made like this. */
function makes(make: (ask: Ask, model: Handing) => void): Disobedience {
  return (ask, model) => {
    if (!isRequest(ask)) return undefined;
    mkdirSync(path.dirname(ask.file), { recursive: true });
    rmSync(ask.file, { recursive: true, force: true });
    make(ask, model);
    return said;
  };
}

/** The document is always the same text. */
function writes(text: (ask: Ask, model: Handing) => string): Disobedience {
  return (ask, model) => (isRequest(ask) ? model.write(ask, text(ask, model)) : undefined);
}

const bash = (command: string) => ({ tools: [{ name: 'Bash', input: { command, description: 'some work' } }] });
const question = {
  question: 'Which one?',
  header: 'Choice',
  multiSelect: false,
  options: ['One', 'Two'].map((label) => ({ label, description: label })),
};
const growing = new Set<NodeJS.Timeout>();

/** No document that could be relied on: nothing is cleared. */
export const poorDocuments = {
  none: { what: 'no file', end: 'no-document', asks: 2, model: (ask) => (isRequest(ask) ? said : undefined) },
  empty: { what: 'an empty file', end: 'poor', asks: 2, model: makes(({ file }) => writeFileSync(file, '')) },
  headings: {
    what: 'only the headings',
    end: 'poor',
    asks: 2,
    mode: 'manual',
    model: writes((ask, model) => good(ask, model).replaceAll(/^[^#].*$/gm, '')),
  },
  half: {
    what: 'half of it, and ends its turn',
    end: 'poor',
    asks: 2,
    model: writes((ask, model) => good(ask, model).slice(0, 250)),
  },
  link: {
    what: 'a link to a good file in the project',
    end: 'poor',
    asks: 2,
    model: makes((ask, model) => {
      const place = path.join(model.agent.folder.project, 'real.md');
      writeFileSync(place, good(ask, model));
      symlinkSync(place, ask.file);
    }),
  },
  linkout: {
    what: 'a link to a good file outside the project',
    end: 'poor',
    asks: 2,
    model: makes((ask, model) => {
      const place = path.join(model.agent.folder.project, '../outside.md');
      writeFileSync(place, good(ask, model));
      symlinkSync(place, ask.file);
    }),
  },
  linkdir: {
    what: 'a good file in a directory that is a link out of the project',
    end: 'poor',
    asks: 2,
    model: (ask, model) => {
      if (!isRequest(ask)) return undefined;
      const dir = path.dirname(ask.file);
      const place = path.join(model.agent.folder.project, '../elsewhere');
      mkdirSync(path.dirname(dir), { recursive: true });
      if (ask.asked === 'document') {
        mkdirSync(place);
        rmSync(dir, { recursive: true, force: true });
        symlinkSync(place, dir);
      }
      writeFileSync(path.join(place, path.basename(ask.file)), good(ask, model));
      return said;
    },
  },
  directory: { what: 'a directory', end: 'poor', asks: 2, model: makes(({ file }) => mkdirSync(file)) },
  fifo: { what: 'a pipe', end: 'poor', asks: 2, model: makes(({ file }) => execFileSync('mkfifo', [file])) },
  huge: {
    what: '100 MB',
    end: 'poor',
    asks: 2,
    model: makes((ask, model) => {
      writeFileSync(ask.file, good(ask, model));
      truncateSync(ask.file, 100 * 1024 * 1024);
    }),
  },
  lastweek: {
    what: 'a file of last week',
    end: 'poor',
    asks: 2,
    model: makes((ask, model) => {
      writeFileSync(ask.file, good(ask, model));
      const then = Date.now() / 1000 - 7 * 86_400;
      utimesSync(ask.file, then, then);
    }),
  },
  before: {
    what: 'a good file, with a time before it was asked for',
    end: 'poor',
    asks: 2,
    model: (ask, model) => {
      if (ask.asked === 'document') return model.write(ask, 'There is nothing to hand over.');
      // What it says is good now, but it is put there with the time of the one before.
      if (ask.asked !== 'again') return undefined;
      const aside = `${ask.file}.aside`;
      writeFileSync(aside, good(ask, model));
      const then = Date.now() / 1000 - 120;
      utimesSync(aside, then, then);
      renameSync(aside, ask.file);
      return said;
    },
  },
  another: {
    what: "another agent's document (another nonce)",
    end: 'poor',
    asks: 2,
    model: writes((_ask, model) => model.document('0badc0de', model.stepFile(1))),
  },
  nononce: {
    what: 'without the nonce',
    end: 'poor',
    asks: 2,
    model: writes((ask, model) => good(ask, model).replace(ask.nonce, 'see above')),
  },
  head: {
    what: 'a HEAD that does not exist',
    end: 'poor',
    asks: 2,
    before: async ({ agent, model }) => {
      makeRepository(agent.folder.project);
      model.head = '0123456789abcdef0123456789abcdef01234567';
    },
  },
  background: {
    what: 'the work that runs in the background is not listed',
    end: 'poor',
    asks: 2,
    model: ({ asked, turn }) => {
      if (asked !== 'work') return undefined;
      if (turn.toolResults.length > 0) return { text: 'It runs.' };
      const input = { command: 'sleep 600', description: 'a server', run_in_background: true };
      return { tools: [{ name: 'Bash', input }] };
    },
  },
  changing: {
    what: 'a file that keeps growing while it is read',
    end: 'changing',
    asks: 1,
    model: makes((ask, model) => {
      writeFileSync(ask.file, good(ask, model));
      growing.add(setInterval(() => writeFileSync(ask.file, '.', { flag: 'a' }), 5).unref());
    }),
    after: () => growing.forEach(clearInterval),
  },
  elsewhere: {
    what: 'a good document in another place than asked',
    end: 'no-document',
    asks: 2,
    model: (ask, model) => {
      const file = path.join(model.agent.folder.project, 'handoff.md');
      return isRequest(ask) ? model.write({ ...ask, file }) : undefined;
    },
  },
  refuses: {
    what: 'refuses in words',
    end: 'no-document',
    asks: 2,
    mode: 'manual',
    model: (ask) => (isRequest(ask) ? { text: 'I would rather finish my work first.' } : undefined),
  },
  asksback: {
    what: 'asks back',
    end: 'dialog',
    asks: 1,
    model: (ask) =>
      isRequest(ask) ? { tools: [{ name: 'AskUserQuestion', input: { questions: [question] } }] } : undefined,
    after: async ({ agent }) => void (await agent.waitForScreen(/Which one\?/, 5_000)),
  },
  dialog: {
    what: 'wants something that needs a permission (manual mode)',
    end: 'dialog',
    asks: 1,
    mode: 'manual',
    model: (ask) => (isRequest(ask) ? bash('mkdir build') : undefined),
    after: async ({ agent }) => void (await agent.waitForScreen(/Do you want/, 5_000)),
  },
  forever: {
    what: 'goes on working for ever',
    end: 'no-document',
    asks: 2,
    interrupts: 2,
    model: (ask) => (isRequest(ask) ? { text: 'Let me see.', hang: true } : undefined),
  },
  crashes: {
    what: 'the client crashes when it is asked',
    end: 'ended',
    in: 'none',
    asks: 1,
    model: (ask, model) => {
      if (!isRequest(ask)) return undefined;
      model.agent.kill('SIGKILL');
      return { hang: true };
    },
  },
  crashedafter: {
    what: 'the client crashes when the document is written',
    end: 'ended',
    in: 'none',
    asks: 1,
    model: (ask, model) => {
      if (!isRequest(ask) || ask.turn.toolResults.length === 0) return undefined;
      model.agent.kill('SIGKILL');
      return { hang: true };
    },
  },
} satisfies Record<string, Kind>;

function poorThenGood(): Disobedience {
  return (ask, model) => (ask.asked === 'document' ? model.write(ask, 'There is nothing to hand over.') : undefined);
}

function fails(times: number): Disobedience {
  let failed = 0;
  return (ask) => {
    if (!isRequest(ask) || failed === times) return undefined;
    failed += 1;
    return { error: { status: 529, body: errorBody('overloaded_error', 'Overloaded') } };
  };
}

const stopped = new Gate();

/** Not as it should be at first, and good in the end; or something after the clear. */
export const late = {
  poor: { what: 'a poor document first, then a good one', end: 'done', asks: 2, mode: 'manual', model: poorThenGood() },
  bybash: {
    what: 'the document written by a shell command',
    end: 'done',
    asks: 1,
    mode: 'acceptEdits',
    model: (ask, model) => {
      if (!isRequest(ask)) return undefined;
      if (ask.turn.toolResults.length > 0) return said;
      const draft = path.join(model.agent.folder.project, 'draft.md');
      writeFileSync(draft, good(ask, model));
      mkdirSync(path.dirname(ask.file), { recursive: true });
      return bash(`cp ${draft} ${ask.file}`);
    },
  },
  workson: {
    what: 'written, and then works on in the same turn',
    end: 'done',
    asks: 2,
    model: ({ asked, turn }) => {
      const [result] = turn.toolResults;
      if (asked !== 'document' || result?.name !== 'Write') return undefined;
      return { text: 'One thing more.', delayMs: 2_500, ...bash('touch more.txt') };
    },
  },
  atlast: {
    what: 'goes on working past the deadline, and writes it when it is asked again',
    end: 'done',
    asks: 2,
    interrupts: 1,
    model: ({ asked }) => (asked === 'document' ? { text: 'Let me see.', hang: true } : undefined),
  },
  overloaded: { what: 'the service fails while it writes (529, three times)', end: 'done', asks: 2, model: fails(3) },
  figures: {
    what: 'figures of the context that jump, are missing and go backwards',
    end: 'done',
    asks: 1,
    trigger: 'rule',
    model: (ask, model) => {
      if (!isRequest(ask)) return undefined;
      model.percent = ask.turn.toolResults.length === 0 ? 99 : 1;
      return { ...model.write(ask), ...(ask.turn.toolResults.length === 0 ? {} : { usage: {} }) };
    },
  },
  readsonly: {
    what: 'after the clear: reads the document, and stops',
    end: 'done',
    asks: 1,
    model: (ask) =>
      ask.asked === 'resume' && ask.turn.toolResults.length > 0 ? { text: 'I have read it.' } : undefined,
  },
  unread: {
    what: 'after the clear: answers without reading the document',
    end: 'not-confirmed',
    in: 'old',
    asks: 1,
    model: ({ asked }) => (asked === 'resume' ? { text: 'Nothing to do.' } : undefined),
  },
  silent: {
    what: 'after the clear: never answers',
    end: 'not-confirmed',
    in: 'old',
    asks: 1,
    interrupts: 1,
    model: ({ asked }) => (asked === 'resume' ? { text: 'Let me see.', hang: true } : undefined),
  },
  killed: {
    what: 'after the clear: the client crashes',
    end: 'ended',
    in: 'none',
    asks: 1,
    model: (ask, model) => {
      if (ask.asked !== 'resume') return undefined;
      model.agent.kill('SIGKILL');
      return { hang: true };
    },
    after: (_stage, { steps }) => {
      if (!steps.some(({ step }) => step === 'saved')) throw new Error('it was cleared without a document');
    },
  },
  takenover: {
    what: 'after the clear: a person goes on in the fresh context',
    end: 'taken-over',
    in: 'new',
    asks: 1,
    model: ({ asked }) => (asked === 'resume' ? stopped.hold('Let me see.') : undefined),
    meanwhile: async ({ agent }) => {
      await stopped.reached();
      await agent.type('something else is more important');
      stopped.open();
    },
  },
} satisfies Record<string, Kind>;
