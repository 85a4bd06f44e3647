#!/usr/bin/env bash
# A server with hardly any file descriptors to spare: its jobs and connections take turns, and nobody waits for ever.
. "$(dirname "$0")/common.bash"

cd "$scratch"
mkfifo ready
(
  for fd in $(seq 3 23); do eval "exec $fd>&-"; done  # of whoever runs this
  ulimit -n 24
  exec "$WEFT" serve --virtual-gpus 1 --state-dir state >ready 2>serve.err
) &
server=$!
read -r _ <ready

clients=()
for i in $(seq 12); do
  "$WEFT" run -c 0.01 -m 1Mi -- sh -c "echo out $i; echo err $i >&2" >"out.$i" 2>"err.$i" &
  clients+=($!)
done
timeout 120 "$WEFT" queue -a >/dev/null || fail "the queue cannot be listed beside many clients"
for i in $(seq 12); do
  client=${clients[i - 1]}
  timeout 120 tail --pid="$client" -f /dev/null || fail "the $i. of many clients does not end: $(cat "err.$i")"
  wait "$client" || fail "the $i. of many clients ended with $?: $(cat "err.$i")"
  [ "$(cat "out.$i")" = "out $i" ] || fail "the $i. of many clients got '$(cat "out.$i")'"
  grep -qx "err $i" "err.$i" || fail "the $i. of many clients got the errors '$(cat "err.$i")'"
done

# While one client follows its job, another one can stop that.
mkfifo up
"$WEFT" run -- sh -c "echo >$scratch/up; sleep 1000" 2>/dev/null &
client=$!
read -r _ <up
timeout 120 "$WEFT" cancel @ >/dev/null || fail "beside a client that follows its job nobody can cancel that"
wait "$client" && fail "a cancelled job is done"
stop_server
expect_no_job_processes "at the end"
