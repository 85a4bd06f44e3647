#!/usr/bin/env bash
# Life and death of a server: two on one socket, one killed at work, one ended at work.
. "$(dirname "$0")/common.bash"

serve --virtual-gpus 4
[ "$(stat -c %a "$WEFT_SOCKET")" = 600 ] || fail "the socket's mode is $(stat -c %a "$WEFT_SOCKET")"
try "$WEFT" serve --virtual-gpus 4 --state-dir "$scratch/second"
expect_status 1 "a second server on the socket"
expect_in "a weft server is listening on $WEFT_SOCKET already" "$err" "a second server on the socket"
try "$WEFT" serve --virtual-gpus 4 --state-dir "$scratch/state" --socket "$scratch/second.sock"
expect_status 1 "a second server on the state directory"
expect_in "another weft server uses the state directory" "$err" "a second server on the state directory"
"$WEFT" run -- true || fail "the first server does not serve any more"

# Jobs that hold a pipe open as long as one of their processes lives.
mkfifo "$scratch/alive"
start_jobs() {
  "$WEFT" run -G 1 --grace 200ms -- bash -c "exec 9>$scratch/alive; trap '' TERM; (setsid sleep 1000 &); echo up >&9; sleep 1000" 2>"$scratch/client.err" &
  client=$!
  printf 'exec 9>%s; echo up >&9; sleep 1000\n' "$scratch/alive" >"$scratch/wait.sh"
  "$WEFT" submit -G 1 -o "$scratch/wait.out" "$scratch/wait.sh" >/dev/null
  exec 8<"$scratch/alive"
  read -r _ <&8
  read -r _ <&8
}
expect_end_of_jobs() {
  local rest
  read -r -t 60 rest <&8 && fail "a job said '$rest'"
  exec 8<&-
  expect_no_job_processes "$1"
  status=0
  wait "$client" || status=$?
}

start_jobs
kill -KILL "$server"
wait "$server" 2>/dev/null || true
expect_end_of_jobs "a killed server"
[ "$status" -eq 1 ] || fail "the client of a killed server ended with $status"
expect_in "went away" "$(cat "$scratch/client.err")" "the client of a killed server"
[ -e "$WEFT_SOCKET" ] || fail "a killed server cannot have removed its socket"

# The socket and the files of the killed one are replaced.
[ -n "$(ls "$scratch/state/jobs")" ] || fail "there should be leftovers"
serve --virtual-gpus 4
[ -z "$(ls "$scratch/state/jobs")" ] || fail "leftovers of the killed server are still there"

start_jobs
stop_server
expect_end_of_jobs "a server that was told to end"
[ "$status" -eq 143 ] || fail "the client of a server that ends ended with $status: $(cat "$scratch/client.err")"
expect_in "the server was stopped" "$(cat "$scratch/client.err")" "the client of a server that ends"
[ ! -e "$scratch/state/jobs" ] || fail "the server left files behind"

# A supervisor that somebody kills takes its processes along.
serve --virtual-gpus 4
start_jobs
"$WEFT" show @ --json >"$scratch/job.json"
pid=$(python3 -c 'import json, sys; print(json.load(open(sys.argv[1]))["tasks"][0]["pid"])' "$scratch/job.json")
supervisor=$(cut -d' ' -f4 "/proc/$pid/stat")
kill -KILL "$supervisor"
try "$WEFT" wait @
expect_status 137 "a job whose supervisor was killed"
[ "$("$WEFT" queue --json | python3 -c 'import json, sys; print(len(json.load(sys.stdin)["jobs"]))')" -eq 1 ] || fail "the other job is gone too"
stop_server
expect_end_of_jobs "at the end"
