import { describe, expect, it } from 'vitest';
import { errorKind } from './errors.ts';

describe('errors in shared words', () => {
  it.each([
    ['rate_limit', 'rate_limit'],
    ['overloaded', 'overloaded'],
    ['billing_error', 'billing_error'],
    ['oauth_org_not_allowed', 'authentication_failed'],
    ['account_on_hold', 'authentication_failed'],
    ['verification_required', 'authentication_failed'],
    ['cloud_credential_error', 'authentication_failed'],
    ['something_new', 'unknown'],
    ['constructor', 'unknown'],
    [null, 'unknown'],
  ])('%s is %s', (word, kind) => expect(errorKind(word)).toBe(kind));
});
