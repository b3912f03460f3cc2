import { noThresholds, ofHost, outsideCheck, tells } from '../check.ts';

declare module '../../model/check.ts' {
  interface CheckNames {
    'tmux-away': true;
  }
}

export const tmuxAway = outsideCheck({
  name: 'tmux-away',
  title: 'has a tmux server that is away',
  evidence: 'what the tmux server answers, and who was in it',
  why: 'Its agents go on and cannot be typed to.',
  about: 'host',
  thresholds: noThresholds,
  ladder: tells('once'),
  worth: ofHost('the server does not answer'),
});
