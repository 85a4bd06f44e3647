#!/usr/bin/env bash
# What `weft run` says while its job waits and starts, and a Ctrl-C that comes before the job has a number.
. "$(dirname "$0")/common.bash"

serve --virtual-gpus 2
cd "$scratch"
mkfifo first second
"$WEFT" run -G 2 -- sh -c 'read x <first' &
holder=$!
until "$WEFT" queue --json | grep -q '"running"'; do :; done
: >client.err
"$WEFT" run -G 1 -- sh -c 'read x <second' 2>client.err &
client=$!
until grep -q waits client.err; do :; done
echo >first
wait "$holder" || fail "the first job ended with $?"
for _ in $(seq 600); do grep -q runs client.err && break || sleep 0.1; done
expect_in "weft: job 1 runs on GPU 0" "$(cat client.err)" "a job that had to wait and runs"
echo >second
wait "$client" || fail "the second job ended with $?"

# The server sleeps, so the job has no number when the signal comes.
kill -STOP "$server"
"$WEFT" run -- sh -c 'trap "exit 5" TERM; read x <first' 2>client.err &
client=$!
blocked=0
until [ $((0x$blocked & 1)) -ne 0 ]; do blocked=$(sed -n 's/^SigBlk:\s*//p' "/proc/$client/status"); done
kill -INT "$client"
kill -CONT "$server"
timeout 60 tail --pid="$client" -f /dev/null || fail "a Ctrl-C before the job had a number is forgotten"
status=0
wait "$client" || status=$?
[ "$status" -eq 130 ] || fail "a Ctrl-C before the job had a number: the client ended with $status: $(cat client.err)"
"$WEFT" show @ --json | grep -q '"cancelled"' || fail "the job of a client that was interrupted is $("$WEFT" show @)"
stop_server
expect_no_job_processes "at the end"
