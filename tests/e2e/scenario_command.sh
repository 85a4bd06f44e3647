#!/usr/bin/env bash
# `weft scenario`: what it prints where, and its exit status.
. "$(dirname "$0")/common.bash"

cd "$scratch"
cat >good.yaml <<'YAML'
scenario: a job runs
cluster: {nodes: [{name: n, gpus: 1}]}
jobs: [{name: a, gpus: 1}]
steps: [{run: 1 cycle}, {expect: {a: running}}]
YAML
sed 's/a: running/a: pending/; s/a job runs/a wrong hope/' good.yaml >wrong.yaml
cat >later.yaml <<'YAML'
scenario: this needs an order that does not exist yet
cluster: {nodes: [{name: n}]}
policy: slurm
steps: [{run: 1 cycle}]
YAML

try "$WEFT" scenario good.yaml
expect_status 0 "a scenario that passes"
[ "$out" = "1 passed, 0 failed" ] && [ -z "$err" ] || fail "a scenario that passes: '$out' '$err'"

try "$WEFT" scenario good.yaml wrong.yaml
expect_status 1 "a scenario that fails"
expect_in "wrong.yaml:1: failed: a wrong hope
  wrong.yaml:4:35: expected a: pending, found running
1 passed, 1 failed" "$out" "a scenario that fails"
[ -z "$err" ] || fail "a scenario that fails is no wrong input: '$err'"

try "$WEFT" scenario later.yaml good.yaml
expect_status 1 "a scenario that is not supported yet"
expect_in "later.yaml:1: not supported yet: preset slurm (this needs an order that does not exist yet)
  later.yaml:3:9: preset slurm: asked for here
1 passed, 0 failed, 1 not supported yet" "$out" "a scenario that is not supported yet"
try "$WEFT" scenario --only-supported later.yaml good.yaml
expect_status 0 "--only-supported"
expect_in "1 passed, 0 failed, 1 not supported yet" "$out" "--only-supported"
try "$WEFT" scenario --only-supported later.yaml wrong.yaml
expect_status 1 "--only-supported with a failure"

try "$WEFT" scenario -v good.yaml
expect_in "cycle 1 at 0s: hold for a: w/0 on n[0]" "$out" "-v"
try "$WEFT" scenario --json good.yaml wrong.yaml later.yaml
expect_status 1 "--json"
expect_in '"passed":1,"failed":1,"not_supported":1' "$out" "--json"

try "$WEFT" scenario "$scratch"
expect_status 1 "a folder"
expect_in "1 passed, 1 failed, 1 not supported yet" "$out" "a folder"

# Wrong input: a line each on the error output, exit status 2. What is a scenario is run all the same.
wrong_input() {
  local what=$1 words=$2
  shift 2
  try "$WEFT" scenario "$@"
  expect_status 2 "$what"
  expect_in "$words" "$err" "$what"
  [ "$(printf '%s\n' "$err" | wc -l)" -eq 1 ] || fail "$what: more than one line: '$err'"
}
: >empty.yaml
printf 'scenario: \xff\n' >bytes.yaml
printf 'scenario: twice\nscenario: twice\n' >twice.yaml
sed 's/gpus: 1}]}/gpuss: 1}]}/' good.yaml >unknown.yaml
mkdir bare
wrong_input "an empty file" "empty.yaml:1:1: the file is empty" empty.yaml
wrong_input "bytes that are no text" "bytes.yaml:1:11: the byte 0xff is not valid UTF-8 here" bytes.yaml
wrong_input "a key twice" "twice.yaml:2:1: 'scenario' is written twice in one map; it stands already in line 1" twice.yaml
wrong_input "an unknown key" "unknown.yaml:2:29: a node has no key 'gpuss'; did you mean 'gpus'?" unknown.yaml
wrong_input "no such file" "nowhere.yaml: there is no such file" nowhere.yaml
wrong_input "a folder without scenarios" "bare: the folder holds no *.yaml or *.yml file" bare
wrong_input "a good file beside a bad one" "empty.yaml:1:1:" good.yaml empty.yaml
[ "$out" = "1 passed, 1 failed" ] || fail "a good file beside a bad one: '$out'"
try "$WEFT" scenario --no-such-option good.yaml
expect_status 2 "an unknown option"
try "$WEFT" scenario
expect_status 2 "no file"
