import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { hookEvents } from './hooks.ts';
import { addToSettings, isEmptySettings, removeFromSettings, viewSettings } from './settings.ts';

const script = "/data/o'brien/hooks/claude-code.sh";
const word = `'/data/o'\\''brien/hooks/claude-code.sh'`;
const events = ['Stop', 'PreToolUse'];
const group = { hooks: [{ type: 'command', command: `${word} hook`, timeout: 5 }] };
const wanted = { script, events, statusLine: 'chain', below: null } as const;

function added(text: string, more: Partial<Parameters<typeof addToSettings>[1]> = {}): string {
  const result = addToSettings(text, { ...wanted, ...more });
  if (!result.ok) throw new Error(result.message);
  return result.value;
}

function removed(text: string, before: string | null = null): string {
  const result = removeFromSettings(text, script, before);
  if (!result.ok) throw new Error(result.message);
  return result.value;
}

const settings = (value: unknown) => JSON.stringify(value, null, 2);

describe('hooks', () => {
  it('stand beside those of other tools, in their order', () => {
    const other = { matcher: 'Bash', hooks: [{ type: 'command', command: 'check.sh' }] };
    const text = added(settings({ model: 'x', hooks: { PreToolUse: [other], PostToolUse: [other] } }));
    const { hooks } = JSON.parse(text);
    expect(hooks).toEqual({ PreToolUse: [other, group], PostToolUse: [other], Stop: [group] });
    expect(Object.keys(JSON.parse(text))).toEqual(['model', 'hooks']);
  });

  it('are put in once', () => {
    const once = added('{}');
    expect(added(once)).toBe(once);
  });

  it('of an event that is no longer wanted are taken out, of a new one put in', () => {
    const now = JSON.parse(added(added('{}'), { events: ['Stop', 'SessionEnd'] }));
    expect(now).toEqual({ hooks: { Stop: [group], SessionEnd: [group] } });
  });

  it('are found by where the script lies, also those of another home', () => {
    const other = added('{}', { script: '/elsewhere/hooks/claude-code.sh' });
    const view = viewSettings(added(other));
    expect(view.ok && [...view.value.scripts].map(([name, found]) => [name, [...found]])).toEqual([
      ['/elsewhere/hooks/claude-code.sh', events],
      [script, events],
    ]);
    expect(removed(added(other))).toBe(other);
  });

  it.each([
    'check.sh',
    "'/data/hooks/claude-code.sh'",
    "'/data/hooks/claude-code.sh' other",
    "'/data/hooks/claude-code.sh' hook; rm x",
    "'/data/hooks/claude-code.sh' hook && beep",
    'hooks/claude-code.sh hook',
    "'/data/hooks/claude-code.sh' hook a b",
    '$HOME/hooks/claude-code.sh hook',
  ])('of somebody else are not ours: %s', (command) => {
    const view = viewSettings(settings({ hooks: { Stop: [{ hooks: [{ type: 'command', command }] }] } }));
    expect(view.ok && view.value.scripts.size).toBe(0);
  });

  it('moved by hand into a group with others are found and taken out alone', () => {
    const theirs = { type: 'command', command: 'beep' };
    const text = settings({ hooks: { Stop: [{ hooks: [theirs, ...group.hooks] }] } });
    expect(JSON.parse(removed(text))).toEqual({ hooks: { Stop: [{ hooks: [theirs] }] } });
  });
});

describe('the text after taking out is the text before', () => {
  it.each([
    '{}',
    '{\n  "model": "x"\n}\n',
    '{"model":"x"}',
    '{\n\t"hooks": {\n\t\t"Stop": [\n\t\t\t{\n\t\t\t\t"hooks": []\n\t\t\t}\n\t\t]\n\t}\n}\n',
    '{\n  "statusLine": { "type": "command", "command": "echo \'hi\' \\"$x\\"", "padding": 0 }\n}\n',
    '{\n  // why\n  "model": "x", // this one\n}\n',
    '\ufeff{\r\n    "model": "x"\r\n}\r\n',
    '{"hooks":{},"hooks":{"Stop":[]}}',
  ])('%j', (text) => {
    expect(added(text)).not.toBe(text);
    const back = removed(added(text), text);
    // An empty object cannot be told from one over several lines.
    expect(back === text || (isEmptySettings(back) && isEmptySettings(text))).toBe(true);
  });

  it('but for what somebody added since', () => {
    const before = settings({ model: 'x' });
    const changed = JSON.parse(added(before));
    changed.permissions = { allow: ['Bash(ls)'] };
    changed.hooks.Stop.push({ hooks: [{ type: 'command', command: 'beep' }] });
    expect(JSON.parse(removed(settings(changed), before))).toEqual({
      model: 'x',
      hooks: { Stop: [{ hooks: [{ type: 'command', command: 'beep' }] }] },
      permissions: { allow: ['Bash(ls)'] },
    });
  });
});

describe('settings as people have them, without a record of what was there', () => {
  const folder = new URL('../../../test/fixtures/settings/', import.meta.url);
  const files = readdirSync(folder).filter((name) => name.endsWith('.json.txt'));
  // A list or object that was empty cannot be told from one that we left empty, nor an escape from its character.
  const bare = (text: string) =>
    text
      .replaceAll('\\u2699', '\u2699')
      .replaceAll(/"Stop"\s*:\s*\[\s*\]/g, '')
      .replaceAll(/"PreToolUse"\s*:\s*\[\s*\]/g, '')
      .replaceAll(/"hooks"\s*:\s*\{[\s,]*\}/g, '')
      .replaceAll(/[\s,]/g, '');
  it.each(files)('%s', (name) => {
    const text = readFileSync(new URL(name, folder), 'utf8');
    const installed = added(text, { events: hookEvents });
    expect(bare(removed(installed)).replace(/^\{\}$/, '')).toBe(bare(text).replace(/^\{\}$/, ''));
    if (isStrict(text)) expect(JSON.parse(installed.replace(/^\ufeff/, ''))).toHaveProperty('hooks.Stop');
    expect(added(installed, { events: hookEvents })).toBe(installed);
  });
});

function isStrict(text: string): boolean {
  const view = viewSettings(text);
  return view.ok && view.value.lenient === null;
}

describe('a status line', () => {
  const theirs = { type: 'command', command: `printf '%s' "it's"`, padding: 2, refreshInterval: 5 };
  const chained = `${word} statusline 'printf '\\''%s'\\'' "it'\\''s"'`;

  it('that is there goes through ours and keeps its other fields', () => {
    const text = added(settings({ statusLine: theirs }));
    expect(JSON.parse(text).statusLine).toEqual({ ...theirs, command: chained });
    expect(JSON.parse(removed(text))).toEqual({ statusLine: theirs });
    expect(added(text)).toBe(text);
  });

  it('is added only where it is wished for', () => {
    expect(JSON.parse(added('{}')).statusLine).toBeUndefined();
    const text = added('{}', { statusLine: 'add' });
    expect(JSON.parse(text).statusLine).toEqual({ type: 'command', command: `${word} statusline` });
    expect(isEmptySettings(removed(text))).toBe(true);
  });

  it('that would be hidden by a new one goes through it', () => {
    const below = { command: theirs.command, fields: theirs };
    expect(JSON.parse(added('{}', { statusLine: 'add', below })).statusLine).toEqual({ ...theirs, command: chained });
  });

  it.each([null, 'echo', { type: 'text', text: 'x' }, { type: 'command' }])(
    'that is no command stays: %j',
    (statusLine) => {
      expect(JSON.parse(added(settings({ statusLine }), { statusLine: 'add' })).statusLine).toEqual(statusLine);
    },
  );
});

describe('settings that cannot be added to are left alone and told', () => {
  it.each([
    ['{ "hooks": ', 'not JSON (line 1'],
    ['[]', 'not a JSON object'],
    ['"x"', 'not a JSON object'],
    ['{"hooks": []}', '`hooks` that are no object'],
    ['{"hooks": {"Stop": {}}}', '`hooks.Stop` that is no list'],
    ['{"hooks": {"Other": "x"}}', '`hooks.Other` that is no list'],
    ['{"hooks": {"Stop": ["x"]}}', 'an entry in `hooks.Stop`'],
    ['{"hooks": {"Stop": [{"matcher": "x"}]}}', 'an entry in `hooks.Stop`'],
  ])('%s', (text, message) => {
    expect(addToSettings(text, wanted)).toMatchObject({ ok: false, message: expect.stringContaining(message) });
    expect(removeFromSettings(text, script, null)).toMatchObject({ ok: false });
  });
});
