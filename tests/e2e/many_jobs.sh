#!/usr/bin/env bash
# 200 jobs at once on 8 virtual GPUs: never more than 8 GPUs' worth run, each device is one job's at a time, every exit status is right and
# every output file whole. The jobs themselves keep the records.
. "$(dirname "$0")/common.bash"

jobs=200
mkdir "$scratch/outputs" "$scratch/locks" "$scratch/records"
cat >"$scratch/job.sh" <<'JOB'
#!/bin/bash
# Arguments: number, GPUs asked for, folder.
number=$1 gpus=$2 folder=$3
IFS=, read -ra devices <<<"$CUDA_VISIBLE_DEVICES"
[ "$gpus" -gt 0 ] || devices=()
for device in "${devices[@]}"; do
  exec {lock}>"$folder/locks/$device"
  flock -n "$lock" || echo "$number: GPU $device is somebody else's" >>"$folder/clashes"
done
begin=$EPOCHREALTIME
seq "$((number * 1000))" "$((number * 1000 + 499))"
read -t "0.0$((number % 5 + 3))" <> <(:) || true
echo "$number $gpus $begin $EPOCHREALTIME ${CUDA_VISIBLE_DEVICES}" >"$folder/records/$number"
exit $((number % 7))
JOB

gpus_of() {
  case $(($1 % 10)) in
    0) echo 0 ;;
    3 | 6) echo 2 ;;
    7) echo 4 ;;
    9) echo 8 ;;
    *) echo 1 ;;
  esac
}

serve --virtual-gpus 8
clients=()
for ((i = 1; i <= jobs; i++)); do
  "$WEFT" submit -G "$(gpus_of "$i")" -c 0.1 -m 16Mi -J "job-$i" -o "$scratch/outputs/$i" "$scratch/job.sh" "$i" "$(gpus_of "$i")" "$scratch" >"$scratch/id-$i" &
  clients+=($!)
done
for client in "${clients[@]}"; do
  wait "$client" || fail "a submission failed with status $?"
done
ids=$(sed 's/job //' "$scratch"/id-*)
[ "$(wc -l <<<"$ids")" -eq "$jobs" ] || fail "not every job got a number"
[ "$(sort -u <<<"$ids" | wc -l)" -eq "$jobs" ] || fail "two jobs have one number"

# shellcheck disable=SC2086
try "$WEFT" wait $ids
expect_status 1 "waiting for jobs of which some fail"
[ ! -e "$scratch/clashes" ] || fail "$(cat "$scratch/clashes")"
"$WEFT" queue --all --json >"$scratch/queue.json"
expect_no_job_processes "after the last job"
[ "$("$WEFT" cluster --json | python3 -c 'import json, sys; print(json.load(sys.stdin)["gpus_free"])')" -eq 8 ] || fail "not all GPUs came free again"

python3 - "$scratch" "$jobs" <<'CHECK'
import json
import sys
from pathlib import Path

folder, count = Path(sys.argv[1]), int(sys.argv[2])
jobs = {job["name"]: job for job in json.loads((folder / "queue.json").read_text())["jobs"]}
assert len(jobs) == count, f"{len(jobs)} jobs are listed"
edges = []
for number in range(1, count + 1):
    job = jobs[f"job-{number}"]
    assert job["exit_status"] == number % 7, f"job {number}: exit status {job['exit_status']}"
    assert job["state"] == ("done" if number % 7 == 0 else "failed"), f"job {number} is {job['state']}"
    lines = (folder / "outputs" / str(number)).read_text().split()
    assert lines == [str(n) for n in range(number * 1000, number * 1000 + 500)], f"job {number}: its output is not whole"
    _, gpus, begin, end, visible = (folder / "records" / str(number)).read_text().split()
    devices = [] if visible == "-1" else visible.split(",")
    assert len(devices) == int(gpus) == len(set(devices)), f"job {number} asked for {gpus} GPUs and saw {visible}"
    assert set(devices) <= set("01234567"), f"job {number} saw {visible}"
    shown = [str(gpu) for task in job["tasks"] for gpu in task["gpus"]]
    assert shown == devices, f"job {number} saw {visible}, the server says {shown}"
    edges += [(float(begin), 1, number, devices), (float(end), 0, number, devices)]

owner, busiest = {}, 0
for _, is_begin, number, devices in sorted(edges):  # at one moment ends come before begins
    for device in devices:
        if is_begin:
            assert device not in owner, f"GPU {device} belongs to jobs {owner[device]} and {number} at once"
            owner[device] = number
        else:
            del owner[device]
    busiest = max(busiest, len(owner))
assert busiest <= 8, f"{busiest} GPUs in use at once"
assert busiest == 8, f"never more than {busiest} GPUs were in use: the jobs did not meet"
print(f"{count} jobs, at most {busiest} GPUs in use at once, each by one job")
CHECK
stop_server
