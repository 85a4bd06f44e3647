#!/usr/bin/env bash
# `weft simulate` and `weft compare`: what they print and write, and what they say of wrong input.
. "$(dirname "$0")/common.bash"

cd "$scratch"
cat >jobs.csv <<'CSV'
job_id,num_gpu,submit_time,iterations,model_name,duration,interval
0,4,0,1,vgg16,100,0
1,2,10,1,vgg16,20,10
2,4,20,1,vgg16,30,10
CSV

try "$WEFT" simulate jobs.csv --cluster 1x4 --policy srtf --rules native --placement count --jobs-csv out.csv --json out.json --html out.html
expect_status 0 "a run"
expect_in "3 jobs" "$out" "a run"
[ "$(cat out.csv)" = "job_id,num_gpu,submit_time,start_time,end_time,executed_time,jct,pending_time,preempts
0,4,0,0,150,100,150,50,1
1,2,10,10,30,20,20,0,0
2,4,20,30,60,30,40,10,0" ] || fail "the rows of the jobs: $(cat out.csv)"
for key in '"jobs"' '"avg_jct"' '"median_jct"' '"p90_jct"' '"p99_jct"' '"makespan"' '"avg_wait"' '"preempts"' '"utilization"' '"wall_seconds"'; do
  grep -q "$key" out.json || fail "the JSON lacks $key"
done
grep -qi '<html' out.html || fail "the page is no page"
! grep -qE '(src|href)="(https?:)?//' out.html || fail "the page fetches something"

try "$WEFT" simulate jobs.csv --cluster 1x4 --jobs-csv -
expect_status 0 "a table to standard output"
[ "${out%%$'\n'*}" = "job_id,num_gpu,submit_time,start_time,end_time,executed_time,jct,pending_time,preempts" ] ||
  fail "standard output is the table alone: '$out'"

# The same jobs packed, with a byte order mark, with CRLF.
gzip -k jobs.csv
{ printf '\xef\xbb\xbf' && sed 's/$/\r/' jobs.csv; } >crlf.csv
for trace in jobs.csv.gz crlf.csv; do
  "$WEFT" simulate "$trace" --cluster 1x4 --policy srtf --rules native --placement count --jobs-csv same.csv >/dev/null
  cmp out.csv same.csv || fail "$trace gives other results"
done
"$WEFT" simulate /dev/stdin --cluster 1x4 --policy srtf --rules native --placement count --jobs-csv same.csv \
  < <(cat jobs.csv.gz) >/dev/null
cmp out.csv same.csv || fail "a pipe gives other results"

try "$WEFT" compare jobs.csv --cluster 1x4 --policy fifo,srtf,2d-las --json all.json
expect_status 0 "a comparison"
for policy in fifo srtf 2d-las; do expect_in "$policy" "$out" "a comparison"; done

# A policy of a file goes by its name; a cluster of a file has queues.
mkdir -p policies
# Orders that learn from the past say from what.
try "$WEFT" simulate jobs.csv --cluster 1x4 --policy gittins
expect_status 0 "a policy that learns from the trace"
expect_in "learnt from the 3 jobs of the trace itself" "$out" "a policy that learns from the trace"
sed 2d jobs.csv >past.csv
try "$WEFT" compare jobs.csv --cluster 1x4 --policy srtf,2d-gittins --history past.csv --json learnt.json
expect_status 0 "a policy that learns from a trace of the past"
grep -q '"past": *"the 2 jobs of past.csv"' learnt.json || fail "a policy that learns: $(cat learnt.json)"
[ "$(grep -c '"past": *""' learnt.json)" -ge 1 ] || fail "a policy that learns nothing says nothing"
printf 'order: srtf\nservice: {looks: exact}\n' >policies/mine.yaml
try "$WEFT" compare jobs.csv --cluster 1x4 --rules native --placement count --policy srtf,policies/mine.yaml --json files.json
expect_status 0 "a policy of a file"
expect_in "mine.yaml" "$out" "a policy of a file"
[ "$(grep -o '"decision_hash": *"[0-9a-f]*"' files.json | sort -u | wc -l)" -eq 1 ] || fail "a policy of a file: it is another"
"$WEFT" simulate jobs.csv --cluster 1x4 --rules native --placement count --policy <(printf 'order: srtf') --jobs-csv same.csv >/dev/null
cmp out.csv same.csv || fail "a policy from a pipe gives other results"
cat >cluster.yaml <<'YAML'
cluster: {nodes: [{name: n, gpus: 4}]}
queues: [{name: red, limit: {gpu: 2}}, {name: blue}]
YAML
cat >teams.csv <<'CSV'
id,queue,submit,run_time,gpus
0,red,0,100,2
1,red,0,100,1
2,blue,0,100,2
CSV
try "$WEFT" simulate teams.csv --cluster cluster.yaml --policy fjf --jobs-csv teams-out.csv
expect_status 0 "a cluster with queues"
[ "$(cut -d, -f1,5 teams-out.csv | tail -3 | tr '\n' ' ')" = "0,100 1,200 2,100 " ] || fail "a cluster with queues: $(cat teams-out.csv)"
try "$WEFT" simulate teams.csv --cluster cluster.yaml --json cluster.yaml
expect_status 2 "an output in the place of the cluster"
grep -q '^queues' cluster.yaml || fail "the cluster was written over"

# wrong_input WHAT WORDS ARGUMENT...: exit status 2, one line that holds the words, and nothing written.
wrong_input() {
  local what=$1 words=$2
  shift 2
  rm -f bad.json
  try "$WEFT" simulate "$@" --json bad.json
  expect_status 2 "$what"
  expect_in "$words" "$err" "$what"
  [ "$(printf '%s\n' "$err" | wc -l)" -eq 1 ] || fail "$what: more than one line: '$err'"
  [ ! -e bad.json ] || fail "$what: something was written all the same"
}
header=$(head -1 jobs.csv)
row() { printf '%s\n0,1,0,1,m,5,0\n%s\n' "$header" "$1" >bad.csv; }
wrong_input "an unknown policy" "there is no policy 'srtff' (did you mean 'srtf'?)" jobs.csv --cluster 1x4 --policy srtff
wrong_input "several policies" "one is expected" jobs.csv --cluster 1x4 --policy fifo,srtf
wrong_input "an unknown placement" "there is no placement 'packed'" jobs.csv --cluster 1x4 --placement packed
wrong_input "a cluster of nothing" "1 to 1000000 nodes" jobs.csv --cluster 0x4
printf 'order: srtf\nusage: {half_life: 7d}\n' >later.yaml
wrong_input "a feature to come" "later.yaml:2:8: usage history is not supported yet" jobs.csv --cluster 1x4 --policy later.yaml
wrong_input "no policy file" "none.yaml: there is no such file" jobs.csv --cluster 1x4 --policy none.yaml
cp later.yaml policies/later.yaml
printf 'order: srtf' >later.yaml && cp later.yaml policies/later.yaml
try "$WEFT" compare jobs.csv --cluster 1x4 --policy later.yaml,policies/later.yaml
expect_status 2 "two policies of one name"
expect_in "have one name" "$err" "two policies of one name"
printf 'cluster: {nodes: [{name: n, gpuz: 1}]}\n' >wrong.yaml
wrong_input "a key of a cluster" "wrong.yaml:1:29: a node has no key 'gpuz'" jobs.csv --cluster wrong.yaml
sed 's/^1,red/1,green/' teams.csv >bad-teams.csv
wrong_input "a queue that is not there" "job 1: cluster.yaml has no queue 'green'" bad-teams.csv --cluster cluster.yaml
wrong_input "a history that nobody reads" "--history: none of the policies learns from the past" jobs.csv --cluster 1x4 --policy srtf --history jobs.csv
wrong_input "no history" "nowhere.csv: there is no such file" jobs.csv --cluster 1x4 --policy gittins --history nowhere.csv
wrong_input "no trace" "nowhere.csv: there is no such file" nowhere.csv --cluster 1x4
wrong_input "a folder" "." . --cluster 1x4
wrong_input "GPUs beyond the cluster" "job 0: can never run here" jobs.csv --cluster 1x3
wrong_input "estimates" "--estimates: expected oracle" jobs.csv --cluster 1x4 --estimates guess
wrong_input "a seed" "--seed" jobs.csv --cluster 1x4 --seed -1
: >bad.csv
wrong_input "an empty trace" "bad.csv" bad.csv --cluster 1x4
printf '%s\n' "$header" >bad.csv
wrong_input "a trace of a header alone" "bad.csv" bad.csv --cluster 1x4
row 1,1,5,1,m
wrong_input "a row that is cut off" "bad.csv:3:" bad.csv --cluster 1x4
row 1,1,5,1,m,0,0
wrong_input "a job that does not run" "bad.csv:3:11" bad.csv --cluster 1x4
row 1,1,5,1,m,-3,0
wrong_input "a negative run time" "bad.csv:3:11" bad.csv --cluster 1x4
row 0,1,5,1,m,3,0
wrong_input "an id twice" "bad.csv:3:1" bad.csv --cluster 1x4
row 1,1,nan,1,m,3,0
wrong_input "a time that is no number" "bad.csv:3:5" bad.csv --cluster 1x4
printf '%s\n0,1,9,1,m,5,0\n1,1,5,1,m,5,0\n' "$header" >bad.csv
wrong_input "time that runs backwards" "bad.csv:3:5" bad.csv --cluster 1x4
head -c 60 jobs.csv.gz >cut.csv.gz
wrong_input "a packed trace that is cut off" "cut.csv.gz" cut.csv.gz --cluster 1x4
try "$WEFT" compare /dev/stdin --cluster 1x4 --policy fifo,fjf < <(cat jobs.csv)
expect_status 2 "a pipe for two runs"
expect_in "can be read only once" "$err" "a pipe for two runs"

row 1,1,5,1,m,x,0
try "$WEFT" simulate bad.csv --cluster 1x4 --skip-bad-rows --jobs-csv -
expect_status 0 "bad rows that are left out"
expect_in "1 bad row was left out" "$err" "bad rows that are left out"
[ "$(printf '%s\n' "$out" | wc -l)" -eq 2 ] || fail "bad rows that are left out: '$out'"

# A table of many jobs is written in parts. Wherever they go they are the same, and a file is replaced whole or not at all.
{ echo "$header" && seq 0 3999 | sed 's/.*/&,1,&,1,m,5,0/'; } >many.csv
"$WEFT" simulate many.csv --cluster 1x4 --jobs-csv parts.csv >/dev/null
[ "$(wc -l <parts.csv)" -eq 4001 ] && [ "$(wc -c <parts.csv)" -gt 100000 ] || fail "a table in parts: $(wc parts.csv)"
[ "$(cut -d, -f1 parts.csv | tail -n +2)" = "$(seq 0 3999)" ] || fail "a table in parts: not every job once, in order"
"$WEFT" simulate many.csv --cluster 1x4 --jobs-csv - | cmp parts.csv - || fail "a table in parts to standard output"
mkfifo pipe
timeout 60 "$WEFT" simulate many.csv --cluster 1x4 --jobs-csv pipe >/dev/null &
timeout 60 cat pipe | cmp parts.csv - || fail "a table in parts to a pipe"
wait $! || fail "a table in parts to a pipe: exit status $?"
[ -p pipe ] || fail "a pipe was replaced"
before=$(cksum parts.csv)
(
  trap '' XFSZ
  ulimit -f 80
  try "$WEFT" simulate many.csv --cluster 1x4 --jobs-csv parts.csv
  expect_status 1 "a disk that is full after the first part"
  [ "$err" = "weft: simulate: parts.csv: cannot be written: File too large" ] || fail "a disk that is full: '$err'"
)
[ "$(cksum parts.csv)" = "$before" ] && [ "$(ls parts.csv*)" = parts.csv ] || fail "a full disk changed something: $(ls)"
if [ -c /dev/full ]; then
  try "$WEFT" simulate many.csv --cluster 1x4 --jobs-csv /dev/full
  expect_status 1 "a full device"
  [ "$err" = "weft: simulate: /dev/full: cannot be written: No space left on device" ] || fail "a full device: '$err'"
fi
