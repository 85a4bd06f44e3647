#!/usr/bin/env bash
# Ctrl-C at `weft run`, `weft cancel` and the end of a client leave no process behind, however the job tries to get away.
. "$(dirname "$0")/common.bash"

serve --virtual-gpus 2

# A pipe that every process of a job inherits: its reader sees the end when the last of them is gone.
cat >"$scratch/clingy.sh" <<'JOB'
#!/bin/bash
# Ignores TERM, and leaves a grandchild in a session of its own that ignores TERM and HUP.
trap '' TERM INT
(setsid bash -c 'trap "" TERM HUP INT; echo grandchild >&9; while :; do sleep 1000; done' &)
echo child >&9
while :; do sleep 1000; done
JOB
chmod +x "$scratch/clingy.sh"

# Starts a clingy job by `weft run` and returns when both its processes have spoken. $client is its client; the pipe is descriptor 8.
start_clingy() {
  rm -f "$scratch/alive"
  mkfifo "$scratch/alive"
  "$WEFT" run -G 1 "$@" -- bash -c "exec 9>$scratch/alive; exec $scratch/clingy.sh" 2>"$scratch/client.err" &
  client=$!
  exec 8<"$scratch/alive"
  local first second
  read -r first <&8
  read -r second <&8
  [[ "$first $second" == *grandchild* ]] || fail "the job did not come up: $first $second"
}

expect_end_of_clingy() {
  local rest
  read -r -t 60 rest <&8 && fail "the job said '$rest'"
  exec 8<&-
  expect_no_job_processes "$1"
}

client_status() {
  status=0
  wait "$client" || status=$?
}

start_clingy --grace 300ms
kill -INT "$client"
client_status
[ "$status" -eq 130 ] || fail "Ctrl-C: the client ended with $status"
expect_in "weft: job 0 cancelled" "$(cat "$scratch/client.err")" "Ctrl-C"
expect_end_of_clingy "Ctrl-C"

start_clingy --grace 1h
kill -INT "$client"
# The second one counts once the first has arrived.
until [ "$("$WEFT" show @ --json | python3 -c 'import json, sys; print(json.load(sys.stdin)["state"])')" = releasing ]; do :; done
kill -INT "$client"
client_status
[ "$status" -eq 130 ] || fail "Ctrl-C twice: the client ended with $status"
expect_end_of_clingy "Ctrl-C twice"

start_clingy --grace 300ms
"$WEFT" cancel @ >/dev/null
client_status
[ "$status" -eq 143 ] || fail "weft cancel: the client ended with $status"
expect_in "was cancelled" "$(cat "$scratch/client.err")" "weft cancel"
expect_end_of_clingy "weft cancel"

start_clingy --grace 1h
"$WEFT" cancel --kill @ >/dev/null
client_status
expect_end_of_clingy "weft cancel --kill"

# A client that is killed cannot say good-bye; its job is stopped all the same.
start_clingy --grace 300ms
kill -KILL "$client"
client_status
expect_end_of_clingy "a killed client"

# A job that ends when it is asked to gets the time to do so.
mkfifo "$scratch/up"
"$WEFT" run --grace 1h -- bash -c "trap 'echo saved >$scratch/saved; exit 9' TERM; echo up >$scratch/up; while :; do sleep 0.1; done" &
client=$!
read -r _ <"$scratch/up"
"$WEFT" cancel @ >/dev/null
client_status
[ "$(cat "$scratch/saved")" = saved ] || fail "the job could not clean up behind itself"
[ "$("$WEFT" show @ --json | python3 -c 'import json, sys; print(json.load(sys.stdin)["tasks"][0]["exit_status"])')" -eq 9 ] || fail "the status of a stopped job is lost"

# A job that waits goes at once, and `cancel --all` takes every one.
"$WEFT" submit -G 2 -o /dev/null <(true) 2>/dev/null && fail "an empty script was taken"
printf 'sleep 1000\n' >"$scratch/sleep.sh"
for _ in 1 2 3; do "$WEFT" submit -G 2 -o /dev/null "$scratch/sleep.sh" >/dev/null; done
[ "$("$WEFT" cancel --all | wc -l)" -eq 3 ] || fail "cancel --all did not name three jobs"
try "$WEFT" wait @
expect_status 1 "waiting for a cancelled job"
"$WEFT" cluster --json >"$scratch/cluster.json"
stop_server
expect_no_job_processes "after the server"

# Jobs that name no grace get the server's: none here, so that they cannot clean up.
serve --virtual-gpus 1 --grace 0
for grace in "" "--grace 1h"; do
  # shellcheck disable=SC2086
  "$WEFT" run $grace -- bash -c "trap 'exit 9' TERM; echo up >$scratch/up; while :; do sleep 0.1; done" 2>/dev/null &
  client=$!
  read -r _ <"$scratch/up"
  "$WEFT" cancel @ >/dev/null
  client_status
  "$WEFT" show @ --json >"$scratch/job.json"
  status=$(python3 -c 'import json, sys; print(json.load(open(sys.argv[1]))["tasks"][0]["exit_status"])' "$scratch/job.json")
  [ "$status" -eq "$([ -z "$grace" ] && echo 137 || echo 9)" ] || fail "a job with '$grace' below 'serve --grace 0' ended with $status"
done
stop_server
expect_no_job_processes "a server without a grace"
