// docs/reports/handoffs.md: each kind of disobedience and interference, and how its handoff ended.
import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import type { HandoffDocument } from '../../src/handoff/documents.ts';
import type { Kind } from './disobeying.ts';

const root = path.join(path.dirname(fileURLToPath(import.meta.url)), '../..');
const whereWords = {
  old: 'the old one',
  new: 'the fresh one',
  another: "the person's own",
  none: 'its client is gone',
};

export function writeHandoffReport(played: ReadonlyMap<Kind, HandoffDocument>): void {
  const rows = [...played].map(([kind, { step, reason, steps, sha256 }]) => {
    const last = steps.at(-2)?.step ?? '';
    const end = step === 'done' ? 'done' : `failed at ${last}: ${reason}`;
    const stays = kind.in ?? (kind.end === 'done' ? 'new' : 'old');
    return `| ${kind.what} | ${end} | ${kind.asks} | ${sha256 === null ? 'no' : 'yes'} | ${whereWords[stays]} |`;
  });
  const failed = [...played.values()].filter(({ step }) => step === 'failed').length;
  const text = [
    '# Handoffs on the real client that do not go as they should',
    '',
    'Written by `test/long/handoffs-disobey.test.ts`: each kind on an agent of its own, with the real Claude Code 2.1.325, started',
    'directly, under bash and under sh. Checked each time: the end and its reason as `handoffs --json` has it, that nothing was',
    'cleared unless the document with that hash was stored before, that it was cleared once at most, that the old conversation is',
    'still there, which one the client is in, and that a human is told of every failure that nobody knows of.',
    '',
    `- kinds: ${played.size}; done: ${played.size - failed}; failed, with the reason: ${failed}`,
    '',
    '| what is done | end | asked | stored | conversation afterwards |',
    '|---|---|---|---|---|',
    ...rows,
    '',
  ].join('\n');
  const folder = path.join(root, process.env.WATCHKEEPER_REPORTS ?? 'test-results');
  mkdirSync(folder, { recursive: true });
  writeFileSync(path.join(folder, 'handoffs.md'), text);
}
