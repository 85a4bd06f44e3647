#!/usr/bin/env bash
# What the commands show: tables, JSON, reasons, logs; scripts with directives; broken pipes.
. "$(dirname "$0")/common.bash"

serve --virtual-gpus 8 --gpu-model a100-sxm4-80gb
cd "$scratch"
field() { python3 -c 'import json, sys; print(eval("d" + sys.argv[1], {"d": json.load(sys.stdin)}))' "$1"; }

cat >train.sh <<'JOB'
#!/bin/bash
#WEFT --gpus 2 --name "my training"   # two of them
##WEFT --gpus 7
#WEFT -o out-%j-%x.txt -e err-%j.txt
echo "$WEFT_JOB_NAME $1 on $CUDA_VISIBLE_DEVICES in $PWD"
#WEFT --gpus 3
echo trouble >&2
JOB
[ "$("$WEFT" submit train.sh 'an argument')" = "job 0" ] || fail "the first job is not job 0"
rm train.sh  # the server has its copy
"$WEFT" wait 0 >/dev/null || fail "job 0 failed"
[ "$(cat 'out-0-my training.txt')" = "my training an argument on 0,1 in $scratch" ] || fail "job 0 wrote '$(cat out-0*)'"
[ "$(cat err-0.txt)" = trouble ] || fail "the error file holds '$(cat err-0.txt)'"
[ "$("$WEFT" log 0 2>/dev/null)" = "$(cat out-0*)" ] || fail "the log differs from the file"
[ "$("$WEFT" log 0 --err)" = trouble ] || fail "the log has no error output"

printf 'echo "$CUDA_VISIBLE_DEVICES"; read x <%s/go\n' "$scratch" >hold.sh
mkfifo go
exec 7<>go  # held open here, so that each job that reads takes one line
"$WEFT" submit --json -G 6 hold.sh | field '["gpus"]' | grep -qx 6 || fail "submit --json does not give the job"
"$WEFT" submit -G 4 -J 'große Ärbeit 训练' hold.sh >/dev/null
"$WEFT" submit --gpu A100 -N 2 -t 90m hold.sh >/dev/null
until [ "$("$WEFT" show 3 --json | field '["state"]')" = running ]; do :; done

"$WEFT" queue --json | python3 -m json.tool >/dev/null || fail "queue --json is no JSON"
"$WEFT" queue --all --json | field '["jobs"][2]["name"]' | grep -qx 'große Ärbeit 训练' || fail "the name is not what was given"
table=$("$WEFT" queue)
expect_in "große Ärbeit 训练" "$table" "the queue"
expect_in "0-5" "$table" "the GPUs in the queue"
expect_in "GPUs: 0 of 4 needed are free" "$table" "the reason in the queue"
[ "$(wc -l <<<"$table")" -eq 4 ] || fail "the queue has not one line a job: $table"
[ "$("$WEFT" queue --all | wc -l)" -eq 5 ] || fail "queue --all lacks a job"
expect_in "job 2 waits: GPUs: 0 of 4 needed are free" "$("$WEFT" why 2)" "why"
expect_in "job 1 is running since" "$("$WEFT" why 1)" "why of a running job"
expect_in "on GPU 0-5" "$("$WEFT" why 1)" "why of a running job"
"$WEFT" why 2 --json | field '["reason"]' | grep -qx GPUs || fail "why --json gives no reason"
expect_in "2 GPUs (A100)" "$("$WEFT" show 3)" "show"
expect_in "time limit 1h30m" "$("$WEFT" show 3)" "show"
"$WEFT" show 3 --json | field '["time_limit_ms"], d["ended_ms"]' | grep -qx '(5400000, None)' || fail "show --json has no time limit"
expect_in "1h30m" "$("$WEFT" queue | grep '^ *3 ')" "the limit in the queue"
[ "$("$WEFT" show 1 3 | grep -c '^job')" -eq 2 ] || fail "show of two jobs shows $("$WEFT" show 1 3)"
[ "$("$WEFT" show 1 3 --json | wc -l)" -eq 2 ] || fail "show --json of two jobs is not a line each"
expect_in "task 1" "$("$WEFT" show 3)" "show of a gang"
expect_in "job 3" "$("$WEFT" show @)" "the latest job"
"$WEFT" nodes --json | field '["nodes"][0]["gpus"][7]["jobs"]' | grep -qx '\[3\]' || fail "nodes --json does not say who has a GPU"
expect_in "0 of 8" "$("$WEFT" nodes)" "nodes"
expect_in "A100-SXM4-80GB" "$("$WEFT" nodes)" "nodes"
expect_in "fragmentation" "$("$WEFT" nodes)" "nodes"
expect_in "fragmentation" "$("$WEFT" cluster)" "cluster"
"$WEFT" cluster --json | field '["decision_hash"]' | grep -Eqx '[0-9a-f]{16}' || fail "cluster --json has no decision hash"

# Followers see what is written, until the job ends.
"$WEFT" log -f 1 >followed &
follower=$!
printf '\n\n\n\n' >&7
"$WEFT" wait 1 2 3 >waited || fail "the jobs failed"
[ "$(grep -c ': done' waited)" -eq 3 ] || fail "wait said '$(cat waited)'"
wait "$follower" || fail "log -f failed"
[ "$(cat followed)" = 0,1,2,3,4,5 ] || fail "log -f showed '$(cat followed)'"
[ -s weft-1.out ] || fail "the default output file is not there"

# What is left of a job that has ended, and what of one that was given as a command.
try "$WEFT" log 3 --task 1
expect_in "weft: note: the tasks of job 3 write to one file" "$err" "the log of one task of several"
[ "$("$WEFT" submit -t 1h -- sh -c 'echo "I am $0"; exit 7' me)" = "job 4" ] || fail "a command is not queued"
"$WEFT" wait 4 >/dev/null && fail "job 4 ended well"
[ "$(cat weft-4.out)" = "I am me" ] || fail "the command wrote '$(cat weft-4.out)'"
shown=$("$WEFT" show 4)
for part in "status 7" "; waited " ", ran " "0 GPUs" "time limit 1h" "weft-4.out"; do expect_in "$part" "$shown" "show of an ended job"; done

# Which jobs are listed, and how they ended.
expect_in "EXIT" "$("$WEFT" queue --all | head -n 1)" "the exit status in the queue"
[ "$("$WEFT" queue --state failed | tail -n +2 | awk '{print $1, $4, $9}')" = "4 failed 7" ] || fail "queue --state: $("$WEFT" queue --state failed)"
[ "$("$WEFT" queue -a -n 2 | tail -n +2 | awk '{print $1}' | xargs)" = "3 4" ] || fail "queue -n 2: $("$WEFT" queue -a -n 2)"
[ "$("$WEFT" queue 4 1 @ | tail -n +2 | awk '{print $1}' | xargs)" = "1 4" ] || fail "queue JOB: $("$WEFT" queue 4 1 @)"
"$WEFT" queue --user nobody-here --all --json | grep -qx '{"jobs":\[\]}' || fail "queue --user --json"

# Of a gang the task that failed is told from those that were stopped for it.
printf '#WEFT -N 3 -G 1\n[ "$WEFT_TASK" = 1 ] && exit 3\n#WEFT -t 1h\nexec sleep 1000\n' >gang.sh
try "$WEFT" submit gang.sh
expect_in "weft: note: gang.sh:3: #WEFT after the first command is not read" "$err" "a late line"
"$WEFT" wait 5 >/dev/null && fail "the gang ended well"
expect_in "task 0     cancelled, GPU" "$("$WEFT" show 5)" "a task that was stopped for another"
expect_in "task 1     failed, GPU" "$("$WEFT" show 5)" "the task that failed"

# The events by number, and the API as it is.
if command -v curl >/dev/null; then
  curl -sN --max-time 2 --unix-socket "$WEFT_SOCKET" 'http://weft/v1/events?after=0' >events || true
  [ "$(grep -c '"job":1,"state":"done"' events)" -eq 1 ] || fail "the events do not tell of job 1's end once"
  [ "$(curl -s -o /dev/null -w '%{http_code}' --unix-socket "$WEFT_SOCKET" http://weft/v1/jobs/99)" = 404 ] || fail "job 99 is not 404"
  [ "$(curl -s -o /dev/null -w '%{http_code}' -X PUT --unix-socket "$WEFT_SOCKET" http://weft/v1/jobs)" = 405 ] || fail "PUT is not 405"
  [ "$(curl -s --data '{"gpus":1,"gpus":2}' --unix-socket "$WEFT_SOCKET" http://weft/v1/jobs | grep -c 'given twice')" -eq 1 ] || fail "a key twice is not refused"
  head -c 30000000 /dev/zero | curl -s -o /dev/null -w '%{http_code}' --data-binary @- -H 'Expect:' --unix-socket "$WEFT_SOCKET" http://weft/v1/jobs >code || true
  [ "$(cat code)" = 413 ] || fail "a huge request gets $(cat code)"
fi
"$WEFT" queue >/dev/null || fail "the server is gone"

# Nobody complains when the reader has seen enough, and everybody when nothing can be written.
printf 'seq 1 100000\n' >long.sh
"$WEFT" submit long.sh >/dev/null
"$WEFT" wait @ >/dev/null
{ "$WEFT" log @ || true; } 2>pipe.err | head -n 1 >/dev/null
[ ! -s pipe.err ] || fail "a broken pipe is complained about: $(cat pipe.err)"
{ "$WEFT" queue -a || true; } 2>pipe.err | true
[ ! -s pipe.err ] || fail "a broken pipe is complained about: $(cat pipe.err)"
try sh -c '"$WEFT" queue -a >/dev/full'
expect_status 1 "a full disk"
stop_server
