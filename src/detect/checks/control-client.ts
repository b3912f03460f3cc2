import { noThresholds, ofHost, outsideCheck, tells } from '../check.ts';

declare module '../../model/check.ts' {
  interface CheckNames {
    'control-client': true;
  }
}

export const controlClient = outsideCheck({
  name: 'control-client',
  title: 'cannot be typed to',
  evidence: "tmux's own list of its clients",
  why: 'A terminal in control mode (`tmux -CC`) has the pane, so nothing is typed there. You should know why nothing happens.',
  thresholds: noThresholds,
  ladder: tells('once'),
  worth: ofHost("tmux's own list of its clients, and our own refusal to type"),
});
