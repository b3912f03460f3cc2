import { expect, it } from 'vitest';
import { slackBody } from './chat.ts';
import { bounded } from './message.ts';
import { ntfyPost } from './ntfy.ts';

const message = bounded({
  v: 1,
  id: 'a',
  agent: 'shop-ps',
  project: 'shop',
  host: 'vm',
  check: 'handoff-failed',
  subject: null,
  severity: 'critical',
  event: 'opened',
  since: '2026-11-19T15:23:09.035Z',
  title: 'shop-ps failed',
  text: 'its document is /srv/shop/handoff-1.md, see evil.com\u200b/x',
  what_to_do: ['watchkeeper handoffs shop-ps'],
  attach: null,
});

it.each([
  ['ntfy', ntfyPost(message).body],
  ['slack', (slackBody(message) as { text: string }).text],
])('%s: a name that would become a link looks as it is written, and is none', (_channel, text) => {
  expect(text).toContain('its document is /srv/shop/handoff-1.\u200bmd, see evil.\u200bcom\\u{200b}/x');
});
