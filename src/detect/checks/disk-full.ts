import { noThresholds, ofHost, outsideCheck, tells } from '../check.ts';

declare module '../../model/check.ts' {
  interface CheckNames {
    'disk-full': true;
  }
}

export const diskFull = outsideCheck({
  name: 'disk-full',
  title: 'has a full disk',
  evidence: 'what the file system and the database answer',
  why: 'Nothing is done that cannot be recorded first.',
  about: 'host',
  thresholds: noThresholds,
  ladder: tells('once'),
  worth: ofHost('the answers of the file system or of the database'),
});
