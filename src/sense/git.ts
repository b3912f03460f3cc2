import { execFile } from 'node:child_process';

/** What of a repository one has to know to believe a document that names a commit. Nothing of it is changed or run. */
export interface Git {
  /** The commit that HEAD is; null: there is none, or no repository. */
  head(dir: string): Promise<string | null>;
  hasCommit(dir: string, id: string): Promise<'yes' | 'no' | 'unknown'>;
}

const answerMs = 5_000;
/** What a repository's own settings could have git do or start is switched off. */
const quietly = ['-c', 'core.fsmonitor=false', '-c', 'core.hooksPath=/dev/null', '-c', 'protocol.allow=never'];

export function localGit(): Git {
  return {
    async head(dir) {
      const { code, text } = await git(dir, ['rev-parse', '--verify', '--quiet', 'HEAD^{commit}']);
      return code === 0 ? text.trim() : null;
    },
    async hasCommit(dir, id) {
      if (!/^[0-9a-f]{7,64}$/.test(id)) return 'no';
      const { code } = await git(dir, ['rev-parse', '--verify', '--quiet', `${id}^{commit}`]);
      return code === 0 ? 'yes' : code === 1 ? 'no' : 'unknown';
    },
  };
}

function git(dir: string, args: string[]): Promise<{ code: number; text: string }> {
  const env = {
    PATH: process.env.PATH,
    LANG: 'C.UTF-8',
    HOME: '/nonexistent',
    GIT_CONFIG_NOSYSTEM: '1',
    GIT_CONFIG_GLOBAL: '/dev/null',
    GIT_TERMINAL_PROMPT: '0',
    GIT_OPTIONAL_LOCKS: '0',
    GIT_NO_LAZY_FETCH: '1',
  };
  const options = { cwd: dir, env, timeout: answerMs, killSignal: 'SIGKILL' as const, maxBuffer: 64 * 1024 };
  return new Promise((resolve) => {
    execFile('git', [...quietly, ...args], options, (error, stdout) => {
      const code = error === null ? 0 : typeof error.code === 'number' ? error.code : -1;
      resolve({ code, text: stdout });
    });
  });
}
