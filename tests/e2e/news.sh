#!/usr/bin/env bash
# `weft wait` sees the end of a job also when so much happened meanwhile that the server keeps the news of it no longer.
. "$(dirname "$0")/common.bash"

serve --virtual-gpus 1
mkfifo "$scratch/go" "$scratch/first" "$scratch/waited"
printf 'read x <%s/go\n' "$scratch" >"$scratch/hold.sh"
printf 'read x <%s/first\n' "$scratch" >"$scratch/first.sh"
"$WEFT" submit -G 1 -o /dev/null "$scratch/hold.sh" >/dev/null
"$WEFT" submit -o /dev/null "$scratch/first.sh" >/dev/null
"$WEFT" wait 0 1 >"$scratch/waited" &
waiter=$!
exec 7<"$scratch/waited"
# When it tells of the first end it listens to the news. (Should it have looked before it listened, this tests less, but not wrongly.)
until [ "$(find "/proc/$waiter/fd" -lname 'socket:*' 2>/dev/null | wc -l)" -eq 1 ]; do :; done
echo >"$scratch/first"
read -r line <&7
[ "$line" = "job 1: done" ] || fail "weft wait said '$line'"
kill -STOP "$waiter"

# Each of these jobs makes two pieces of news; more than what is kept and what fits into a socket.
cat >"$scratch/churn.py" <<'PY'
import json
import os
import socket
import sys


def ask(method, path, body=b""):
    with socket.socket(socket.AF_UNIX) as connection:
        connection.connect(os.environ["WEFT_SOCKET"])
        head = f"{method} {path} HTTP/1.1\r\nConnection: close\r\nContent-Length: {len(body)}\r\n\r\n"
        connection.sendall(head.encode() + body)
        answer = b""
        while piece := connection.recv(65536):
            answer += piece
    return json.loads(answer.split(b"\r\n\r\n", 1)[1])


job = b'{"command":["true"],"directory":"/","gpus":1,"output":"/dev/null"}'
for _ in range(int(sys.argv[1])):
    ask("DELETE", f"/v1/jobs/{ask('POST', '/v1/jobs', job)['id']}")
PY
python3 "$scratch/churn.py" 4000
echo >"$scratch/go"
until [ "$("$WEFT" show 0 --json | python3 -c 'import json, sys; print(json.load(sys.stdin)["state"])')" = done ]; do :; done
python3 "$scratch/churn.py" 3000
kill -CONT "$waiter"
read -r -t 60 line <&7 || fail "weft wait waits for what has happened long ago"
[ "$line" = "job 0: done" ] || fail "weft wait said '$line'"
wait "$waiter" || fail "weft wait ended with $?"
stop_server
