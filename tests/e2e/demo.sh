#!/usr/bin/env bash
# The demonstration runs through, says what happens, and leaves nothing.
. "$(dirname "$0")/common.bash"

export TMPDIR=$scratch/tmp
mkdir "$TMPDIR"
try "$WEFT" demo --once
expect_status 0 "the demonstration"
for words in "serving 8 virtual GPUs" "job 0 one-gpu: running on GPU 0" "job 3 all-gpus: pending, GPUs: " "job 3 all-gpus: running on GPU 0-7" \
  "job 4 gang: running on GPU" "job 5 cpu-only: done" "job 6 fails: failed with exit status 3" "job 3 all-gpus: done"; do
  expect_in "$words" "$out" "the demonstration"
done
[ -z "$(ls -A "$TMPDIR")" ] || fail "the demonstration left $(ls -A "$TMPDIR")"
[ ! -e "$WEFT_SOCKET" ] || fail "the demonstration left its socket"
expect_no_job_processes "the demonstration"

try "$WEFT" demo --once --virtual-gpus 1
expect_status 0 "the demonstration with one GPU"
expect_refusal "no GPU at all" "$WEFT" demo --virtual-gpus 0

# Beside a server it takes a place of its own, and serves on until it is told to end.
serve --virtual-gpus 1
mkfifo "$scratch/demo.out"
"$WEFT" demo >"$scratch/demo.out" 2>&1 &
demo=$!
exec 8<"$scratch/demo.out"
until read -r line <&8 && [[ $line == *WEFT_SOCKET=* ]]; do :; done
other=${line#*WEFT_SOCKET=}
WEFT_SOCKET=$other "$WEFT" run -G 8 -- true || fail "the demonstration does not serve"
kill -INT "$demo"
wait "$demo" || fail "the demonstration ended with $?"
exec 8<&-
[ -z "$(ls -A "$TMPDIR")" ] || fail "the demonstration left $(ls -A "$TMPDIR")"
"$WEFT" run -- true || fail "the server beside it is gone"
stop_server
