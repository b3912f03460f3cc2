// Every kind of deed, by its name in the ledger, one line each. The engine reads them from here.

export { ClientsCommand as command } from './command.ts';
export { Interrupt as interrupt } from './interrupt.ts';
export { Notify as notify } from './notify.ts';
export { Prompt as prompt } from './prompt.ts';
export { Word as ack, Word as authority } from './word.ts';
