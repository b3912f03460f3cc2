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
  why: 'When many agents fail at once the cause is outside of them: tmux, the network, the account or the service. That is one trouble, not many.',
  about: 'host',
  thresholds: {
    'judging.massCount': count(3, 'How many agents in the same trouble at once count as one trouble of the host.'),
    'judging.massPercent': percent(30, 'How many percent of all agents they have to be as well.'),
    'judging.massMinutes': minutes(5, 'Troubles that begin within this time count as beginning at once.'),
  },
  ladder: tells('repeat'),
  worth: onRecord('the findings of the agents', 'So many agents were in that trouble at once.'),
});
