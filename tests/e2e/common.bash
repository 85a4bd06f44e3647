# Shared by the end-to-end scripts: a server of one's own in a temporary folder, and ways to say what went wrong.
# Needs $WEFT, the binary under test.

set -euo pipefail

: "${WEFT:?set WEFT to the weft binary}"
scratch=$(mktemp -d "${TMPDIR:-/tmp}/weft-e2e-XXXXXX")
export WEFT_SOCKET=$scratch/weft.sock
export LC_ALL=C.UTF-8
# Every job of this test carries this word in its environment, so that nothing it leaves behind can hide.
export WEFT_E2E_MARK="mark-$$-$RANDOM"
server=

clean_up() {
  local status=$?
  trap - EXIT
  if [ -n "$server" ] && kill -0 "$server" 2>/dev/null; then
    kill -KILL "$server" 2>/dev/null || true
    wait "$server" 2>/dev/null || true
  fi
  if [ "$status" -ne 0 ] && [ "$status" -ne 77 ] && [ -s "$scratch/serve.err" ]; then
    echo "--- the server's error output:" >&2
    cat "$scratch/serve.err" >&2
  fi
  rm -rf "$scratch"
  exit "$status"
}
trap clean_up EXIT

fail() {
  echo "FAILED: $*" >&2
  exit 1
}

skip() {
  echo "skipped: $*"
  exit 77
}

# Starts a server and returns when it listens. Its process id is in $server.
serve() {
  mkfifo "$scratch/ready"
  "$WEFT" serve --state-dir "$scratch/state" "$@" >"$scratch/ready" 2>"$scratch/serve.err" &
  server=$!
  local line=
  read -r line <"$scratch/ready" || true
  rm "$scratch/ready"
  [[ $line == "weft: serving "* ]] || fail "the server did not start: '$line' $(cat "$scratch/serve.err")"
}

# Ends the server as a person would, and checks that it goes in peace.
stop_server() {
  kill -TERM "$server"
  local status=0
  wait "$server" || status=$?
  server=
  [ "$status" -eq 0 ] || fail "the server ended with status $status"
  [ ! -e "$WEFT_SOCKET" ] || fail "the server left its socket behind"
}

# Runs a command; its status is then in $status, its streams in $out and $err.
try() {
  status=0
  "$@" >"$scratch/out" 2>"$scratch/err" || status=$?
  out=$(<"$scratch/out")
  err=$(<"$scratch/err")
}

expect_status() {
  [ "$status" -eq "$1" ] || fail "$2: exit status $status instead of $1; output '$out', error output '$err'"
}

expect_in() {
  [[ $2 == *"$1"* ]] || fail "$3: '$1' is not in '$2'"
}

# One line on stderr, nothing on stdout, exit status 2.
expect_refusal() {
  local what=$1
  shift
  try "$@"
  expect_status 2 "$what"
  [ -z "$out" ] || fail "$what: it printed '$out'"
  [ "$(wc -l <"$scratch/err")" -eq 1 ] || fail "$what: not one line but '$err'"
}

# The number of processes that have the mark of this test in their environment, this shell and its children by other means aside.
marked_job_processes() {
  local count=0 pid
  for pid in $(grep -laz "WEFT_JOB_ID=" /proc/[0-9]*/environ 2>/dev/null | sed 's|/proc/\([0-9]*\)/.*|\1|'); do
    if tr '\0' '\n' <"/proc/$pid/environ" 2>/dev/null | grep -qx "WEFT_E2E_MARK=$WEFT_E2E_MARK"; then
      # A zombie is no process any more, only somebody's unread letter.
      [[ $(cut -d')' -f2 "/proc/$pid/stat" 2>/dev/null) == " Z"* ]] || count=$((count + 1))
    fi
  done
  echo "$count"
}

expect_no_job_processes() {
  [ "$(marked_job_processes)" -eq 0 ] || fail "$1: $(marked_job_processes) processes of jobs are left"
}
