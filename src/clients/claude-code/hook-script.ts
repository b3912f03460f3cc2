import { inboxFilesMax, quoted } from '../inbox.ts';

/** In blocks of 512 bytes. */
const bodyBlocksMax = 128;
/** The line behind a request that was answered. */
export const allowedMark = 'wk1 allowed';

/**
 * The script behind every hook and the status line: hands one event to the daemon as one file, by rename. Plain sh and
 * two small programs: it runs before and after every tool of the agent, and Node would cost it ten times as much. It
 * waits for nobody and never fails, whether the daemon runs or not, and says nothing, but for one case: a request for
 * which the daemon left an allowance of that very process is looked at by `answer`.
 */
export function hookScript(inbox: string, allowances: string): string {
  return `#!/bin/sh
# Watchkeeper: hands one event of Claude Code to the daemon, as one file.
umask 077
inbox=${quoted(inbox)}
allowances=${quoted(allowances)}
kind=$1
then=$2

# The client above the shell that runs this: its pid and start time say whose event this is. What is above that client
# is not looked for: one that an agent runs as a tool has hooks of its own.
owner='- -'
allowance=
pid=$PPID
for level in 1 2 3 4 5; do
  read -r line 2>/dev/null <"/proc/$pid/stat" || break
  name=\${line#*\\(}
  name=\${name%)*}
  set -f
  set -- \${line##*) }
  set +f
  case $name in
  claude | claude.exe | [0-9]*.[0-9]*.[0-9]*) owner="$pid \${20}"; allowance=$allowances/$pid-\${20}; break ;;
  sh | dash | bash | ash | ksh | zsh | fish | busybox) pid=$2 ;;
  *) break ;;
  esac
done

[ "$kind" != statusline ] || body=$(cat)

rest=
body() {
  printf 'wk1 %s %s\\n' "$kind" "$owner" || return
  if [ "$kind" = statusline ]; then printf '%s\\n' "$body"; else cat || rest=yes; fi
}

# Only where the daemon left an allowance for this client, and of a request that is whole. Which event it is and what it
# asks for is read by a program that knows JSON; looking for the word first only spares it the others.
said=
ask() {
  [ -f "$allowance" ] && [ "$kind$rest" = hook ] && grep -q PermissionRequest "$file.new" || return 0
  said=$(/bin/sh "$allowances/answer" <"$file.new") && (printf '\\n%s\\n' '${allowedMark}' >>"$file.new") || said=
}

file=
set -- "$inbox"/*
if [ $# -lt ${inboxFilesMax} ] && read -r line 2>/dev/null </proc/self/stat; then
  set -f
  set -- \${line##*) }
  # A process is told from all others by its pid and its start.
  file=$inbox/$$-\${20}
  # No file grows beyond this: what is longer comes cut. A status line of the user's own is not bound by it.
  [ "$kind" = statusline ] || { ulimit -c 0; ulimit -f ${bodyBlocksMax}; } 2>/dev/null
  { body >"$file.new" && ask && mv -f "$file.new" "$file.$kind" || { rest=yes said=; rm -f "$file.new"; }; } 2>/dev/null
fi
[ -z "$said" ] || printf '%s\\n' "$said"

if [ "$kind" = statusline ]; then
  [ -z "$then" ] || printf '%s\\n' "$body" | sh -c "$then"
elif [ -n "$rest" ] || [ -z "$file" ]; then
  # What was not taken is read all the same: the client shall not find its pipe broken.
  cat >/dev/null
fi
exit 0
`;
}
