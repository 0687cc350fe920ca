#!/bin/sh
# Measures everything in one run, prints one table, and draws it: Report/index.html, from Report/run.json.
#
#   run.sh [--quick] [--filter REGEX] [--keep]
#
# --quick   leaves a million entries out and measures for a short while
# --filter  runs the comparisons whose names match, as `recordNew, six fields, 1 k` or `queryOne, residents, 1 M`, and no probe;
#           '(query|growth|unindexed|recordIndexed|bulkIndexed).*' is all that has to do with indexes
# --keep    leaves what was measured in the folder that is named at the end
#
# A run of everything also writes the figures and pictures that are checked in: Report/full-run.json and Report/*.svg.
#
# PEERS names a folder with the sources of libraries that no package manager installs here: PEERS/LRUCache and PEERS/MMKV (see peers.sh).
# BENCH_FOLDER is where files are made (the folder for temporary files otherwise): it decides which disk is measured.
# BENCH_SCRATCH is where it is built.
set -eu
[ -z "${PEERS:-}" ] || PEERS="$(cd "$PEERS" && pwd)"
cd "$(dirname "$0")"
filter="" keep="" quick=""
while [ $# -gt 0 ]; do
    case "$1" in
    --quick) quick=1 ;;
    --filter)
        filter="$2"
        shift
        ;;
    --keep) keep=1 ;;
    *)
        sed -n 's/^# \{0,1\}//p' run.sh | sed 1d >&2
        exit 2
        ;;
    esac
    shift
done

[ -z "$quick" ] || export VELLUM_BENCH_QUICK=1
[ -z "$filter" ] || export VELLUM_BENCH_FILTER="$filter"
scratch="${BENCH_SCRATCH:-.build}"
VELLUM_BENCH_FOLDER="${BENCH_FOLDER:-$(mktemp -d)}"
export VELLUM_BENCH_FOLDER
mkdir -p "$VELLUM_BENCH_FOLDER"
[ -n "$keep" ] || [ -n "${BENCH_FOLDER:-}" ] || trap 'rm -rf "$VELLUM_BENCH_FOLDER"' EXIT
rm -rf "$VELLUM_BENCH_FOLDER/outcomes" "$VELLUM_BENCH_FOLDER/figures"

log="$VELLUM_BENCH_FOLDER/log.txt"
quietly() {
    "$@" >"$log" 2>&1 || {
        cat "$log" >&2
        exit 1
    }
}

echo "Building for release …"
. ./peers.sh
# Planned anew, because the libraries that are there may be others.
rm -f "$scratch/release.yaml"
for product in Probe Report; do quietly swift build -c release --scratch-path "$scratch" --product "$product"; done
tools="$(swift build -c release --scratch-path "$scratch" --show-bin-path)"

python="$(command -v python3)" || echo "Without Python 3 there is no python-diskcache, and nothing is drawn."

echo "Measuring …"
if [ -n "$filter" ]; then set -- --filter "$filter"; else set --; fi
quietly swift package --disable-sandbox --scratch-path "$scratch" benchmark --target VellumBenchmarks --no-progress "$@"
if [ -z "$filter" ]; then
    for probe in fill resident-memory log query-memory reliability contention migration hits; do "$tools/Probe" "$probe"; done
    [ -z "$python" ] || "$python" beside_diskcache.py "$tools/Probe"
    [ -z "$python" ] || "$python" count_hit.py "$tools/Probe" || true
fi
VELLUM_BENCH_SWIFT="$(swift --version 2>/dev/null | sed -n 's/.*Swift version \([0-9.]*\).*/Swift \1/p')"
export VELLUM_BENCH_SWIFT
VELLUM_BENCH_COMMIT="${VELLUM_BENCH_COMMIT:-$(git rev-parse --short HEAD 2>/dev/null || true)}"
export VELLUM_BENCH_COMMIT
"$tools/Report" Report/run.json
if [ -n "$python" ]; then
    "$python" Pictures Report/run.json
    if [ -z "$quick$filter" ]; then
        cp Report/run.json Report/full-run.json
        "$python" Pictures --readme Report/full-run.json
    fi
    echo "Pictures: $(pwd)/Report/index.html"
fi
[ -z "$keep" ] || echo "What was measured is in $VELLUM_BENCH_FOLDER."
