#!/bin/sh
# run_fuzzer.sh BUILD SECONDS FUZZER: runs one fuzzer on its own corpus; its log and what it finds stay in BUILD.
set -eu
build=$1 seconds=$2 fuzzer=$3
name=$(basename "$fuzzer")
mkdir -p "$build/corpus/$name" "$build/found"
log=$build/$name.log
if "$fuzzer" -max_total_time="$seconds" -rss_limit_mb=2048 -timeout=20 -print_final_stats=1 -verbosity=0 \
  -artifact_prefix="$build/found/$name-" "$build/corpus/$name" 2>"$log"; then
  echo "$name: $(sed -n 's/^stat::number_of_executed_units: *//p' "$log") runs, peak $(sed -n 's/^stat::peak_rss_mb: *//p' "$log") MiB"
else
  tail -60 "$log" >&2
  echo "$name found something; the input is in $build/found" >&2
  exit 1
fi
