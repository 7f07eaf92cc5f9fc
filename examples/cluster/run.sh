#!/usr/bin/env bash
# Three nodes and a Redis on this machine: what clients see while Redis is running, when it is killed, and afterwards.
#   examples/cluster/run.sh      needs redis-server and curl; README.md explains what it prints
# WEIR is the program, by default the one of script/build. PORT is the first of the ports that are used, up to PORT+13.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
weir=${WEIR:-$here/../../build/release/weir}
port=${PORT:-7400}
nodes=(1 2 3)
requests=18
folder=$(mktemp -d)
redis_pid=
node_pids=()

die() { echo "run.sh: $*" >&2; exit 1; }

clean_up() {
  local pid
  for pid in "${node_pids[@]}" $redis_pid; do
    kill "$pid" 2>/dev/null || true
    wait "$pid" 2>/dev/null || true
  done
  rm -rf "$folder"
}
trap clean_up EXIT

for program in redis-server redis-cli curl "$weir"; do
  command -v "$program" >/dev/null || die "$program is not installed"
done

# await WHAT COMMAND...: until it succeeds, for at most ten seconds.
await() {
  local what=$1 deadline=$((SECONDS + 10))
  shift
  until "$@"; do
    [ $SECONDS -lt $deadline ] || die "never came: $what; $(cat "$folder"/*.log)"
    sleep 0.02
  done
}

redis_answers() { [ "$(redis-cli -p "$port" ping 2>/dev/null)" = PONG ]; }

# What Redis was told outlives it.
start_redis() {
  redis-server --port "$port" --bind 127.0.0.1 --dir "$folder" --save "" --appendonly yes --appendfsync always \
    >>"$folder/redis.log" 2>&1 &
  redis_pid=$!
  await "an answer of Redis" redis_answers
}

kill_redis() {
  kill -KILL "$redis_pid"
  wait "$redis_pid" 2>/dev/null || true
  redis_pid=
}

# start_node N: on the ports 7401, 7402... of weir.yaml, or those that PORT says.
start_node() {
  mkdir "$folder/$1"
  cp "$here/policy.yaml" "$folder/$1"
  sed -e "s/:7400/:$port/" -e "s/:7401/:$((port + $1))/" -e "s/:7411/:$((port + 10 + $1))/" \
    "$here/weir.yaml" >"$folder/$1/weir.yaml"
  STATE_DIRECTORY=$folder/$1/state "$weir" serve --config "$folder/$1/weir.yaml" \
    >"$folder/node-$1.log" 2>&1 &
  node_pids+=($!)
}

metrics() { curl -sf "http://127.0.0.1:$((port + 10 + $1))/metrics"; }

uses_redis() { metrics "$1" | grep -q '^weir_store_breaker_state 0$'; }
misses_redis() { metrics "$1" | grep -q '^weir_store_breaker_state [12]$'; }

# await_nodes CONDITION: of each of them.
await_nodes() {
  local node
  for node in "${nodes[@]}"; do await "$1 at node $node" "$1" "$node"; done
}

# How many decisions the nodes made so far: a line for each way, "shared 12".
paths() {
  local node
  for node in "${nodes[@]}"; do metrics "$node"; done |
    sed -n 's/^weir_store_decisions_total{path="\(.*\)"} \(.*\)/\1 \2/p' |
    awk '{ all[$1] += $2 } END { for (path in all) print path, all[path] }' | sort
}

# ask PATH USER: requests to the nodes in turn, and a line about what they said.
ask() {
  local before after answers i node
  before=$(paths)
  answers=$(for ((i = 0; i < requests; i++)); do
    node=${nodes[i % ${#nodes[@]}]}
    curl -s -o /dev/null -w '%{http_code} %{time_total}\n' "http://127.0.0.1:$((port + node))/v1/check" \
      -d "{\"path\": \"$1\", \"user\": \"$2\"}"
  done)
  after=$(paths)
  awk -v path="$1" -v by="$(join <(echo "$before") <(echo "$after") | awk '$3 > $2 { print $1, $3 - $2 }')" '
    $1 == 200 { admitted++ }
    $1 == 429 { denied++ }
    $2 > slowest { slowest = $2 }
    END {
      gsub(/\n/, ", ", by)
      printf "  %-7s %2d admitted, %2d denied   decided by: %-9s   slowest %4.1f ms\n",
        path, admitted, denied, by, slowest * 1000
      if (admitted + denied != NR) { print "  and other answers than 200 and 429"; exit 1 }
    }' <<<"$answers"
}

ask_all() {
  local path
  for path in /api /feed /login; do ask "$path" "$1"; done
}

start_redis
for node in "${nodes[@]}"; do start_node "$node"; done
await_nodes uses_redis
echo "Redis and three nodes. Each user may send 12 requests per hour to each path; $requests go to the nodes in turn."

echo "Redis is running; alice sends requests:"
ask_all alice

kill_redis
await_nodes misses_redis
echo "Redis is killed; bob sends requests:"
ask_all bob

start_redis
began=$(date +%s%N)
await_nodes uses_redis
echo "Redis is back, and used again after $((($(date +%s%N) - began) / 1000000)) ms; bob sends requests again:"
ask_all bob
echo "and carol:"
ask_all carol
