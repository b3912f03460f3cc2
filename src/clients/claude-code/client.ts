import path from 'node:path';
import type { AgentClient } from '../client.ts';
import { asString, asTimeMs, parseObject } from '../json.ts';
import { parseInboxFile } from './hooks.ts';
import { compactionPoint, contextWindow } from './models.ts';
import { parseRegistry } from './registry.ts';
import { findInputBox } from './screen.ts';
import { readScreen } from './screen-state.ts';
import { parseTranscriptLine } from './transcript.ts';

export const claudeCode: AgentClient = {
  name: 'claude-code',
  environmentNames: ['CLAUDE_CONFIG_DIR', 'HOME'],
  configDir(environment, cwd) {
    const { CLAUDE_CONFIG_DIR: own, HOME: home } = environment;
    if (own !== undefined && own !== '') {
      if (path.isAbsolute(own)) return path.normalize(own);
      return cwd === null ? null : path.resolve(cwd, own);
    }
    return home !== undefined && path.isAbsolute(home) ? path.join(home, '.claude') : null;
  },
  defaultConfigDir: (home) => path.join(home, '.claude'),
  // Started by its path among the installed versions it is called by its number.
  mayBe: (process) => /^(claude(\.exe)?|\d+\.\d+\.\d+.*)$/.test(process.command),
  isProgram(executable, words) {
    const installed =
      /\/(@anthropic-ai\/claude-code(-[\w-]+)?\/(bin\/)?claude(\.exe)?|claude\/versions\/\d[\w.-]*)( \(deleted\))?$/;
    if (executable !== null && installed.test(executable)) return true;
    return words?.[1]?.endsWith('/@anthropic-ai/claude-code/cli.js') === true;
  },
  registryFolder: (configDir) => path.join(configDir, 'sessions'),
  registryFile: (configDir, pid) => path.join(configDir, 'sessions', `${pid}.json`),
  parseRegistry,
  projectsFolder: (configDir) => path.join(configDir, 'projects'),
  transcriptFile: (configDir, cwd, sessionId) =>
    path.join(configDir, 'projects', cwd.replace(/[^a-zA-Z0-9]/g, '-'), `${sessionId}.jsonl`),
  transcriptName: (sessionId) => `${sessionId}.jsonl`,
  sessionOf: (fileName) => /^([0-9a-f-]{8,64})\.jsonl$/i.exec(fileName)?.[1] ?? null,
  parseTranscriptLine,
  subagentFolder: (transcript) => path.join(transcript.replace(/\.jsonl$/, ''), 'subagents'),
  subagentFiles: (id) => ({ transcript: `agent-${id}.jsonl`, meta: `agent-${id}.meta.json` }),
  subagentOf: (fileName) => /^agent-([\w-]{1,80})\.jsonl$/.exec(fileName)?.[1] ?? null,
  isSubagentFinished,
  historyFile: (configDir) => path.join(configDir, 'history.jsonl'),
  parseHistoryLine,
  findInputBox,
  readScreen,
  contextWindow,
  compactionPoint,
  parseInboxFile,
};

function isSubagentFinished(meta: string): boolean {
  return parseObject(meta)?.finished === true;
}

function parseHistoryLine(line: string): { sessionId: string; command: string; atMs: number } | null {
  const entry = parseObject(line);
  const sessionId = asString(entry?.sessionId);
  const command = /^\/([\w:.-]{1,80})(\s|$)/.exec(asString(entry?.display) ?? '')?.[1];
  const atMs = asTimeMs(entry?.timestamp);
  return sessionId === null || command === undefined || atMs === null ? null : { sessionId, command, atMs };
}
