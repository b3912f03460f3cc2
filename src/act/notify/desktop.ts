import { type BoundedMessage, bodyText } from './message.ts';

const bodyCharsMax = 1_000;

/** How notify-send finds the desktop of the user. */
export const desktopVariables = [
  'DBUS_SESSION_BUS_ADDRESS',
  'XDG_RUNTIME_DIR',
  'DISPLAY',
  'WAYLAND_DISPLAY',
  'XAUTHORITY',
] as const;

export function desktopArgv(message: BoundedMessage): string[] {
  const urgency = message.severity === 'critical' && message.event !== 'closed' ? 'critical' : 'normal';
  const title = message.title === '' ? 'Watchkeeper' : message.title;
  // `--` ends the options: a title may begin with a dash.
  return ['notify-send', '--app-name=Watchkeeper', `--urgency=${urgency}`, '--', title, body(message)];
}

function body(message: BoundedMessage): string {
  const text = bodyText(message);
  const cut = text.length > bodyCharsMax ? `${text.slice(0, bodyCharsMax)}…`.toWellFormed() : text;
  return (
    cut
      // notify-send turns `\033` back into the character it stands for.
      .replaceAll('\\', '\\\\')
      // The desktop reads the body as markup.
      .replaceAll('&', '&amp;')
      .replaceAll('<', '&lt;')
      .replaceAll('>', '&gt;')
  );
}
