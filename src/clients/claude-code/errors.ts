import { type ErrorKind, errorKindOf } from '../../model/error-kind.ts';

/** The client's own words for kinds of errors, where they are not the shared ones (2.1.325). */
const words: Readonly<Record<string, ErrorKind>> = {
  oauth_org_not_allowed: 'authentication_failed',
  account_on_hold: 'authentication_failed',
  verification_required: 'authentication_failed',
  cloud_credential_error: 'authentication_failed',
};

export function errorKind(word: string | null): ErrorKind {
  return errorKindOf(word ?? 'unknown', words);
}
