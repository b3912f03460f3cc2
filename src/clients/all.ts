// Every client, by one line each. Whoever asks for what clients can do reads them from `clients.ts`.

export { claudeCode } from './claude-code/client.ts';
export { codex } from './codex/client.ts';
