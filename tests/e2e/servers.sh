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

# The jobs of a killed server may still use their GPUs until their grace is over. The next server gives none away before that, and ends what
# is left after its own grace.
serve --virtual-gpus 4
mkfifo "$scratch/up"
printf 'trap "" TERM\nexec 9>>%s/log\nflock 9\necho "$CUDA_VISIBLE_DEVICES" >%s/up\nwhile :; do sleep 0.1; done\n' "$scratch" "$scratch" >"$scratch/stay.sh"
"$WEFT" submit -G 4 --grace 1h -o /dev/null "$scratch/stay.sh" >/dev/null
read -r _ <"$scratch/up"
kill -KILL "$server"
wait "$server" 2>/dev/null || true
serve --virtual-gpus 4 --grace 300ms
expect_in "1 task of a server that was killed still ends" "$(cat "$scratch/serve.err")" "a server after a killed one"
expect_no_job_processes "the start of a server after a killed one"
"$WEFT" run -G 4 -- flock -n "$scratch/log" true || fail "a GPU is used by two jobs"
stop_server

# A supervisor that is stopped hears nothing; its task is ended all the same.
serve --virtual-gpus 1
"$WEFT" run -G 1 --grace 100ms -- sh -c "echo >$scratch/up; exec sleep 1000" 2>/dev/null &
client=$!
read -r _ <"$scratch/up"
pid=$("$WEFT" show @ --json | python3 -c 'import json, sys; print(json.load(sys.stdin)["tasks"][0]["pid"])')
supervisor=$(ps -o ppid= -p "$pid")
kill -STOP "$supervisor"
"$WEFT" cancel --kill @ >/dev/null
status=0
wait "$client" || status=$?
[ "$status" -eq 143 ] || fail "the client of a job with a stopped supervisor ended with $status"
stop_server

# A path that is relative means the same to everybody.
cd "$scratch"
WEFT_SOCKET=
mkfifo ready
"$WEFT" serve --virtual-gpus 1 --state-dir state --socket relative.sock >ready 2>serve.err &
server=$!
read -r _ <ready
rm ready
export WEFT_SOCKET=$scratch/relative.sock
[ "$("$WEFT" run -D / -- "$WEFT" queue --json | head -c 8)" = '{"jobs":' ] || fail "a job does not find a server with a relative socket"
stop_server

# Without standard input, output and error nothing else takes their numbers.
"$WEFT" serve --virtual-gpus 1 --state-dir state <&- >&- 2>&- &
server=$!
until "$WEFT" queue >/dev/null 2>&1; do kill -0 "$server" || fail "a server without standard files ended"; done
[ "$("$WEFT" run -- echo hello)" = hello ] || fail "a server without standard files runs no jobs"
for number in 0 1 2; do
  [ "$(readlink "/proc/$server/fd/$number")" = /dev/null ] || fail "descriptor $number of the server is $(readlink "/proc/$server/fd/$number")"
done
kill "$server"
wait "$server" || [ "$?" -eq 1 ] || fail "a server without standard files ended with $?"  # 1: its greeting could not be written
server=

# A server that is short of file descriptors makes jobs wait, and loses none.
( ulimit -n 32; exec "$WEFT" serve --virtual-gpus 1 --state-dir state >/dev/null 2>serve.err ) &
server=$!
until "$WEFT" queue >/dev/null 2>&1; do kill -0 "$server" || fail "a server with few descriptors ended"; done
printf 'echo $1 >>%s/ran\n' "$scratch" >few.sh
for i in $(seq 30); do "$WEFT" submit -c 0.01 -m 1Mi -o /dev/null few.sh "$i" >/dev/null; done
# shellcheck disable=SC2046
"$WEFT" wait $(seq 0 29) >/dev/null || fail "a job failed for want of descriptors: $("$WEFT" queue -a)"
[ "$(sort -n ran | xargs)" = "$(seq -s' ' 30)" ] || fail "not every job ran: $(cat ran)"
stop_server

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
