#!/usr/bin/env bash
# Clients that read nothing, and a server that does not answer: whoever has to do with them can still end.
. "$(dirname "$0")/common.bash"

cd "$scratch"
mkfifo up go log run
exec 6<>log 7<>run

# Returns when process $1 has ended; $2 says what it is.
expect_end() {
  timeout 60 tail --pid="$1" -f /dev/null || fail "$2 does not end"
  status=0
  wait "$1" || status=$?
}

# More output than pipes and sockets hold, for clients whose reader sleeps.
serve --virtual-gpus 1
printf 'seq 1 2000000\necho >%s/up\nread x <%s/go\n' "$scratch" "$scratch" >long.sh
"$WEFT" submit -c 0.01 -m 1Mi -o long.out long.sh >/dev/null
read -r _ <up
"$WEFT" log -f 0 >&6 &
reader=$!
"$WEFT" log -f 0 >/dev/null &
idle=$!
"$WEFT" run -c 0.01 -m 1Mi -- sh -c 'seq 1 2000000; read x <go' >&7 2>client.err &
client=$!
"$WEFT" wait 0 &
waiter=$!
read -r _ <&6
read -r _ <&7
stop_server
expect_no_job_processes "a server with clients that read nothing"
kill "$reader"
expect_end "$idle" "a client of a server that is gone"
expect_end "$waiter" "a client of a server that is gone"
for _ in $(seq 50); do kill -TERM "$client" 2>/dev/null || break; sleep 0.1; done
expect_end "$client" "a client with output that nobody reads"
[ "$status" -eq 143 ] || fail "a client with output that nobody reads ended with $status: $(cat client.err)"

# A server that hangs, before a client's job has a number.
serve --virtual-gpus 1
kill -STOP "$server"
start_client() {
  "$WEFT" run -c 0.01 -m 1Mi -- sh -c "trap '' INT TERM; echo up; while :; do sleep 0.1; done" >client.out 2>client.err &
  client=$!
  local blocked=0  # a shell between fork and exec blocks other signals than a hangup
  until [ $((0x$blocked & 1)) -ne 0 ]; do blocked=$(sed -n 's/^SigBlk:\s*//p' "/proc/$client/status"); done
}
start_client
kill -INT "$client"
expect_end "$client" "a client of a server that hangs"
[ "$status" -eq 130 ] || fail "a client of a server that hangs ended with $status: $(cat client.err)"
start_client
for _ in $(seq 50); do kill -TERM "$client" 2>/dev/null || break; done
expect_end "$client" "a client of a server that hangs, told often"
[ "$status" -eq 143 ] || fail "a client of a server that hangs, told often, ended with $status: $(cat client.err)"
kill -CONT "$server"
# Their requests are in the socket all the same, and their jobs are cancelled as soon as they are there.
for _ in $(seq 300); do [ "$("$WEFT" queue -a | grep -c cancelled)" -eq 2 ] && break || sleep 0.1; done
[ "$("$WEFT" queue -a | grep -c cancelled)" -eq 2 ] || fail "jobs of clients that went away: $("$WEFT" queue -a)"
expect_no_job_processes "clients that went away"

# A server that hangs later.
start_client
until grep -q up client.out; do :; done
kill -STOP "$server"
kill -INT "$client"
for _ in $(seq 300); do grep -q "does not answer" client.err && break || sleep 0.1; done
expect_in "does not answer; once more ends this client" "$(cat client.err)" "Ctrl-C while the server hangs"
kill -INT "$client"
expect_end "$client" "a client of a server that hangs at last"
[ "$status" -eq 130 ] || fail "a client of a server that hangs at last ended with $status: $(cat client.err)"
kill -CONT "$server"
"$WEFT" cancel --kill @ >/dev/null 2>&1 || true  # it is told to stop already, and has a grace
try "$WEFT" wait @
expect_in '"cancelled"' "$("$WEFT" show @ --json)" "the job of a client that went away"
stop_server
expect_no_job_processes "at the end"
