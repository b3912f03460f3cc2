/** The client's own commands, with their other names (2.1.325). They act on the client, some of them for good. */
const ownCommands = new Set(
  [
    'add-dir advisor agents allowed-tools android app artifacts autocompact auto-mode-setup autofix-pr background bashes bg',
    'branch break-reminder breaks brief btw bug cd checkpoint chrome clear cloud-plugins color compact config context',
    'continue copy cost daemon design-consent design-login design-revoke desktop diagnostics diff doctor downtime effort',
    'exit export extra-usage fast feedback files focus fork goal heapdump help hooks ide init insights install',
    'install-github-app install-slack-app ios keybindings list-agents login logout loop loops marketplace mcp memory',
    'memory-pause mobile model new output-style passes pause-memory peers permissions plan plugin plugins powerup',
    'pr-comments privacy-settings pro-trial-expired quit radio rate-limit-options rc recap release-notes reload-plugins',
    'reload-skills remote remote-control remote-env rename reset restart resume review rewind routines sandbox schedule',
    'scroll-speed security-review session settings setup-bedrock setup-vertex skill-doctor skills stats status',
    'statusline stickers stop subtask tasks team-onboarding teleport terminal-setup theme think-back todos toggle-memory',
    'tp tui ultraplan ultrareview undo update upgrade usage usage-credits version vim voice web-setup wellbeing workflows',
  ].flatMap((line) => line.split(' ')),
);

/** The client's own command that this name is, or might be completed to in its box; null: none. */
export function ownCommandFor(name: string): string | null {
  const asked = name.toLowerCase();
  for (const own of ownCommands) if (own.startsWith(asked)) return own;
  return null;
}
