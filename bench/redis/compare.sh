#!/usr/bin/env bash
# Runs the comparison on a redis-server of its own, which has one core; the program has another.
#   compare.sh PROGRAM [--quick | --receipts]
set -euo pipefail
program=$1
folder=$(mktemp -d)
socket=$folder/socket
port=$(python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')

taskset -c 0 redis-server --port "$port" --unixsocket "$socket" --save '' --dir "$folder" --logfile "$folder/log" &
server=$!
trap 'kill "$server" 2>/dev/null; wait "$server" 2>/dev/null || true; rm -rf "$folder"' EXIT
for _ in $(seq 200); do
  redis-cli -s "$socket" ping >/dev/null 2>&1 && break
  sleep 0.05
done
last=$(($(nproc) - 1))
taskset -c "$last" "$program" 127.0.0.1 "$port" "$server" "${@:2}"
