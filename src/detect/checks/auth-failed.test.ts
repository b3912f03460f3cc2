import { describe, expect, it } from 'vitest';
import { agentView as view } from '../../../test/runs/agent-view.ts';
import { looked } from '../../../test/runs/looked.ts';
import { errorKind } from '../../clients/claude-code/errors.ts';
import type { AgentView } from '../../model/agent.ts';
import { authFailed } from './auth-failed.ts';

const failed = (errorKind: string | null, error: string | null = 'Please run /login') =>
  view('idle', null, 1, { lastTurn: 'failed', lastTurnAtMs: 1, errorKind, error });
const refused = (status: number, times: number) =>
  view('retrying', null, 1, { refused: { status, times, sinceMs: 1 }, turnIsOpen: true });

const healthy: [string, AgentView][] = [
  [
    'an error of another kind that talks of a login',
    failed('server_error', 'authentication_failed: Please run /login'),
  ],
  ['an error of no kind', failed(null, 'Invalid API key')],
  ['an overloaded service', failed('overloaded')],
  ['a login that is renewed at the second refusal', refused(401, 2)],
  ['an overloaded service, however often', refused(529, 9)],
  ['an error of the service', refused(500, 9)],
  ['an agent at its prompt that was refused before', { ...refused(401, 9), ...view('idle', null, 1) }],
  ['a turn that is tried again', { ...failed('authentication_failed'), ...view('working', 'thinking', 0) }],
  ['a newer turn whose end is not on record yet', { ...failed('authentication_failed'), turnIsOpen: true }],
  ['a turn that ended well after it', { ...failed('authentication_failed'), lastTurn: 'ok' }],
  ['an agent that has ended', { ...failed('authentication_failed'), ...view('ended', null, 1) }],
];

describe('auth-failed', () => {
  it.each(healthy)('raises nothing for %s', (_, given) => expect(looked(authFailed, given)).toBeNull());
  it.each([401, 403])('raises a login that is refused with %s three times, before the client gives up', (status) =>
    expect(looked(authFailed, refused(status, 3))).toBe(
      `${status}, not let in: refused 3 times in a row, and the client goes on trying`,
    ),
  );
  it.each([
    'authentication_failed',
    'oauth_org_not_allowed',
    'account_on_hold',
    'verification_required',
    'billing_error',
    'cloud_credential_error',
  ])('raises a turn given up as %s', (kind) =>
    expect(looked(authFailed, failed(errorKind(kind)))).toBe('Please run /login'),
  );
});
