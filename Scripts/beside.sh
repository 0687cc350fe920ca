#!/bin/sh
# Runs a program of the state in which format 1 became final beside one of today, on one file: `make beside`.
#
# Tests/Beside/commit.txt names that state. Both programs are Tests/Beside/Beside.swift, each built with the package as it was and as it is, in
# .build/beside. Each must find what the other has written and removed, and both must print the same.
set -eu
package="$(cd "$(dirname "$0")/.." && pwd)"
commit="$(cat "$package/Tests/Beside/commit.txt")"
folder="$package/.build/beside"
then="$folder/then/Vellum"

mkdir -p "$folder/then" "$folder/now"
if [ "$(git -C "$then" rev-parse HEAD 2>/dev/null || true)" != "$commit" ]; then
    rm -rf "$then"
    git clone --quiet --shared --no-checkout "$(cd "$package" && git rev-parse --path-format=absolute --git-common-dir)" "$then"
    git -C "$then" -c advice.detachedHead=false checkout --quiet "$commit" || {
        echo "This clone does not have the commit $commit: git fetch --unshallow." >&2
        exit 1
    }
fi

# build NAME PACKAGE: builds the program with a package.
build() {
    mkdir -p "$folder/$1/Sources/Beside"
    cp "$package/Tests/Beside/Beside.swift" "$folder/$1/Sources/Beside/"
    cat >"$folder/$1/Package.swift" <<END
// swift-tools-version: 6.2
import PackageDescription
let package = Package(
    name: "Beside", platforms: [.macOS(.v15)],
    dependencies: [.package(name: "Vellum", path: "$2")],
    targets: [
        .executableTarget(
            name: "Beside", dependencies: [.product(name: "Vellum", package: "Vellum"), .product(name: "MiniCache", package: "Vellum")])
    ])
END
    echo "Building the program with the package of $1."
    (cd "$folder/$1" && ${SWIFT:-swift} build -debug-info-format none >"$folder/$1.log" 2>&1) || {
        grep 'error:' "$folder/$1.log" >&2 || tail -n 20 "$folder/$1.log" >&2
        exit 1
    }
}

# run FIRST SECOND: runs both programs on a new file, which the first one creates.
run() {
    data="$(mktemp -d)"
    timeout 120 "$folder/$1/.build/debug/Beside" "$data" "$1" "$2" >"$folder/$1.out" &
    first=$!
    while [ ! -e "$data/Archives.sqlite" ] && kill -0 "$first" 2>/dev/null; do sleep 0.1; done
    status=0
    timeout 120 "$folder/$2/.build/debug/Beside" "$data" "$2" "$1" >"$folder/$2.out" || status=$?
    wait "$first" || status=$?
    rm -rf "$data"
    [ "$status" = 0 ] && cmp -s "$folder/$1.out" "$folder/$2.out" || {
        echo "The program of $1, which created the file, and that of $2 (status $status):" >&2
        tail -n 20 "$folder/$1.out" "$folder/$2.out" >&2
        exit 1
    }
}

build then "$then"
build now "$package"
run then now
run now then
cat "$folder/now.out"
echo "The program of $(git -C "$then" show -s --format='%h, %cs' HEAD) and that of today agree."
