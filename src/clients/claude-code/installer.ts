import type { Installer } from '../installer.ts';
import { eventsFor } from './event-versions.ts';
import { hookScript } from './hook-script.ts';
import { hookEvents } from './hooks.ts';
import { addInstructions, hasInstructions, removeInstructions } from './instructions.ts';
import { addToSettings, isEmptySettings, removeFromSettings, viewSettings } from './settings.ts';

export const installer: Installer = {
  script: hookScript,
  events: hookEvents,
  eventsFor,
  settings: {
    ofUser: 'settings.json',
    ofProject: '.claude/settings.local.json',
    shared: '.claude/settings.json',
    view: viewSettings,
    add: addToSettings,
    remove: removeFromSettings,
    isEmpty: isEmptySettings,
  },
  instructions: {
    files: ['CLAUDE.md', 'AGENTS.md'],
    add: addInstructions,
    remove: removeInstructions,
    has: hasInstructions,
  },
  notes: {
    installed:
      'Running agents take the hooks up by themselves within seconds (seen on Claude Code 2.1.325); restart one that does not.',
    statusLine: 'It hides "esc to interrupt"',
  },
  versions: {
    npmPackage: '@anthropic-ai/claude-code',
    places: [
      '.local/bin/claude',
      '.claude/local/node_modules/@anthropic-ai/claude-code/cli.js',
      '.claude/local/node_modules/.bin/claude',
    ],
    ofPlace: (program) =>
      /\/(?:claude\/versions|Caskroom\/claude-code(?:@\w+)?)\/(\d+\.\d+\.\d+)/.exec(program)?.[1] ?? null,
  },
};
