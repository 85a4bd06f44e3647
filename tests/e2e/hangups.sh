#!/usr/bin/env bash
# What a server or a client that was started by nohup does with a hangup, what its jobs see of that, and a server that is told twice to end.
. "$(dirname "$0")/common.bash"

trap '' HUP
serve --virtual-gpus 1
trap - HUP
kill -HUP "$server"
"$WEFT" run -- true || fail "a server that ignores hangups ended at one"

# Signals that the server ignores mean to its jobs what they mean to everybody.
try "$WEFT" run -- sh -c 'kill -HUP $$; echo survived'
expect_status 129 "a hangup to a job of a server that ignores them"
try "$WEFT" run -- bash -c 'yes | head -n 1 >/dev/null; exit "${PIPESTATUS[0]}"'
expect_status 141 "a broken pipe inside a job"

mkfifo "$scratch/up" "$scratch/go"
start_client() {
  "$WEFT" run -- sh -c "trap 'exit 5' TERM; echo >$scratch/up; read x <$scratch/go" 2>"$scratch/client.err" &
  client=$!
  read -r _ <"$scratch/up"
}
trap '' HUP
start_client
trap - HUP
blocked=$(sed -n 's/^SigBlk:\s*//p' "/proc/$client/status")
[ $((0x$blocked & 1)) -eq 0 ] || fail "a client that ignores hangups waits for one"
kill -HUP "$client"
echo >"$scratch/go"
wait "$client" || fail "a client that ignores hangups ended with $?: $(cat "$scratch/client.err")"

start_client
kill -HUP "$client"
status=0
wait "$client" || status=$?
[ "$status" -eq 129 ] || fail "a client that was hung up ended with $status"
expect_in "cancelled" "$(cat "$scratch/client.err")" "a client that was hung up"

# The second time a server is told to end, it does not wait for the grace of its jobs.
printf 'trap "" TERM\necho >%s/up\nwhile :; do sleep 0.1; done\n' "$scratch" >"$scratch/stay.sh"
"$WEFT" submit -G 1 --grace 1h -o /dev/null "$scratch/stay.sh" >/dev/null
read -r _ <"$scratch/up"
kill -TERM "$server"
until "$WEFT" queue --json | grep -q '"releasing"'; do :; done
kill -TERM "$server"
timeout 60 tail --pid="$server" -f /dev/null || fail "a server that was told twice to end waits for its jobs"
status=0
wait "$server" || status=$?
server=
[ "$status" -eq 0 ] || fail "a server that was told twice to end ended with $status"
expect_no_job_processes "a server that was told twice to end"
