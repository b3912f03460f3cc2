import { expect, it } from 'vitest';
import { defaultConfig } from '../config/schema.ts';
import type { Authority } from '../model/agent.ts';
import { type AuthorityGround, authorityNow } from './authority.ts';

const config = defaultConfig();

it.each<[string, string, string | null, Authority | null, string[], Authority, AuthorityGround['by']]>([
  ['by its name', 'shop-ps', 'shop-ps', null, ['api-ps'], 'manage', 'rule'],
  ['a further pane by its name', 'main.1', 'main', 'nudge', ['main'], 'nudge', 'person'],
  ['without a pane nothing', 'shop-ps', null, 'manage', [], 'observe', 'outside-tmux'],
  ['its session renamed by a person who takes it over', 'shop-ps', 'mine', null, [], 'observe', 'rename'],
  ['renamed to another that is looked after', 'shop-ps', 'store-ps', null, [], 'manage', 'rule'],
  ['an unmanaged one does not become managed by it', 'mine', 'shop-ps', null, [], 'observe', 'no-rule'],
  ['what a person said of it goes with it', 'shop-ps', 'mine', 'nudge', [], 'nudge', 'person'],
  ['its name is that of another session by now', 'shop-ps', 'store-ps', null, ['shop-ps'], 'observe', 'rename'],
  ['the same, whatever was said of the name', 'shop-ps', 'mine', 'manage', ['shop-ps'], 'observe', 'rename'],
])('what may be done to an agent: %s', (_what, agent, session, said, others, authority, by) => {
  const now = authorityNow(agent, { session, said, config, others: () => others });
  expect(now).toMatchObject({ authority, ground: { by } });
});
