import type { Sent } from './channel.ts';

export interface PostTarget {
  url?: string | undefined;
  urlEnv?: string | undefined;
  tokenEnv?: string | undefined;
}

export interface Post {
  body: string;
  headers: Record<string, string>;
}

/** POSTs once. No reason repeats the URL or what an error says about it: the URL may be the secret. */
export async function post(
  target: PostTarget,
  content: Post,
  environment: NodeJS.ProcessEnv,
  timeoutMs: number,
): Promise<Sent> {
  const url = urlOf(target, environment);
  if (!url.ok) return url;
  const headers: Record<string, string> = { 'user-agent': 'watchkeeper', ...content.headers };
  if (target.tokenEnv !== undefined) {
    const token = fromEnvironment(target.tokenEnv, environment);
    if (!token.ok) return token;
    // Anything else could end the header and begin another.
    if (!/^[\x21-\x7e]+$/.test(token.value)) {
      return { ok: false, reason: `the environment variable ${target.tokenEnv} holds no token (visible ASCII only)` };
    }
    headers.authorization = `Bearer ${token.value}`;
  }
  try {
    const response = await fetch(url.value, {
      method: 'POST',
      headers,
      body: content.body,
      // A redirect would take message and token to where nobody configured.
      redirect: 'manual',
      signal: AbortSignal.timeout(timeoutMs),
    });
    await response.body?.cancel().catch(() => {});
    if (response.ok) return { ok: true };
    const redirect = response.status >= 300 && response.status < 400;
    const note = redirect ? ': a redirect, which is not followed' : '';
    return { ok: false, reason: `the receiver answered ${response.status}${note}` };
  } catch (error) {
    return { ok: false, reason: fetchFailure(error, timeoutMs) };
  }
}

type Value = { ok: true; value: string } | { ok: false; reason: string };

function urlOf(target: PostTarget, environment: NodeJS.ProcessEnv): Value {
  const { url, urlEnv } = target;
  const found: Value =
    urlEnv !== undefined ? fromEnvironment(urlEnv, environment) : { ok: true, value: url?.trim() ?? '' };
  if (!found.ok || isHttpUrl(found.value)) return found;
  const where = urlEnv === undefined ? 'url' : `the environment variable ${urlEnv}`;
  return { ok: false, reason: `${where} holds no http or https URL without user name and password` };
}

function fromEnvironment(name: string, environment: NodeJS.ProcessEnv): Value {
  const value = environment[name]?.trim() ?? '';
  return value === ''
    ? { ok: false, reason: `the environment variable ${name} is not set for the daemon` }
    : { ok: true, value };
}

function isHttpUrl(text: string): boolean {
  if (!URL.canParse(text)) return false;
  const { protocol, username, password } = new URL(text);
  return (protocol === 'http:' || protocol === 'https:') && username === '' && password === '';
}

function fetchFailure(error: unknown, timeoutMs: number): string {
  if (!(error instanceof Error)) return 'the receiver could not be reached';
  if (error.name === 'TimeoutError') return `the receiver did not answer within ${timeoutMs / 1000} s`;
  const { cause } = error;
  if (!(cause instanceof Error)) return 'the receiver could not be reached';
  if (cause.message === 'bad port') return 'the URL has a port that is kept for other protocols and refused by fetch';
  const code = 'code' in cause ? String(cause.code) : '';
  return `the receiver could not be reached${/^[A-Z0-9_]{1,60}$/.test(code) ? ` (${code})` : ''}`;
}
