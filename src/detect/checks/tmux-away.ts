import { noThresholds, ofHost, outsideCheck, tells } from '../check.ts';

declare module '../../model/check.ts' {
  interface CheckNames {
    'tmux-away': true;
  }
}

export const tmuxAway = outsideCheck({
  name: 'tmux-away',
  title: 'has a tmux server that does not answer',
  evidence: 'what the tmux server answers, and who was in it',
  why: 'Its agents go on, but nothing can be typed to them.',
  about: 'host',
  thresholds: noThresholds,
  ladder: tells('once'),
  worth: ofHost('the server does not answer'),
});
