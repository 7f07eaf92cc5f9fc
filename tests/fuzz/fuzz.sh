#!/usr/bin/env bash
# fuzz.sh FUZZER CORPUS: fuzzes for $FUZZ_SECONDS (default 30). New inputs are stored next to the fuzzer. libFuzzer
# prints an input that fails; add it to the corpus once the bug is fixed.
set -euo pipefail

fuzzer=$1 corpus=$2
found=$fuzzer.found
mkdir -p "$found"
exec "$fuzzer" -max_total_time="${FUZZ_SECONDS:-30}" -timeout=10 -print_final_stats=1 \
  -artifact_prefix="$found/failed-" "$found" "$corpus"
