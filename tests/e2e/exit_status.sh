#!/usr/bin/env bash
# `weft run` is like running the command itself: exit status, signals, both streams whole and apart, directory, environment.
. "$(dirname "$0")/common.bash"

serve --virtual-gpus 4

for wanted in 0 1 7 126 255; do
  try "$WEFT" run -- sh -c "exit $wanted"
  expect_status "$wanted" "exit $wanted"
  [ -z "$out$err" ] || fail "exit $wanted: it said '$out$err'"
done
for signal in KILL:137 TERM:143 SEGV:139; do
  try "$WEFT" run -- sh -c "kill -${signal%:*} \$\$"
  expect_status "${signal#*:}" "signal ${signal%:*}"
done
try "$WEFT" run -- no-such-command
expect_status 127 "a command that is not there"
expect_in "no-such-command: command not found" "$err" "a command that is not there"
try "$WEFT" run -- "$scratch"
expect_status 126 "a directory as a command"

try "$WEFT" run -- sh -c 'echo to out; echo to err >&2'
expect_status 0 "two streams"
[ "$out" = "to out" ] && [ "$err" = "to err" ] || fail "the streams are mixed: '$out' and '$err'"
"$WEFT" run -- sh -c 'seq 1 200000; seq 200001 300000 >&2' >"$scratch/many.out" 2>"$scratch/many.err"
seq 1 200000 | cmp - "$scratch/many.out" || fail "a long output is not whole"
seq 200001 300000 | cmp - "$scratch/many.err" || fail "a long error output is not whole"
printf 'a\0b\377\n' >"$scratch/bytes"
"$WEFT" run -- cat "$scratch/bytes" | cmp - "$scratch/bytes" || fail "bytes are changed on their way"

cd "$scratch"
try "$WEFT" run -- pwd
[ "$out" = "$scratch" ] || fail "the job ran in $out"
try "$WEFT" run -D / -- pwd
[ "$out" = / ] || fail "with -D / the job ran in $out"
try env WORD='two  words' "$WEFT" run -- sh -c 'echo "$WORD"'
[ "$out" = "two  words" ] || fail "the environment is '$out'"
try "$WEFT" run -- printf '<%s>' 'a b' '' '$HOME' "it's" $'line\nbreak'
[ "$out" = "<a b><><\$HOME><it's><line
break>" ] || fail "the arguments became $out"
try "$WEFT" run cat
expect_status 0 "a command that reads its input"

try "$WEFT" run -- sh -c 'echo "$CUDA_VISIBLE_DEVICES/$CUDA_DEVICE_ORDER"'
[ "$out" = "-1/PCI_BUS_ID" ] || fail "without GPUs a job sees '$out'"
try "$WEFT" run -G 2 -- sh -c 'echo "$CUDA_VISIBLE_DEVICES"'
[ "$out" = "0,1" ] || fail "with two GPUs a job sees '$out'"
try "$WEFT" run -N 3 -G 1 -- sh -c 'echo "$RANK of $WORLD_SIZE: $CUDA_VISIBLE_DEVICES"'
[ "$(sort <<<"$out")" = "0 of 3: 0,1,2
1 of 3: 0,1,2
2 of 3: 0,1,2" ] || fail "a gang sees '$out'"
try "$WEFT" run -N 2 -G 1 --gpu-bind task -- sh -c 'echo "$CUDA_VISIBLE_DEVICES"'
[ "$(sort <<<"$out")" = "0
1" ] || fail "with --gpu-bind task a gang sees '$out'"
# A gang of which one task fails is a job that failed, and its other tasks are ended.
try "$WEFT" run -N 3 -c 0.1 -- sh -c '[ "$RANK" = 1 ] && exit 5; sleep 1000'
expect_status 5 "a gang with a task that fails"

try "$WEFT" run -t 300ms --grace 100ms -- sleep 1000
[ "$status" -ne 0 ] || fail "a job that reached its time limit ended well"
expect_in "it reached its time limit of 300ms" "$err" "a time limit"

# Output is appended to a file, and what was there before is not the job's.
echo old >log
[ "$("$WEFT" run -o log -- echo new)" = new ] || fail "run shows what was in the file before"
[ "$("$WEFT" log @)" = new ] || fail "log shows what was in the file before"
[ "$(cat log)" = "old
new" ] || fail "the file holds '$(cat log)'"

# A job reads nothing of what weft is given, which is said where there is something; nothing is said where not.
echo data >data
try "$WEFT" run -- cat <data
[ "$status" -eq 0 ] && [ -z "$out" ] || fail "the job read '$out' (status $status)"
expect_in "weft: note: the job does not read weft's input; its own is /dev/null" "$err" "a file as input"
try sh -c 'cat data | "$WEFT" run -- sh -c "sleep 0.1"'
expect_in "weft: note: the job does not read weft's input" "$err" "a pipe as input"
[ "$(grep -c note <<<"$err")" -eq 1 ] || fail "the note about the input stands twice: $err"
try "$WEFT" run -- cat </dev/null
[ -z "$err" ] || fail "/dev/null as input: '$err'"
try sh -c ': | "$WEFT" run -- true'
[ -z "$err" ] || fail "an empty pipe as input: '$err'"

# What was waited for is said, and what it got.
mkfifo go
: >second.err
"$WEFT" run -G 4 -- sh -c "read x <$scratch/go" &
first=$!
until "$WEFT" queue --json | grep -q '"running"'; do :; done
"$WEFT" run -G 1 -- true 2>second.err &
second=$!
until grep -q waits second.err; do :; done
expect_in "waits: GPUs: 0 of 1 needed are free" "$(cat second.err)" "a job that waits"
echo >go
wait "$first" "$second" || fail "a job that had to wait failed"
stop_server
expect_no_job_processes "at the end"
