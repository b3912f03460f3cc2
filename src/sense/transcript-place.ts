import path from 'node:path';
import type { AgentClient } from '../clients/client.ts';
import type { Files } from '../model/world.ts';

const projectsMax = 20_000;

/** The session's file: usually where its directory says, else wherever its id is found. Never "the newest one here". */
export function findTranscript(
  client: AgentClient,
  files: Files,
  configDir: string,
  cwd: string | null,
  sessionId: string,
): string | null {
  if (cwd !== null) {
    const expected = client.transcriptFile(configDir, cwd, sessionId);
    if (files.info(expected) !== null) return expected;
  }
  const projects = client.projectsFolder(configDir);
  for (const name of (files.list(projects) ?? []).slice(0, projectsMax)) {
    const candidate = path.join(projects, name, client.transcriptName(sessionId));
    if (files.info(candidate) !== null) return candidate;
  }
  return null;
}
