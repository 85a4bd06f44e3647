#!/usr/bin/env bash
# `weft generate`: traces that `weft simulate` plays at once, the same for the same seed, and nothing half written.
. "$(dirname "$0")/common.bash"

cd "$scratch"
mkdir made
plan=(--profile philly --jobs 3000 --cluster 20x8 --load 0.9)

try "$WEFT" generate "${plan[@]}" -o made/trace.csv
expect_status 0 "a trace"
[ -z "$out" ] || fail "a trace to a file prints nothing: '$out'"
expect_in "3,000 jobs as of philly" "$err" "a trace"
expect_in "load on 20x8: " "$err" "a trace"
[ "$(wc -l <made/trace.csv)" -eq 3001 ] || fail "a header and 3,000 rows: $(wc -l <made/trace.csv)"

# It plays as it is, packed, and whatever format it is written in.
try "$WEFT" simulate made/trace.csv --cluster 20x8 --policy srtf
expect_status 0 "the trace, played"
expect_in "3,000 done" "$out" "the trace, played"
"$WEFT" generate "${plan[@]}" 2>summary | gzip >packed.csv.gz
expect_in "3,000 jobs" "$(<summary)" "a trace to a pipe"
gzip -dc packed.csv.gz | cmp - made/trace.csv || fail "a pipe gets other bytes"
jobs_of() { "$WEFT" simulate "$1" --cluster 20x8 --policy fjf --rules native --placement count --jobs-csv - | cut -d, -f2,4-; }
"$WEFT" simulate packed.csv.gz --cluster 20x8 | grep -q "3,000 done" || fail "the packed trace does not play"
for format in tiresias swf; do
  "$WEFT" generate "${plan[@]}" --format "$format" -o "other.$format" 2>/dev/null
  [ "$(jobs_of "other.$format")" = "$(jobs_of made/trace.csv)" ] || fail "as $format the jobs run otherwise"
done

"$WEFT" generate "${plan[@]}" --seed 8 -o seed8.csv 2>/dev/null
! cmp -s seed8.csv made/trace.csv || fail "another seed gives the same trace"

# What is wrong is one line, and leaves nothing.
expect_refusal "an unknown profile" "$WEFT" generate --profile phily -o made/bad.csv
expect_in "did you mean 'philly'" "$err" "an unknown profile"
expect_refusal "a load of nothing" "$WEFT" generate --load 0.9 -o made/bad.csv
expect_refusal "a format that cannot hold it" "$WEFT" generate --profile pai --format tiresias -o made/bad.csv
[ "$(ls made)" = trace.csv ] || fail "an error left a file: $(ls made)"

# A reader that goes away.
{ "$WEFT" generate --jobs 500000 2>closed || echo "$?" >status; } | head -1 >/dev/null
[ "$(<closed)" = "weft: generate: standard output: cannot be written: Broken pipe" ] || fail "a closed pipe: '$(<closed)'"
[ "$(<status)" -eq 1 ] || fail "a closed pipe: exit status $(<status)"

# A signal in the middle.
"$WEFT" generate --jobs 1000000000 --rate 100000000 -o made/trace.csv 2>stopped &
writer=$!
until [ "$(ls made | wc -l)" -eq 2 ]; do kill -0 "$writer" 2>/dev/null || fail "it ended: $(<stopped)"; done
kill -TERM "$writer"
status=0
wait "$writer" || status=$?
[ "$status" -eq 143 ] || fail "a signal: exit status $status"
[ "$(wc -l <stopped)" -eq 1 ] || fail "a signal: '$(<stopped)'"
[ "$(ls made)" = trace.csv ] || fail "a signal left a file: $(ls made)"
[ "$(wc -l <made/trace.csv)" -eq 3001 ] || fail "a signal lost the old file"
