#!/usr/bin/env bash
# Clean clones of HEAD on a machine that knows nothing of the project: as root and as an unprivileged user, under an
# ordinary and a 120-character path, with and without install scripts. Each is installed, started with `npm start` and
# stopped with Ctrl-C, gets what the tests need, goes through up, status and down, and leaves nothing behind.
# Prints a line per case and ends with `N passed, N failed`.
set -u
cd "$(dirname "${BASH_SOURCE[0]}")/.." || exit 1
repository=$PWD
caller=$(id -u)
system_home=/var/lib/watchkeeper
path_length=120
ready_s=60
stop_s=60
step_s=300

passed=0
failed=0
number=0
user=
user_uid=$caller
user_gid=$(id -g)
first_root_home=
base=$(mktemp -d /tmp/wk-fresh-XXXXXX) || exit 1
chmod 711 "$base"

# --- the machine -------------------------------------------------------------------------------------------------------

# All a case inherits: what a login on a fresh machine has, and the way to the package registry from here.
inherited=("npm_config_registry=$(npm config get registry 2>/dev/null)" NODE_DISABLE_COMPILE_CACHE=1)
for name in PATH NODE_EXTRA_CA_CERTS SSL_CERT_FILE HTTP_PROXY HTTPS_PROXY NO_PROXY http_proxy https_proxy no_proxy; do
  [ -n "${!name:-}" ] && inherited+=("$name=${!name}")
done

make_user() {
  [ "$caller" -eq 0 ] || return 0
  user=wk-fresh-$$
  useradd --system --no-create-home --home-dir "$base/nowhere" --shell /bin/sh "$user" || exit 1
  user_uid=$(id -u "$user")
  user_gid=$(id -g "$user")
}

# What is in root's default data directory belongs to somebody else.
system_home_before=$(ls -A "$system_home" 2>/dev/null)
system_home_mode=$(stat -c %a "$system_home" 2>/dev/null)
system_home_is_free() {
  [ ! -e "$system_home/daemon.json" ] && [ ! -e "$system_home/daemon.lock" ] && [ ! -e "$system_home/pg" ] &&
    [ ! -e "$system_home/pg.json" ]
}

# pg-<hash> are the databases of other data directories, which come and go with them.
restore_system_home() {
  local name
  for name in $(ls -A "$system_home" 2>/dev/null); do
    [[ $name == pg-* ]] || grep -q -x -F -e "$name" <<<"$system_home_before" || rm -rf "${system_home:?}/$name"
  done
  if [ -n "$system_home_mode" ]; then
    chmod "$system_home_mode" "$system_home"
  else
    rmdir "$system_home" 2>/dev/null
  fi
}

# --- one case ----------------------------------------------------------------------------------------------------------

# open_case root|user short|long default|own: a folder with a home of its own, and the command that runs things there.
open_case() {
  local who=$1 length=$2 place=$3 cache
  number=$((number + 1))
  folder=$base/$number
  home=$folder/home
  log=$base/log-$number
  databases=()
  case_uid=0 case_gid=0
  [ "$who" = user ] && case_uid=$user_uid case_gid=$user_gid
  mkdir "$folder" "$home" "$folder/tmux"
  clone=$home/watchkeeper
  data=$folder/data
  if [ "$length" = long ]; then
    local padding=$((path_length - ${#folder} - 2 - 11))
    clone=$folder/$(printf 'long-%.0s' {1..40} | cut -c "1-$padding")x/watchkeeper
    data=$(dirname "$clone")/data
    mkdir "$(dirname "$clone")"
  fi
  environment=("HOME=$home" "TMUX_TMPDIR=$folder/tmux")
  if [ "$place" = own ]; then
    environment+=("WATCHKEEPER_HOME=$data")
  else
    data=$home/.local/share/watchkeeper
    [ "$case_uid" -eq 0 ] && data=$system_home
  fi
  # One cache per user: npm wants to own it.
  cache=$base/cache-$case_uid
  [ -d "$cache" ] || cp -a "$base/cache-0" "$cache" 2>/dev/null || mkdir "$cache"
  environment+=("npm_config_cache=$cache")
  chmod 700 "$home" "$folder/tmux"
  # Not with hard links: the clone changes its owner, and the repository must not.
  git clone -q --no-hardlinks "$repository" "$clone" >"$log" 2>&1
  [ "$case_uid" -ne "$caller" ] && chown -R "$case_uid:$case_gid" "$folder" "$cache"
  # Claude Code is fetched by the first case only.
  [ -d "$base/clients" ] && ln -s "$base/clients" "$clone/.clients"
  as_case=(env -i "${inherited[@]}" "${environment[@]}")
  [ "$case_uid" -ne "$caller" ] &&
    as_case=(setpriv "--reuid=$case_uid" "--regid=$case_gid" --clear-groups "${as_case[@]}")
  files_before=$(list_files)
}

in_clone() {
  (cd "$clone" && exec timeout -k 10 "$step_s" "${as_case[@]}" "$@") </dev/null
}

# Processes with a folder of the case in their environment, command line or working directory, or of a user who exists
# only for it. Zombies have none of these.
case_processes() {
  local proc
  printf '%s/\n' "$folder" "${databases[@]}" >"$base/patterns"
  for proc in /proc/[0-9]*; do
    if grep -q -z -F -f "$base/patterns" "$proc/environ" "$proc/cmdline" ||
      readlink "$proc/cwd" | grep -q -F -f "$base/patterns" ||
      { [ "$case_uid" -ne "$caller" ] && [ "$(stat -c %u "$proc")" = "$case_uid" ] && grep -q . "$proc/cmdline"; }; then
      echo "${proc#/proc/}"
    fi
  done 2>/dev/null
}

# Run by root, PostgreSQL may live outside of the data directory, which names the place.
find_databases() {
  [ -r "$data/pg.json" ] || return 0
  mapfile -t databases < <(node -e '
    const { cluster, socketDir } = JSON.parse(require("node:fs").readFileSync(process.argv[1], "utf8"));
    console.log(require("node:path").dirname(cluster) + "\n" + socketDir);' "$data/pg.json")
}

no_process_left() {
  local left='' try
  find_databases
  for try in {1..20}; do
    left=$(case_processes)
    [ -z "$left" ] && return 0
    sleep 0.25
  done
  for try in $left; do
    echo "left running: $try $(tr '\0' ' ' <"/proc/$try/cmdline" 2>/dev/null)"
  done
  return 1
}

# What could be ours outside of the case's own folders: all that belongs to the user who exists only for the case, else
# what has a name that Watchkeeper gives. (wk-test-… and the like are of tests that others run here.)
list_files() {
  local places=(/tmp /var/tmp /var/lib /run /dev/shm)
  if [ "$case_uid" -ne "$caller" ]; then
    find "${places[@]}" -xdev -user "$case_uid" ! -path "$base/*" 2>/dev/null
  else
    find "${places[@]}" -xdev -maxdepth 1 \( -name 'wk-*' -o -name '*watchkeeper*' -o -name 'tmux-*' -o -name 'npm-*' \) \
      ! -name 'wk-[a-z]*-*' -o -name 'wk-control-*'
    find "$system_home" -maxdepth 1 -name 'pg-*' 2>/dev/null
  fi | sort
}

# By its path in a file, so that the looking does not find itself.
is_used() {
  echo "$1" >"$base/patterns"
  grep -q -s -z -F -f "$base/patterns" /proc/[0-9]*/environ /proc/[0-9]*/cmdline ||
    readlink /proc/[0-9]*/cwd | grep -q -F -f "$base/patterns"
}

# The data directory's own database is no leftover. Nor is what somebody else on this machine works with right now; the
# case itself has no process any more. Others' things go away again.
no_file_left() {
  local left='' file known try
  known=$(printf '%s\n' "$system_home" "${databases[@]}" | grep "^$system_home")
  for try in {1..15}; do
    left=''
    for file in $(comm -13 <(echo "$files_before") <(list_files) | grep -v -x -F -e "$known"); do
      is_used "$file" || left+=" $file"
    done
    [ -z "$left" ] && return 0
    sleep 1
  done
  echo "left behind:$left"
  return 1
}

# Ctrl-C reaches everything `npm start` runs in the foreground, as from a terminal.
start_and_interrupt() {
  local started=$base/start-$number code end=$((SECONDS + ready_s))
  set -m
  (cd "$clone" && exec "${as_case[@]}" npm start) >"$started" 2>&1 </dev/null &
  group=$!
  set +m
  until grep -q 'watching, data in' "$started"; do
    if [ "$SECONDS" -ge "$end" ] || ! kill -0 "$group" 2>/dev/null; then
      cat "$started"
      echo "npm start did not get ready within $ready_s s"
      kill -KILL -- "-$group" 2>/dev/null
      return 1
    fi
    sleep 0.1
  done
  kill -INT -- "-$group"
  end=$((SECONDS + stop_s))
  while kill -0 "$group" 2>/dev/null; do
    [ "$SECONDS" -ge "$end" ] && kill -KILL -- "-$group"
    sleep 0.1
  done
  wait "$group"
  code=$?
  group=
  cat "$started"
  echo "npm start ended with $code after Ctrl-C"
  { [ "$code" -eq 0 ] || [ "$code" -eq 130 ]; } && grep -q 'stopped$' "$started" && no_process_left
}

up_status_down() {
  in_clone bin/watchkeeper up --detach || return 1
  in_clone bin/watchkeeper status --json >"$base/status" || return 1
  node -e '
    const { v, daemon } = JSON.parse(require("node:fs").readFileSync(process.argv[1], "utf8"));
    process.exitCode = v === 1 && daemon.pid > 0 ? 0 : 1;' "$base/status" || return 1
  in_clone bin/watchkeeper down || return 1
  in_clone bin/watchkeeper status --json
  [ $? -eq 3 ] && no_process_left
}

cannot_read_roots() {
  [ -z "$first_root_home" ] || [ "$case_uid" -eq 0 ] || ! in_clone ls "$first_root_home"
}

# Stops and removes what a failed case left; after a good one only its folders.
close_case() {
  local place
  [ -n "${group:-}" ] && kill -KILL -- "-$group" 2>/dev/null
  group=
  [ -e "$data/daemon.json" ] || [ -e "$data/pg.json" ] && in_clone bin/watchkeeper down >/dev/null 2>&1
  find_databases
  case_processes | xargs -r kill -KILL 2>/dev/null
  for place in "${databases[@]}"; do
    [[ $place == "$system_home"/pg-* || $place == /tmp/wk-* ]] && rm -rf "$place"
  done
  if [ ! -d "$base/clients" ] && [ -e "$clone/.clients/claude" ]; then
    mv "$clone/.clients" "$base/clients" && chmod -R a+rX "$base/clients"
  fi
  [ "$data" = "$system_home" ] && restore_system_home
  [ -z "$system_home_mode" ] && rmdir "$system_home" 2>/dev/null
  # The first root home stays for the question whether others can read it.
  rm -rf "${clone:?}" "$folder/data"
  folder=
}

# check NAME root|user short|long default|own [flags of npm ci]
check() {
  local name=$1 who=$2 length=$3 place=$4 begin=$SECONDS what broken=''
  shift 4
  if [ "$who" = root ] && [ "$caller" -ne 0 ]; then
    echo "skipped - $name: needs root"
    return
  fi
  open_case "$who" "$length" "$place"
  [ "$who" = root ] && : "${first_root_home:=$home}"
  local steps=("npm ci $*" 'npm start, Ctrl-C' 'npm test -- --setup-only' 'up, status, down' 'no file left' 'homes apart')
  for what in "${steps[@]}"; do
    echo "# $name: $what"
    case $what in
      'npm ci'*) in_clone npm ci "$@" ;;
      'npm start'*) start_and_interrupt ;;
      'npm test'*) in_clone npm test -- --setup-only ;;
      'up, '*) up_status_down ;;
      'no file left') no_file_left ;;
      'homes apart') cannot_read_roots ;;
    esac >>"$log" 2>&1 || { broken=$what && break; }
  done
  if [ -z "$broken" ]; then
    passed=$((passed + 1))
    echo "ok - $name ($((SECONDS - begin)) s)"
  else
    failed=$((failed + 1))
    echo "not ok - $name: $broken"
    tail -n 40 "$log" | sed 's/^/    /'
  fi
  close_case
}

clean_up() {
  trap - EXIT
  [ -n "${folder:-}" ] && close_case
  [ -n "$user" ] && userdel "$user" 2>/dev/null
  rm -rf "$base"
}
trap clean_up EXIT
trap 'exit 130' INT TERM HUP

# --- the cases ---------------------------------------------------------------------------------------------------------

[ -z "$(git status --porcelain 2>/dev/null)" ] || echo '# HEAD is tested; the uncommitted changes here are not'
make_user

root_data=default
system_home_is_free || { root_data=own && echo "# $system_home is in use: root's default data directory is not tested"; }
check 'root with a 0700 home' root short "$root_data"
check 'unprivileged user' user short default
check "root, $path_length-character path, no install scripts" root long own --ignore-scripts
check "unprivileged user, $path_length-character path" user long own
check 'unprivileged user, no install scripts' user short own --ignore-scripts

echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ] && [ "$passed" -gt 0 ]
