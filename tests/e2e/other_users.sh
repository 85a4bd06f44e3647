#!/usr/bin/env bash
# A server is for its own user and root; another user gets a clear no, from the file system or from the server.
. "$(dirname "$0")/common.bash"

[ "$(id -u)" -eq 0 ] || skip "only root can be several users"
command -v setpriv >/dev/null || skip "there is no setpriv"
as() {
  local uid=$1
  shift
  "${by[@]}" setpriv --reuid "$uid" --regid "$uid" --clear-groups env HOME=/nonexistent "$@"
}

by=()

# Whoever is to run it must be able to read it.
cp "$WEFT" "$scratch/weft"
chmod 755 "$scratch" "$scratch/weft"
mkdir "$scratch/of-1001"
chown 1001:1001 "$scratch/of-1001"
export WEFT_SOCKET=$scratch/of-1001/weft.sock
mkfifo "$scratch/ready"
by=(exec)
as 1001 "$scratch/weft" serve --virtual-gpus 1 --state-dir "$scratch/of-1001/state" >"$scratch/ready" 2>"$scratch/serve.err" &
server=$!
by=()
read -r _ <"$scratch/ready"

try as 1001 "$scratch/weft" run -D / -- id -u
[ "$out" = 1001 ] || fail "the owner's job ran as '$out' ($err)"
try "$scratch/weft" run -D / -- id -u
[ "$out" = 1001 ] || fail "root's job on the user's server ran as '$out' ($err)"

try as 1002 "$scratch/weft" queue
expect_status 1 "another user"
expect_in "belongs to another user" "$err" "another user"
chmod 666 "$WEFT_SOCKET"  # even so
try as 1002 "$scratch/weft" queue
expect_status 1 "another user with access to the socket"
expect_in "may not use it" "$err" "another user with access to the socket"
try as 1002 "$scratch/weft" run -D / -- true
expect_status 1 "a job of another user"

# A folder that somebody else made in /tmp is not trusted.
rm -rf /tmp/weft-1003
mkdir -m 777 /tmp/weft-1003
try as 1003 env -u WEFT_SOCKET -u XDG_RUNTIME_DIR "$scratch/weft" serve --virtual-gpus 1 --state-dir "$scratch/of-1003"
rmdir /tmp/weft-1003
expect_status 1 "a folder of somebody else"
stop_server
