// Run by the hook script, only where an allowance for its client exists: prints what the client is to be told, or nothing.
import { readFileSync } from 'node:fs';
import { hookAnswer } from '../../actions/allowances.ts';
import { findHome } from '../../home/home.ts';

const event = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(readFileSync(0));
const answer = hookAnswer(findHome({ WATCHKEEPER_HOME: process.argv[2] ?? '' }), event, Date.now());
if (answer === null) process.exitCode = 1;
else process.stdout.write(`${answer}\n`);
