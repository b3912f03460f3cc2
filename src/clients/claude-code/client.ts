import path from 'node:path';
import type { AgentClient, RecordSource, Sources } from '../client.ts';
import { asString, asTimeMs, parseObject } from '../json.ts';
import { dialect } from './dialect.ts';
import { excuses } from './excuses.ts';
import { parseInboxFile } from './hooks.ts';
import { installer } from './installer.ts';
import { compactionPoint, contextWindow } from './models.ts';
import { permissions } from './permission.ts';
import { parseRegistry } from './registry.ts';
import { isTranscriptRecord, parseRunLine } from './run.ts';
import { readScreen } from './screen-state.ts';
import { toolNames } from './tools.ts';
import { parseTranscriptLine } from './transcript.ts';

const record: RecordSource = {
  root: (configDir) => path.join(configDir, 'projects'),
  file: (configDir, cwd, sessionId) =>
    path.join(configDir, 'projects', cwd.replace(/[^a-zA-Z0-9]/g, '-'), `${sessionId}.jsonl`),
  fileName: (sessionId) => `${sessionId}.jsonl`,
  sessionOf: (fileName) => /^([0-9a-f-]{8,64})\.jsonl$/i.exec(fileName)?.[1] ?? null,
  parseLine: parseTranscriptLine,
};

export const claudeCode: AgentClient & { readonly sources: Required<Sources>; readonly configKey: 'claudeCode' } = {
  name: 'claude-code',
  title: 'Claude Code',
  recognition: {
    program: 'claude',
    environmentNames: ['CLAUDE_CONFIG_DIR', 'HOME'],
    configDir(environment, cwd) {
      const { CLAUDE_CONFIG_DIR: own, HOME: home } = environment;
      if (own !== undefined && own !== '') {
        if (path.isAbsolute(own)) return path.normalize(own);
        return cwd === null ? null : path.resolve(cwd, own);
      }
      return home !== undefined && path.isAbsolute(home) ? defaultConfigDir(home) : null;
    },
    defaultConfigDir,
    // Started by its path among the installed versions it is called by its number.
    mayBe: (process) => /^(claude(\.exe)?|\d+\.\d+\.\d+.*)$/.test(process.command),
    isProgram(executable, words) {
      const installed =
        /\/(@anthropic-ai\/claude-code(-[\w-]+)?\/(bin\/)?claude(\.exe)?|claude\/versions\/\d[\w.-]*)( \(deleted\))?$/;
      if (executable !== null && installed.test(executable)) return true;
      return words?.[1]?.endsWith('/@anthropic-ai/claude-code/cli.js') === true;
    },
  },
  sources: {
    registry: {
      folder: (configDir) => path.join(configDir, 'sessions'),
      file: (configDir, pid) => path.join(configDir, 'sessions', `${pid}.json`),
      pidOf: (fileName) => Number(/^(\d{1,10})\.json$/.exec(fileName)?.[1] ?? Number.NaN) || null,
      parse: parseRegistry,
    },
    record,
    subagents: {
      folder: (record) => path.join(record.replace(/\.jsonl$/, ''), 'subagents'),
      files: (id) => ({ record: `agent-${id}.jsonl`, meta: `agent-${id}.meta.json` }),
      idOf: (fileName) => /^agent-([\w-]{1,80})\.jsonl$/.exec(fileName)?.[1] ?? null,
      isFinished: isSubagentFinished,
    },
    hooks: { parse: (text) => (text.startsWith('wk1 hook ') ? parseInboxFile(text) : null) },
    statusLine: { parse: (text) => (text.startsWith('wk1 statusline ') ? parseInboxFile(text) : null) },
    typedHistory: {
      file: (configDir) => path.join(configDir, 'history.jsonl'),
      parseLine: parseHistoryLine,
    },
    screen: { read: readScreen },
  },
  dialect,
  models: { contextWindow, compactionPoint },
  tools: toolNames,
  excuses,
  configKey: 'claudeCode',
  installer,
  permissions,
  runs: {
    noun: 'transcript',
    folders: (home, configDirs) => [defaultConfigDir(home), ...configDirs].map(record.root),
    isRecord: isTranscriptRecord,
    parseLine: parseRunLine,
  },
  resume({ sessionId, record: file, home }) {
    const configDir = file === null ? null : path.dirname(path.dirname(path.dirname(file)));
    // It looks for the session where its configuration is.
    const isUsual = configDir === null || (home !== null && configDir === defaultConfigDir(home));
    const variables: Record<string, string> = isUsual ? {} : { CLAUDE_CONFIG_DIR: configDir };
    return { variables, argv: ['claude', '--resume', sessionId] };
  },
  trial: async () => (await import('./conform/trial.ts')).trial,
};

function defaultConfigDir(home: string): string {
  return path.join(home, '.claude');
}

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
