import { onRecord, outsideCheck, tells } from '../check.ts';
import { count, minutes, percent } from '../thresholds.ts';

declare module '../../model/check.ts' {
  interface CheckNames {
    'mass-failure': true;
  }
}

export const massFailure = outsideCheck({
  name: 'mass-failure',
  title: 'has many agents in the same trouble at once',
  evidence: 'the findings of all agents',
  why: 'Troubles that come together come from outside: tmux, the network, the account, the service. They are one trouble, not many.',
  about: 'host',
  thresholds: {
    'judging.massCount': count(3, 'So many agents in the same trouble at once are one trouble of the host.'),
    'judging.massPercent': percent(30, 'And so many percent of all agents.'),
    'judging.massMinutes': minutes(5, 'Troubles that begin within this time begin at once.'),
  },
  ladder: tells('repeat'),
  worth: onRecord('the findings of the agents', 'So many agents were in that trouble at once.'),
});
