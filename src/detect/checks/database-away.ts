import { noThresholds, ofHost, outsideCheck, tells } from '../check.ts';

declare module '../../model/check.ts' {
  interface CheckNames {
    'database-away': true;
  }
}

export const databaseAway = outsideCheck({
  name: 'database-away',
  title: 'has no database',
  evidence: 'what the database answers',
  why: 'Without the database nothing is done to any agent.',
  about: 'host',
  thresholds: noThresholds,
  ladder: tells('once'),
  worth: ofHost('the answers of the database'),
});
