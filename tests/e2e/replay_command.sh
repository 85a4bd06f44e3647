#!/usr/bin/env bash
# Journals: `weft simulate --journal`, `weft serve --journal`, what a kill leaves of them, and `weft replay`.
. "$(dirname "$0")/common.bash"

cd "$scratch"
cat >jobs.csv <<'CSV'
job_id,num_gpu,submit_time,iterations,model_name,duration,interval
first,4,0,1,vgg16,100,0
second,2,10,1,vgg16,20,10
third,4,20,1,vgg16,30,10
CSV

# --- a simulated run

try "$WEFT" simulate jobs.csv --cluster 1x4 --policy srtf --rules native --placement pack --json run.json --journal run.journal
expect_status 0 "a run with a journal"
[ "$(ls run.journal*)" = run.journal ] || fail "beside the journal there is something: $(ls run.journal*)"
hash=$(sed -n 's/.*"decision_hash": "\(.*\)".*/\1/p' run.json)
[ ${#hash} -eq 16 ] || fail "the run tells no hash: $(cat run.json)"
cp run.journal elsewhere && chmod 400 elsewhere
for journal in run.journal elsewhere; do
  try "$WEFT" replay "$journal"
  expect_status 0 "a replay of $journal"
  expect_in "hash $hash: the same as recorded" "$out" "a replay of $journal"
  expect_in "policy srtf" "$out" "a replay of $journal"
  [ -z "$err" ] || fail "a replay says '$err'"
done
try "$WEFT" replay run.journal --at 15s
expect_status 0 "a moment"
for words in "at 15s" "jobs: 1 running, 1 waiting, 0 ended" "2 of 4 needed are free" "hold job 1 (second), attempt 1: n0:0-1"; do
  expect_in "$words" "$out" "the moment of 15s"
done
try "$WEFT" replay run.journal --decision 7 --json -
expect_status 0 "a decision"
printf '%s' "$out" >moment.json
python3 - moment.json <<'PY' || fail "the moment of decision 7: $out"
import json, sys
moment = json.load(open(sys.argv[1]))
assert moment["same"] is True and moment["finished"] is True and moment["facts"]["policy"] == "srtf"
moment = moment["moment"]
assert moment["decision"] == 7 and moment["before"][-1]["number"] >= 7
assert moment["gpus"] == 4 and len(moment["nodes"]) == 1
assert len(moment["running"]) == moment["jobs_running"] and len(moment["waiting"]) == moment["jobs_waiting"]
assert all(job["why"] for job in moment["waiting"])
PY
try "$WEFT" replay run.journal --decisions
expect_status 0 "all decisions"
[ "$(wc -l <<<"$out")" -eq "$(sed -n 's/.*"decisions": \([0-9]*\).*/\1/p' run.json)" ] || fail "not all decisions are listed: $out"
try "$WEFT" replay run.journal --decisions --job second
expect_status 0 "the decisions about a job"
[ "$(awk '{print $3}' <<<"$out" | xargs)" = "admit hold start end" ] || fail "the decisions about a job: $out"
try "$WEFT" replay run.journal --job second --at 15s
expect_status 0 "a job at a moment"
expect_in "running" "$out" "a job at a moment"

# A journal takes the place of an old one when it is whole, and only then.
before=$(cksum run.journal)
printf '%s\nx,1,5,1,m,-3,0\n' "$(cat jobs.csv)" >bad.csv
try "$WEFT" simulate bad.csv --cluster 1x4 --journal run.journal
expect_status 2 "a bad trace"
[ "$(cksum run.journal)" = "$before" ] || fail "a run that failed changed the journal"
[ "$(ls run.journal*)" = run.journal ] || fail "a run that failed left something: $(ls run.journal*)"
(
  trap '' XFSZ
  ulimit -f 8
  try "$WEFT" simulate jobs.csv --cluster 500x8 --journal run.journal
  expect_status 1 "a full disk"
  expect_in "run.journal.unfinished: cannot be written: " "$err" "a full disk"
  [ "$(wc -l <<<"$err")" -eq 1 ] || fail "a full disk: more than one line: '$err'"
)
[ "$(cksum run.journal)" = "$before" ] && [ "$(ls run.journal*)" = run.journal ] || fail "a full disk changed something"

# --- wrong input: one line, and nothing done

expect_refusal "no journal" "$WEFT" replay jobs.csv
expect_in "jobs.csv: is no journal of weft" "$err" "no journal"
try "$WEFT" replay nowhere.journal
[ "$status" -ne 0 ] || fail "a file that is not there"
expect_in "nowhere.journal: cannot be opened: No such file" "$err" "a file that is not there"
expect_refusal "a time before the start" "$WEFT" replay run.journal --at -5s
expect_refusal "a time that is none" "$WEFT" replay run.journal --at soon
expect_refusal "a moment on the wall of a run without one" "$WEFT" replay run.journal --at "2025-03-01 14:05"
expect_in "no times on the wall" "$err" "a moment on the wall of a run without one"
expect_refusal "a decision that there is not" "$WEFT" replay run.journal --decision 1000
expect_in "there is no decision 1,000" "$err" "a decision that there is not"
expect_refusal "two stops" "$WEFT" replay run.journal --decision 1 --at 3s
expect_refusal "a job that there is not" "$WEFT" replay run.journal --job fourth
expect_refusal "a job that has not come" "$WEFT" replay run.journal --job third --at 5s
expect_refusal "no rows" "$WEFT" replay run.journal --rows 0
expect_refusal "the journal as output" "$WEFT" replay run.journal --json run.journal
expect_refusal "a journal to standard output" "$WEFT" simulate jobs.csv --cluster 1x4 --journal -
expect_refusal "a journal to a pipe" "$WEFT" simulate jobs.csv --cluster 1x4 --journal /dev/null
expect_refusal "a journal in the place of the trace" "$WEFT" simulate jobs.csv --cluster 1x4 --journal jobs.csv

# A byte that is changed is found: 40 places, every one said in one line.
python3 - <<'PY'
data = open("run.journal", "rb").read()
start = data.index(b"third")
for i in range(40):
    damaged = bytearray(data)
    damaged[start + i] ^= 0x55
    open(f"damaged{i}", "wb").write(damaged)
PY
for i in $(seq 0 39); do
  try "$WEFT" replay "damaged$i"
  [ "$status" -eq 1 ] || [ "$status" -eq 2 ] || fail "byte $i changed: exit status $status"
  [ "$(wc -l <"$scratch/err")" -eq 1 ] || fail "byte $i changed: not one line but '$err'"
done
head -c 6000 run.journal >cut.journal
expect_refusal "a journal that is cut off" "$WEFT" replay cut.journal

# --- a simulated run that is killed

awk 'BEGIN { print "job_id,num_gpu,submit_time,iterations,model_name,duration,interval"
             for (i = 0; i < 400000; ++i) printf "%d,%d,%d,1,vgg16,%d,0\n", i, 1 + i % 4, i * 10, 5 + i * 7919 % 200 }' >long.csv
"$WEFT" simulate long.csv --cluster 8x8 --policy srtf --placement pack --journal killed.journal >/dev/null 2>&1 &
run=$!
until [ "$(stat -c %s killed.journal.unfinished-wal 2>/dev/null || echo 0)" -gt 2000000 ]; do
  kill -0 "$run" 2>/dev/null || fail "the run ended before it could be killed"
done
expect_refusal_of_second() {
  try "$WEFT" simulate jobs.csv --cluster 1x4 --journal killed.journal
  expect_status 1 "a second run with the same journal"
  expect_in "another run is writing it" "$err" "a second run with the same journal"
}
expect_refusal_of_second
kill -KILL "$run"
wait "$run" 2>/dev/null || true
[ ! -e killed.journal ] || fail "a run that was killed has a journal that looks whole"
try "$WEFT" replay killed.journal.unfinished
expect_status 0 "the journal of a run that was killed"
expect_in "the same as recorded" "$out" "the journal of a run that was killed"
expect_in "unfinished" "$out" "the journal of a run that was killed"
calls=$("$WEFT" replay killed.journal.unfinished --json - | sed -n 's/.*"calls": \([0-9]*\).*/\1/p')
[ "$calls" -ge 4096 ] || fail "only $calls calls are left of a run that was killed"
# The next run has no trouble with what it left.
try "$WEFT" simulate jobs.csv --cluster 1x4 --journal killed.journal
expect_status 0 "a run after one that was killed"
[ "$(ls killed.journal*)" = killed.journal ] || fail "what the killed run left is still there: $(ls killed.journal*)"

# --- a server

export SECRET_OF_THIS_TEST="hidden-$$"
serve --virtual-gpus 2 --journal served.journal
[ "$(stat -c %a served.journal)" = 600 ] || fail "others can read the journal"
for i in 1 2 3; do "$WEFT" run -G 2 -J "short$i" -- true; done
"$WEFT" run -G 1 -J fails -- sh -c 'exit 3' && fail "this job should fail"
printf 'sleep 1000\n' >sleep.sh
"$WEFT" submit -G 2 -J long -o /dev/null sleep.sh >/dev/null
"$WEFT" submit -G 1 -J waits -o /dev/null sleep.sh >/dev/null
"$WEFT" why @ >/dev/null
hash=$("$WEFT" cluster --json | sed -n 's/.*"decision_hash": *"\([0-9a-f]*\)".*/\1/p')
try "$WEFT" replay served.journal
expect_status 0 "the journal of a server that runs"
expect_in "$hash: the same as recorded" "$out" "the journal of a server that runs"
expect_in "unfinished" "$out" "the journal of a server that runs"
try "$WEFT" replay served.journal --at end
expect_status 0 "the last moment of a server that runs"
expect_in "waits" "$out" "the last moment of a server that runs"
expect_in "0 of 1" "$out" "the last moment of a server that runs"
grep -q "$SECRET_OF_THIS_TEST" served.journal served.journal-wal && fail "the journal holds environments"
try "$WEFT" replay served.journal --job fails
expect_in "failed" "$out" "a served job"
expect_refusal "a moment before the server" "$WEFT" replay served.journal --at "2001-01-01 00:00"
try "$WEFT" replay served.journal --at "2101-01-01 00:00Z"
expect_status 0 "a moment on the wall"
expect_in "long" "$out" "a moment on the wall"
stop_server
[ "$(ls served.journal*)" = served.journal ] || fail "a server left something: $(ls served.journal*)"
try "$WEFT" replay served.journal
expect_status 0 "the journal of a server that ended"
expect_in "the same as recorded" "$out" "the journal of a server that ended"
[[ $out != *unfinished* ]] || fail "the journal of a server that ended is unfinished: $out"
"$WEFT" replay served.journal --decisions | grep -q "stop job .*(long).*cancelled" || fail "the end of the server is not in its journal"

try "$WEFT" serve --virtual-gpus 2 --state-dir "$scratch/state" --journal served.journal
expect_status 2 "a journal that is there already"
expect_in "served.journal: is there already" "$err" "a journal that is there already"
[ ! -e "$WEFT_SOCKET" ] || fail "the server that was refused left its socket"

# A server that is killed: what was decided last is there, and nothing was done that is not.
serve --virtual-gpus 2 --journal killed-server.journal
"$WEFT" submit -G 2 -J lost -o /dev/null sleep.sh >/dev/null
until "$WEFT" show 0 --json | grep -q '"state": *"running"'; do :; done
hash=$("$WEFT" cluster --json | sed -n 's/.*"decision_hash": *"\([0-9a-f]*\)".*/\1/p')
kill -KILL "$server"
wait "$server" 2>/dev/null || true
server=
try "$WEFT" replay killed-server.journal --job lost
expect_status 0 "the journal of a server that was killed"
expect_in "running" "$out" "the journal of a server that was killed"
expect_in "unfinished" "$out" "the journal of a server that was killed"
[ ${#hash} -eq 16 ] || fail "the server told no hash"
expect_in "$hash" "$out" "the journal of a server that was killed"

# A server whose journal cannot grow says so once, and serves on.
rm -f "$WEFT_SOCKET"
(
  trap '' XFSZ
  trap 'kill -KILL "$server" 2>/dev/null || true' EXIT
  ulimit -f 64
  serve --virtual-gpus 2 --journal small.journal
  for i in $(seq 40); do "$WEFT" run -J "a-rather-long-name-for-job-number-$i" -- true; done
  stop_server
  [ "$(grep -c "the journal ends here" serve.err)" -eq 1 ] || fail "the server should say once that its journal ends: $(cat serve.err)"
  : >serve.err
)
try "$WEFT" replay small.journal
expect_status 0 "a journal that could not grow"
expect_in "unfinished" "$out" "a journal that could not grow"
