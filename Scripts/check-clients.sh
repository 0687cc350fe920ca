#!/bin/sh
# check-clients.sh BUILD_FOLDER [--valkey]: checks programs that use the products, against the modules that were built in BUILD_FOLDER
# (.build/debug). In Swift 5, in Swift 6 and in a module that is isolated to the main actor:
# - the examples of README and of the guides (Tests/Clients/Snippets) and of the pages (Tests/Clients), compile without a warning;
# - one of them is compiled with optimization, in Swift 6;
# - mistakes (Tests/Clients/Mistakes) get the diagnostics that they name, and no others;
# - the examples of README run, and print what it says; the adapters of the guide for servers run with hostile input;
# - the parity tests compile in the modes in which they are not run, and the fuzz targets and the programs that no test starts in one;
# - without the traits, each `ValkeyServer` and each `MetricsReporter` gets the message that names its trait, and nothing else does.
# With --valkey, BUILD_FOLDER was built with the traits `Valkey` and `Metrics`: clients of shared caches and of metrics compile, too, and
# the modules that the traits change are compiled once more without them, without a warning, and where no other package can be imported.
# Prints how many compilers it started.
set -eu
package="$(cd "$(dirname "$0")/.." && pwd)"
[ $# -ge 1 ] || { echo "usage: check-clients.sh BUILD_FOLDER [--valkey]" >&2; exit 2; }
build="${1%/}" && build="${build%/Modules}"
case $build in /*) ;; *) build="$PWD/$build" ;; esac
trait="${2:-}"
[ -d "$build/Modules" ] || { echo "$build/Modules does not exist: run swift build first." >&2; exit 2; }
folder="$(mktemp -d)"
trap 'rm -rf "$folder"' EXIT

# The modules of C: those that SwiftPM described, those of packages that describe their own, and SQLite.
maps="$package/Sources/CSQLite/module.modulemap $(ls "$build"/*.build/module.modulemap)"
for checkouts in "$(dirname "$build")/checkouts" "$build/../../checkouts"; do
    [ -d "$checkouts" ] || continue
    maps="$maps $(find "$checkouts" -path '*/Sources/*/include/module.modulemap')"
    break
done
for map in $maps; do printf -- '-Xcc\n"-fmodule-map-file=%s"\n' "$map"; done >"$folder/flags"
# The language of the package, as Package.swift has it.
sed -n 's/.*enableUpcomingFeature("\(.*\)").*/-enable-upcoming-feature \1/p' "$package/Package.swift" >"$folder/language"
# The compiler itself, because its driver takes as long as a small file: with it come the macros of Foundation.
frontend="${SWIFTC:-swiftc} -frontend -plugin-path $(${SWIFTC:-swiftc} -print-target-info | sed -n 's/.*"runtimeResourcePath" *: *"\(.*\)".*/\1/p')/host/plugins"
failures=0 compilers=0

fails() {
    echo "$1"
    failures=$((failures + 1))
}

# check NAME FILE MODULES: compiles a main file in each mode. Each diagnostic that the file does not expect is an error.
check() {
    client="$1" text="$2" modules="$3"
    for mode in 5 6 main-actor; do
        case $mode in
        # As the documentation says, the types of a module that is isolated to the main actor are declared `nonisolated`.
        main-actor) options="-swift-version 6 -default-isolation MainActor" prefix=swift6- edit='s/^(struct|final class|enum) /nonisolated &/' ;;
        *) options="-swift-version $mode" prefix="swift$mode-" edit= ;;
        esac
        sed -E "$edit" "$text" >"$folder/main.swift"
        compilers=$((compilers + 1))
        # shellcheck disable=SC2086
        $frontend -emit-sil -o /dev/null $options -I "$modules" "@$folder/flags" -module-name Client \
            -verify -verify-ignore-unrelated -verify-additional-prefix "$prefix" "$folder/main.swift" >"$folder/log" 2>&1 ||
            fails "$client ($mode): $( (grep -m 1 'error:' "$folder/log" || head -n 1 "$folder/log") | sed 's|.*main\.swift:|line |')"
    done
}

# shows PAGE CLIENT: each paragraph of the page's Swift examples must be in the client, whatever its indentation.
shows() {
    awk '
        function trimmed(line) { gsub(/^[ \t]+|[ \t\r]+$/, "", line); return line }
        function ends() {
            if (part != "" && part !~ /^\/\/ Package\.swift/ && !index(client, part)) { print part; exit 1 }
            part = ""
        }
        FNR == NR { client = client "\n" trimmed($0); next }
        /^ *```swift/ { inside = 1; next }
        inside && /^ *```/ { ends(); inside = 0; next }
        inside && trimmed($0) == "" { ends(); next }
        inside { part = (part == "" ? "" : part "\n") trimmed($0); examples++ }
        END { if (!examples) { print "no example"; exit 1 } }
    ' "$package/Tests/Clients/$2.swift" "$package/$1" >"$folder/missing" ||
        fails "$1: not in Tests/Clients/$2.swift: $(head -n 1 "$folder/missing")"
}

for product in Vellum MiniCache ShallowsSQLite CBORCoding VellumFiles VellumTesting MiniCacheValkey ShallowsValkey VellumMetrics; do
    shows "Sources/$product/Documentation.docc/$product.md" $product
done
shows Documentation/SharedCaches.md MiniCacheValkey

# without_traits NAME FILE MODULES: checks a client of what needs a trait, against modules that were compiled without it.
without_traits() {
    case $1 in
    */*Valkey.swift)
        sed 's|ValkeyServer(.*|& // expected-error {{Shared caches need the trait '"'Valkey'"'.}}|' "$2" >"$folder/client"
        grep -q expected-error "$folder/client" || fails "$1: makes no server"
        ;;
    *)
        sed -E 's/.*(MetricsReporter|VellumTracing\.enable)\(.*/& \/\/ expected-error {{Metrics need the trait '"'Metrics'"'.}}/' "$2" \
            >"$folder/client"
        grep -q expected-error "$folder/client" || fails "$1: reports nothing"
        ;;
    esac
    check "$1, without traits" "$folder/client" "$3"
}

# compiles MODULE FOLDER: the module of the package without traits, into FOLDER, which has the modules that it may import.
compiles() {
    compilers=$((compilers + 1))
    # shellcheck disable=SC2046
    ${SWIFTC:-swiftc} -emit-module -wmo -swift-version 6 -parse-as-library -warnings-as-errors -package-name "$packageName" \
        "@$folder/language" -I "$2" "@$folder/flags" -module-name "$1" \
        -emit-module-path "$2/$1.swiftmodule" $(find "$package/Sources/$1" -name '*.swift') >"$folder/log" 2>&1 ||
        fails "$1 does not compile without traits: $(grep -m 1 -E 'error:|warning:' "$folder/log")"
}

packageName="$(sed -n 's/.*"-module-name","VellumCore".*"-package-name","\([^"]*\)".*/\1/p' "$(dirname "$build")/debug.yaml" | head -n 1)"
plain="$build/Modules"
if [ -n "$trait" ]; then
    plain="$folder/Modules"
    mkdir "$plain"
    for module in CodableFormats CBORCoding VellumCore VellumEngine ModelVersions Originals Vellum MiniCache Shallows VellumRemote Logging; do
        ln -s "$build/Modules/$module.swiftmodule" "$plain/"
    done
    for module in VellumValkey MiniCacheValkey ShallowsValkey VellumMetrics; do compiles $module "$plain"; done
fi

for file in "$package"/Tests/Clients/Snippets/*.swift "$package"/Tests/Clients/*.swift "$package"/Tests/Clients/Mistakes/*.swift \
    "$package"/Tests/VellumTestingTests/GuideTests.swift; do
    name="${file#"$package"/}"
    case "$name" in
    */*Valkey.swift | */VellumMetrics.swift)
        without_traits "$name" "$file" "$plain"
        [ -z "$trait" ] || check "$name" "$file" "$build/Modules"
        ;;
    *) check "$name" "$file" "$build/Modules" ;;
    esac
done

# runs SNIPPET LINE: links a snippet with the modules and runs it in empty folders. LINE is one that it must print.
runs() {
    cp "$package/Tests/Clients/Snippets/$1.swift" "$folder/main.swift"
    compilers=$((compilers + 1))
    if ! ${SWIFTC:-swiftc} -swift-version 6 -I "$build/Modules" "@$folder/flags" -module-name Client "$folder/main.swift" "@$folder/objects" \
        -lsqlite3 -o "$folder/program" >"$folder/log" 2>&1; then
        fails "$1 is not linked: $(grep -m 1 'error:' "$folder/log")"
    elif ! HOME="$folder/$1" XDG_CACHE_HOME="$folder/$1" "$folder/program" >"$folder/log" 2>&1; then
        fails "$1 does not run: $(tail -n 1 "$folder/log")"
    elif ! grep -qxF -- "$2" "$folder/log"; then
        fails "$1 does not print '$2': $(head -n 1 "$folder/log")"
    fi
}

# types MODULE FILE…: type-checks the files of a program.
types() {
    module="$1" options= && shift
    ! grep -q '^@main' "$@" || options=-parse-as-library
    compilers=$((compilers + 1))
    # shellcheck disable=SC2086
    ${SWIFTC:-swiftc} -typecheck -wmo -swift-version 6 -package-name "$packageName" $defines $options -warnings-as-errors \
        "@$folder/language" -I "$build/Modules" "@$folder/flags" -module-name "$module" \
        "$@" >"$folder/log" 2>&1 || fails "$module: $(grep -m 1 -E 'error:|warning:' "$folder/log")"
}

# The optimizer of Swift 6.3 crashes on some functions of clients, whose code comes from here.
cp "$package/Tests/Clients/Snippets/ReleaseBuild.swift" "$folder/main.swift"
${SWIFTC:-swiftc} -O -emit-object -o "$folder/main.o" -swift-version 6 -I "$build/Modules" "@$folder/flags" -module-name Client \
    "$folder/main.swift" >"$folder/log" 2>&1 || fails "ReleaseBuild is not optimized: $(grep -m 1 -E 'error:|While' "$folder/log")"

# The parity tests, which run in the other two modes. Only where the package itself was built with its tests.
if [ -e "$build/Modules/ParitySwift6Tests.swiftmodule" ]; then
    # What the tests are linked of. The folders may have older files.
    grep -E '/(CBORCoding|CodableFormats|VellumCore|VellumEngine|CChecksum|CSQLiteConfig|ModelVersions|Originals|Vellum|MiniCache|Shallows|Logging)\.build/' \
        "$build/VellumPackageTests.product/Objects.LinkFileList" >"$folder/objects"
    runs FirstLook '["ann"]'
    runs GettingStarted "2 users, 88 bytes on disk"
    runs Queries "0 0"
    runs Updating "5"
    runs Caching "42 1"
    runs ThreeLayers "nowhere"
    runs InAServer "42 requests, none ended the process"
    compilers=$((compilers + 2))
    python3 "$package/Scripts/parity.py" "$build/Modules" "$folder/flags" >"$folder/log" 2>&1 || fails "$(cat "$folder/log")"
    defines=
    [ -z "$trait" ] || defines="-DValkey -DMetrics"
    # The fuzz targets, which see what the package's own modules see.
    types Fuzz "$package"/Fuzzing/*.swift
    echo 'import Foundation
extension Bundle { static let module = Bundle.main }' >"$folder/Bundle.swift"
    types Airports "$folder/Bundle.swift" "$package"/Examples/Airports/*.swift
    for program in Examples/AirportsBefore Examples/ExchangeRates Examples/Observe Benchmarks/Observing Benchmarks/Files; do
        types "$(basename $program)" "$package/$program"/*.swift
    done
    if [ -n "$trait" ]; then
        for program in Examples/Fleet Examples/Outage Benchmarks/Shared; do types "$(basename $program)" "$package/$program"/*.swift; done
    fi
fi

[ $failures = 0 ] || exit 1
echo "All clients compile without a warning, and mistakes get their messages ($compilers compilers)."
