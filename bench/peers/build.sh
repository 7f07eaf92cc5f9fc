#!/usr/bin/env bash
# Builds the peers that are not there yet into FOLDER, from their registries; those that cannot be had are named, with
# the reason. What is built stays, so that a second run builds nothing.
#   build.sh FOLDER
set -uo pipefail
mkdir -p "${1:?"a folder"}"
to=$(realpath "$1")
here=$(cd "$(dirname "$0")" && pwd)
work=$to/work
log=$to/log
trap 'rm -rf "$work" "$log"' EXIT

# peer NAME PROGRAM TOOL COMMAND...: COMMAND makes PROGRAM, with TOOL.
peer() {
  local name=$1 program=$to/$2 tool=$3
  shift 3
  [ ! -e "$program" ] || return 0
  if ! command -v "$tool" >/dev/null; then
    echo "peers: $name is left out: it is built with $tool, which is not on the PATH"
    return 0
  fi
  echo "peers: building $name"
  if ! "$@" >"$log" 2>&1 || [ ! -e "$program" ]; then
    echo "peers: $name is left out: it could not be built. The last lines of its build:"
    tail -n 3 "$log" | sed 's/^/    /'
  fi
}

redis_cell() {
  cargo build --locked --release --manifest-path "$here/redis_cell/Cargo.toml" --package redis-cell --target-dir "$work" &&
    cp "$work/release/libredis_cell.so" "$to"
}
throttlecrab() {
  cargo install throttlecrab-server --version 0.4.40 --locked --root "$work" --target-dir "$work/target" &&
    cp "$work/bin/throttlecrab-server" "$to"
}
limitador() {
  cargo build --locked --release --manifest-path "$here/limitador/Cargo.toml" --target-dir "$work" &&
    cp "$work/release/limitador_peer" "$to"
}
gubernator() {
  GOTOOLCHAIN=local go build -C "$here/gubernator" -o "$to/gubernator" \
    github.com/gubernator-io/gubernator/v2/cmd/gubernator
}
ratelimit() {
  GOTOOLCHAIN=local go build -C "$here/ratelimit" -o "$to/ratelimit" github.com/envoyproxy/ratelimit/src/service_cmd
}

peer redis-cell libredis_cell.so cargo redis_cell
peer throttlecrab throttlecrab-server cargo throttlecrab
peer gubernator gubernator go gubernator
peer envoyproxy/ratelimit ratelimit go ratelimit
peer limitador limitador_peer cargo limitador
