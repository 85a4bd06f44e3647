#!/usr/bin/env bash
# The tasks of a gang with a file each: the log of each is its own.
. "$(dirname "$0")/common.bash"

serve --virtual-gpus 2
cd "$scratch"
printf 'echo "out of $WEFT_TASK"\necho "err of $WEFT_TASK" >&2\n' >gang.sh
"$WEFT" submit -N 2 -o 'part-%t.out' -e 'part-%t.err' gang.sh >/dev/null
"$WEFT" wait 0 >/dev/null || fail "the gang failed"
for task in 0 1; do
  try "$WEFT" log 0 --task "$task"
  expect_status 0 "the log of task $task"
  [ "$out" = "out of $task" ] && [ "$err" = "err of $task" ] || fail "the log of task $task is '$out' and '$err'"
  [ "$("$WEFT" log 0 --task "$task" --err)" = "err of $task" ] || fail "the error output of task $task is another's"
done
[ "$("$WEFT" log 0)" = "out of 0" ] || fail "without --task the log is not that of task 0"
expect_refusal "a task that the gang lacks" "$WEFT" log 0 --task 2
stop_server
