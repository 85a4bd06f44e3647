#!/usr/bin/env bash
# Wrong input gets one clear line, exit status 2, and nothing happens.
. "$(dirname "$0")/common.bash"

try "$WEFT" queue
expect_status 1 "no server"
expect_in "no weft server is listening on $WEFT_SOCKET" "$err" "no server"
try "$WEFT" run -- true
expect_status 1 "run without a server"

serve --virtual-gpus 4
cd "$scratch"
printf 'echo hello\n' >good.sh

expect_refusal "no command" "$WEFT"
expect_refusal "a command that is none" "$WEFT" rum
[[ $err == "weft: unknown command"* ]] || fail "a command that is none: '$err'"
expect_in "did you mean 'run'?" "$err" "a command that is none"
expect_refusal "an option that is none" "$WEFT" run --prioritty 1 -- true
expect_in "did you mean '--priority'?" "$err" "an option that is none"
expect_refusal "an option that is none" "$WEFT" queue --jsn
expect_in "did you mean '--json'?" "$err" "an option that is none"
expect_refusal "run without a command" "$WEFT" run -G 1
expect_refusal "run without a command" "$WEFT" run -G 1 --
expect_refusal "an empty command" "$WEFT" run -- ""
expect_refusal "an option twice" "$WEFT" run -G 1 -G 2 -- true
expect_refusal "an option without its value" "$WEFT" run -G
for value in -1 1.5 x '' nan 1e3 99999999999999999999 '1 '; do
  expect_refusal "--gpus '$value'" "$WEFT" run "--gpus=$value" -- true
done
for value in -1 x nan inf 0.0001 1e99 99999999999999999999; do
  expect_refusal "--cpus '$value'" "$WEFT" run "--cpus=$value" -- true
done
for value in -1G 8X nan 9999999999T G 500 0; do
  expect_refusal "--mem '$value'" "$WEFT" run "--mem=$value" -- true
done
for value in 0 -5m 5y nan 99999999999d; do
  expect_refusal "--time '$value'" "$WEFT" run "--time=$value" -- true
done
expect_refusal "--count 0" "$WEFT" run --count=0 -- true
expect_refusal "--gpu-bind rack" "$WEFT" run --gpu-bind rack -- true
expect_refusal "an unknown queue" "$WEFT" run -q nowhere -- true
expect_in "nowhere" "$err" "an unknown queue"
expect_refusal "an unknown model" "$WEFT" run --gpu Z9000 -- true
expect_in "this cluster has generic" "$err" "an unknown model"
expect_refusal "a directory that is not there" "$WEFT" run -D /no/such/place -- true
expect_refusal "an output in no directory" "$WEFT" run -o no/such/file -- true
expect_in "the folder $scratch/no/such/ does not exist" "$err" "an output in no directory"
expect_refusal "an output pattern" "$WEFT" run -o 'x-%q' -- true
expect_refusal "a control character in a name" "$WEFT" run -J $'two\nlines' -- true
expect_refusal "a name that is not UTF-8" "$WEFT" run -J $'\xff\xfe' -- true
expect_refusal "an argument that is not UTF-8" "$WEFT" run -- echo $'\xff'
expect_refusal "a name that is too long" "$WEFT" run -J "$(head -c 300 /dev/zero | tr '\0' x)" -- true

expect_refusal "more GPUs than there are" "$WEFT" run -G 5 -- true
expect_in "4 of 5" "$err" "more GPUs than there are"
expect_refusal "more CPUs than there are" "$WEFT" run -c 100000 -- true
expect_refusal "more memory than there is" "$WEFT" run -m 900T -- true
expect_refusal "a gang that is too large" "$WEFT" run -N 5 -G 1 -- true
expect_refusal "a model that the machine lacks" "$WEFT" run -G 1 --gpu H100-SXM5-80GB -- true
expect_refusal "a model that the machine lacks" "$WEFT" run --gpu h100 -- true
expect_in "no GPU here is 'h100'; this machine has generic" "$err" "a model that the machine lacks"
expect_refusal "a part of a GPU" "$WEFT" run -G 0.5 -- true
expect_in "sharing GPUs is not supported yet by serve" "$err" "a part of a GPU"
expect_refusal "a word of another scheduler" "$WEFT" hold 3
expect_in "jobs cannot be held back and released yet" "$err" "a word of another scheduler"
expect_refusal "an option of another scheduler" "$WEFT" submit --array=1-4 good.sh
expect_in "no job arrays yet; use a loop" "$err" "an option of another scheduler"
expect_refusal "a state that is none" "$WEFT" queue --state runing
try "$WEFT" serve --virtual-gpus 1 --state-dir "$scratch/other"
expect_status 1 "a second server"
expect_in "--socket" "$err" "a second server"

expect_refusal "no script" "$WEFT" submit
expect_refusal "a script that is not there" "$WEFT" submit nothing.sh
expect_in "nothing.sh" "$err" "a script that is not there"
expect_refusal "a directory for a script" "$WEFT" submit /tmp
: >empty.sh
expect_refusal "an empty script" "$WEFT" submit empty.sh
printf '\x7fELF\0\0' >program
expect_refusal "a program for a script" "$WEFT" submit program
printf '#!/bin/sh\n#WEFT --gpus 1 --nonsense\n' >odd.sh
expect_refusal "a directive that is none" "$WEFT" submit odd.sh
expect_in "odd.sh:2: unknown option '--nonsense'" "$err" "a directive that is none"
printf '#!/bin/sh\n#WEFT --name "half\n' >open.sh
expect_refusal "an open quote" "$WEFT" submit open.sh
expect_in "open.sh:2:14:" "$err" "an open quote"

expect_refusal "a job that is none" "$WEFT" show 12345
expect_refusal "a job that is none" "$WEFT" cancel 12345
expect_refusal "a job by name" "$WEFT" why train
for word in '0?kill=1' '0/attach' '@?x=1' '-1' '' $'0 HTTP/1.1\r\nX: y' $'\e[31m'; do
  for command in show why log wait cancel; do expect_refusal "$command '$word'" "$WEFT" "$command" -- "$word"; done
done
expect_refusal "a task that is none" "$WEFT" log 0 --task '0&follow=1'
expect_refusal "a name with an escape of eight bits" "$WEFT" run -J $'a\xc2\x9b31m' -- true
expect_refusal "a name that is written backwards" "$WEFT" run -J $'a\xe2\x80\xaeb' -- true
try "$WEFT" show $'\e[31m'
[[ $err != *$'\e'* ]] || fail "an escape went to the terminal"
expect_refusal "one job too many" "$WEFT" why 1 2
expect_refusal "help for a command that is none" "$WEFT" help rum
expect_in "did you mean 'run'?" "$err" "help for a command that is none"
expect_refusal "my latest job before the first" "$WEFT" show @
expect_refusal "cancel of nothing" "$WEFT" cancel
[ "$("$WEFT" queue --all --json)" = '{"jobs":[]}' ] || fail "something was submitted after all: $("$WEFT" queue --all --json)"

# What cannot be said is no reason to crash.
for place in /dev/full closed; do
  status=0
  if [ "$place" = closed ]; then "$WEFT" rum 2>&- || status=$?; else "$WEFT" rum 2>"$place" || status=$?; fi
  [ "$status" -eq 2 ] || fail "with standard error $place a wrong command ends with $status"
done
status=0
WEFT_SOCKET=/no/such/socket "$WEFT" queue 2>/dev/full || status=$?
[ "$status" -eq 1 ] || fail "with a full standard error a missing server gives $status"

# A very long command is taken up to what the system can run, and refused beyond.
long=$(head -c 100000 /dev/zero | tr '\0' x)
try "$WEFT" run -- sh -c 'echo $#' sh "$long" "$long" "$long" "$long" "$long"
[ "$out" = 5 ] || fail "a long command: '$out' '$err'"
head -c 5000000 /dev/zero | tr '\0' '#' >huge.sh
expect_refusal "a huge script" "$WEFT" submit huge.sh

for arguments in "--virtual-gpus 65" "--virtual-gpus x" "--virtual-gpus -1" "--gpu-model H100-SXM" "--virtual-gpus 1 --gpu-model Z9000" "--virtual-gpus 1 --gpu-model h100" "--policy nonsense" \
  "--grace -1s" "--log loud" "--bogus" "extra"; do
  # shellcheck disable=SC2086
  expect_refusal "serve $arguments" "$WEFT" serve --socket "$scratch/other.sock" --state-dir "$scratch/other" $arguments
done
expect_refusal "an empty socket" timeout 60 "$WEFT" serve --state-dir "$scratch/other" --socket ""
expect_in "--socket: expected a path" "$err" "an empty socket"
expect_refusal "an empty state folder" timeout 60 "$WEFT" serve --socket "$scratch/other.sock" --state-dir ""
expect_in "--state-dir: expected a path" "$err" "an empty state folder"
expect_refusal "an empty model" timeout 60 "$WEFT" serve --socket "$scratch/other.sock" --state-dir "$scratch/other" --gpu-model ""
expect_refusal "a path that is too long" "$WEFT" serve --state-dir "$scratch/other" --socket "/tmp/$(head -c 120 /dev/zero | tr '\0' x)"
expect_refusal "a socket that is a file" "$WEFT" serve --state-dir "$scratch/other" --socket "$scratch/good.sh"
[ "$(cat good.sh)" = "echo hello" ] || fail "the file was harmed"
stop_server
