import { expect, it } from 'vitest';
import { oldestOf } from '../versions.ts';
import { eventsFor } from './event-versions.ts';
import { hookEvents } from './hooks.ts';

const without = (...events: string[]) => hookEvents.filter((event) => !events.includes(event));

it.each([
  ['2.1.327', hookEvents],
  ['2.1.300', hookEvents],
  ['2.2.0', hookEvents],
  ['3.0.0-beta', hookEvents],
  ['2.1.250', without('PreModelSwitch', 'PostModelSwitch')],
  ['2.1.200', without('PreModelSwitch', 'PostModelSwitch', 'DirectoryAdded')],
])('Claude Code %s gets all that it knows', (version, events) => {
  expect(eventsFor(version)).toEqual(events);
});

it('an older client gets only the events it knows: it would ask at every start about others', () => {
  expect(eventsFor('2.0.45')).toContain('PermissionRequest');
  const first = ['PreToolUse', 'PostToolUse', 'Notification', 'UserPromptSubmit', 'SessionStart', 'SessionEnd', 'Stop'];
  for (const old of ['2.0.44', '1.0.99', '0.2.9', 'unknown', null])
    expect(eventsFor(old)).toEqual([...first, 'SubagentStop', 'PreCompact']);
});

it('of several versions the oldest counts, by its numbers', () => {
  expect(oldestOf(['2.1.327', '2.1.99', '2.1.300'])).toBe('2.1.99');
  expect(oldestOf(['2.10.0', '2.9.9', 'x'])).toBe('2.9.9');
  expect(oldestOf([])).toBeNull();
});
