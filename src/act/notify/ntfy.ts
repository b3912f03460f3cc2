import { withoutDomains } from '../../model/evidence.ts';
import { type BoundedMessage, bodyText, cutToBytes } from './message.ts';
import type { Post } from './post.ts';

/** A longer body becomes an attachment, which nobody reads on a phone. */
const bodyBytesMax = 4_000;
/** RFC 2047 allows 75 characters to an encoded word: 45 bytes are 60 in base64. */
const encodedWordBytesMax = 45;

export function ntfyPost(message: BoundedMessage): Post {
  const { priority, tag } = urgency(message);
  return {
    body: cutToBytes(bodyText(message, withoutDomains), bodyBytesMax),
    headers: {
      'content-type': 'text/plain; charset=utf-8',
      title: headerValue(message.title === '' ? 'Watchkeeper' : message.title),
      priority,
      tags: tag,
    },
  };
}

function urgency(message: BoundedMessage): { priority: string; tag: string } {
  if (message.event === 'closed') return { priority: 'low', tag: 'white_check_mark' };
  return message.severity === 'critical'
    ? { priority: 'urgent', tag: 'rotating_light' }
    : { priority: 'high', tag: 'warning' };
}

/** Visible ASCII as it is, anything else as RFC 2047 encoded words, which ntfy reads: no byte can end the header. */
function headerValue(text: string): string {
  if (/^[\x20-\x7e]*$/.test(text) && !text.includes('=?')) return text.trim();
  const words: string[] = [];
  let word = '';
  for (const character of text) {
    if (Buffer.byteLength(word + character) > encodedWordBytesMax) {
      words.push(word);
      word = '';
    }
    word += character;
  }
  return [...words, word].map((part) => `=?UTF-8?B?${Buffer.from(part).toString('base64')}?=`).join(' ');
}
