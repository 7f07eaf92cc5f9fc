#!/usr/bin/env bash
# fuzz.sh FUZZER CORPUS: fuzzes for $FUZZ_SECONDS (default 30). New inputs stay beside the fuzzer;
# one that fails is printed by libFuzzer, and belongs in the corpus once it is fixed.
set -euo pipefail

fuzzer=$1 corpus=$2
found=$fuzzer.found
mkdir -p "$found"
exec "$fuzzer" -max_total_time="${FUZZ_SECONDS:-30}" -timeout=10 -print_final_stats=1 \
  -artifact_prefix="$found/failed-" "$found" "$corpus"
