// The config folder and project of one client: what it needs to start unattended.
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';

export interface ClientFolder {
  configDir: string;
  project: string;
}

interface FolderOptions extends ClientFolder {
  /** Where the client keeps what it asked once: beside ~/.claude, but inside any other config folder. */
  stateFile: string;
  settings: Record<string, unknown>;
  trust: boolean;
  onboarded: boolean;
  keyApproved: boolean;
}

export function prepareClientFolder(options: FolderOptions): ClientFolder {
  const { configDir, project, stateFile } = options;
  mkdirSync(configDir, { recursive: true });
  mkdirSync(project, { recursive: true });
  const before = existsSync(stateFile) ? readFileSync(stateFile, 'utf8') : '{}';
  const state = JSON.parse(before);
  if (options.onboarded) state.hasCompletedOnboarding = true;
  if (options.keyApproved) state.customApiKeyResponses = { approved: ['dummy'], rejected: [] };
  const trusted = state.projects?.[project]?.hasTrustDialogAccepted === true;
  if (options.trust && !trusted) state.projects = { ...state.projects, [project]: { hasTrustDialogAccepted: true } };
  // A client that runs there already rewrites the file: it is left alone where it has everything.
  if (JSON.stringify(state) !== JSON.stringify(JSON.parse(before)) || before === '{}')
    writeFileSync(stateFile, JSON.stringify(state));
  writeFileSync(path.join(configDir, 'settings.json'), JSON.stringify(options.settings));
  return { configDir, project };
}
