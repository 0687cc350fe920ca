#!/bin/sh
# check-users.sh [tool|server …]: compiles and tests the command `vellum` (Tools) and the example of a server (Examples/Server), packages of
# their own whose dependencies take minutes to build, where something that they use has changed: their own sources, the public names of the
# modules that they import (Documentation/API, which `make api` compares), and the sources of the module of which they are the user.
# With --always, whatever has changed.
#
# Scripts/users.txt has a checksum of all that for each, of the state in which its tests last passed. Only this script writes it, after it has
# compiled them and run their tests.
set -eu
cd "$(dirname "$0")/.."
known=Scripts/users.txt
always=
if [ "${1:-}" = --always ]; then
    always=yes
    shift
fi
[ $# -gt 0 ] || set -- tool server

files() {
    case $1 in
    tool) git ls-files Tools Sources/VellumFiles && names="CBORCoding MiniCache Vellum VellumCore VellumFiles" ;;
    server) git ls-files Examples/Server Sources/VellumMetrics && names="CBORCoding MiniCache Vellum VellumCore VellumMetrics" ;;
    esac
    for name in $names; do echo "Documentation/API/$name.txt"; done
}

sum() { files "$1" | grep -v '\.md$' | sort | xargs sha256sum | sha256sum | cut -d ' ' -f 1; }

for user in "$@"; do
    now="$(sum "$user")"
    if [ -z "$always" ] && grep -qx "$user $now" "$known" 2>/dev/null; then
        echo "Nothing that the $user uses has changed since its tests passed."
        continue
    fi
    echo "The $user is compiled and tested."
    make "test-$user"
    # A change while it was tested is none that was tested.
    [ "$now" = "$(sum "$user")" ] || { echo "Something that the $user uses has changed meanwhile." >&2 && exit 1; }
    { grep -v "^$user " "$known" 2>/dev/null || true; echo "$user $now"; } | sort >"$known.new"
    mv "$known.new" "$known"
done
