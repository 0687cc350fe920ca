#!/bin/sh
# Runs libFuzzer on readers of untrusted bytes.
#
#   fuzz.sh PROGRAM SECONDS TARGET…
#
# The corpus is kept in .build/corpus, with the inputs that failed.
set -eu
program="$1" seconds="$2"
shift 2
# Each input creates and opens database files; keep them in memory if possible.
[ ! -d /dev/shm ] || export TMPDIR=/dev/shm
for target in "$@"; do
    corpus=".build/corpus/$target"
    mkdir -p "$corpus"
    for seed in Fuzzing/Corpus/"$target"-*; do [ ! -e "$seed" ] || cp "$seed" "$corpus"; done
    log=".build/corpus/$target.log"
    if ! FUZZ_TARGET="$target" "$program" -max_total_time="$seconds" -timeout=20 -rss_limit_mb=2048 -print_final_stats=1 \
        -artifact_prefix=".build/corpus/$target-" "$corpus" >"$log" 2>&1; then
        tail -n 60 "$log"
        exit 1
    fi
    echo "FIGURES fuzz $target executions=$(sed -n 's/^stat::number_of_executed_units: *//p' "$log") seconds=$seconds"
done
