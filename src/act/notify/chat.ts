import { withoutDomains } from '../../model/evidence.ts';
import { type BoundedMessage, bodyText } from './message.ts';

/** Discord refuses more than 2,000 characters; Slack cuts at 40,000 and folds long before. */
const discordCharsMax = 2_000;
const slackCharsMax = 4_000;

/** `<!channel>`, `<@U1>` and `<url|text>` are Slack's markup: with these three escaped none is left. */
export function slackBody(message: BoundedMessage): object {
  const escapes: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;' };
  const text = escapedWithin(
    plain(message, withoutDomains),
    slackCharsMax,
    (character) => escapes[character] ?? character,
  );
  return { text, mrkdwn: false, link_names: false, unfurl_links: false, unfurl_media: false };
}

/** Every character Discord reads as markup gets a backslash, and nobody is mentioned whatever the text says. */
export function discordBody(message: BoundedMessage): object {
  const content = escapedWithin(plain(message), discordCharsMax, (character) =>
    /[\\*_~`|<>#:()[\]-]/.test(character) ? `\\${character}` : character,
  );
  return { content, allowed_mentions: { parse: [] }, flags: suppressEmbeds };
}

const suppressEmbeds = 4;

function plain(message: BoundedMessage, said: (text: string) => string = (text) => text): string {
  // A zero-width space: the words stay, the call to everybody does not. Only in these, so that commands stay whole.
  return `${said(message.title)}\n${bodyText(message, said)}`.replace(/@(?=everyone|here|channel)/gi, '@\u200b');
}

/** Cut after escaping, and never within an escape. */
function escapedWithin(text: string, charsMax: number, escaped: (character: string) => string): string {
  let result = '';
  for (const character of text) {
    const next = escaped(character);
    if (result.length + next.length > charsMax - 1) return `${result}…`;
    result += next;
  }
  return result;
}
