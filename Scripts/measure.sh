#!/bin/sh
# Prints figures of the sources that are reported and not limited: lines, files and public declarations of each module. What is limited is
# checked by Scripts/check_structure.py, and Scripts/walks.sh counts the files that run for one call.
set -eu
cd "$(dirname "$0")/.."
sources=$(mktemp)
trap 'rm -f "$sources"' EXIT

printf '%-16s %6s %8s %8s %8s %8s\n' module files lines code public longest
for module in Sources/*/; do
    files=$(find "$module" -name '*.swift' | wc -l)
    [ "$files" -gt 0 ] || continue
    find "$module" -name '*.swift' -exec cat {} + >"$sources"
    lines=$(wc -l <"$sources")
    code=$(grep -cvE '^[[:space:]]*(//.*)?$' "$sources")
    public=$(grep -cE '^[[:space:]]*(@[A-Za-z]+(\([^)]*\))? )*public ' "$sources" || true)
    imports=$(grep -cE '^[[:space:]]*(@_exported )?public import ' "$sources" || true)
    longest=$(find "$module" -name '*.swift' -exec wc -l {} + | grep -v ' total$' | sort -rn | head -n 1 | awk '{ print $1 }')
    printf '%-16s %6d %8d %8d %8d %8d\n' "$(basename "$module")" "$files" "$lines" "$code" "$((public - imports))" "$longest"
done
find Sources -name "*.swift" -exec cat {} + | wc -l | awk '{ print "All:", $1, "lines" }'
