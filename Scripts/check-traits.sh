#!/bin/sh
# A client without traits must resolve nothing but swift-log; with `Valkey`, it must resolve swift-nio, and with `Metrics` swift-metrics and
# swift-distributed-tracing, and neither the packages of the other. That the modules compile without traits, where no other package can be
# imported, is checked by check-clients.sh.
set -eu
package="$(cd "$(dirname "$0")/.." && pwd)"
folder="$(mktemp -d)"
trap 'rm -rf "$folder"' EXIT

resolved() {
    rm -rf "$folder/Client" && mkdir -p "$folder/Client/Sources/Client"
    echo 'import MiniCache' >"$folder/Client/Sources/Client/main.swift"
    cat >"$folder/Client/Package.swift" <<EOF
// swift-tools-version: 6.2
import PackageDescription
let package = Package(
    name: "Client", platforms: [.macOS(.v15)],
    dependencies: [.package(name: "Vellum", path: "$package"$1)],
    targets: [
        .executableTarget(
            name: "Client",
            dependencies: [
                "Vellum", "MiniCache", "ShallowsSQLite", "CBORCoding", "VellumFiles", "VellumTesting", "MiniCacheValkey", "ShallowsValkey",
                "VellumMetrics",
            ].map {
                .product(name: \$0, package: "Vellum")
            })
    ])
EOF
    (cd "$folder/Client" && ${SWIFT:-swift} package resolve >"$folder/log" 2>&1) || {
        cat "$folder/log" >&2
        exit 1
    }
    sed -n 's/.*"identity" : "\(.*\)",/\1/p' "$folder/Client/Package.resolved" | sort | tr '\n' ' '
}

without="$(resolved '')"
with="$(resolved ', traits: ["Valkey"]')"
metrics="$(resolved ', traits: ["Metrics"]')"
echo "A client without the trait resolves: $without"
echo "A client with the trait resolves: $with"
echo "A client with the trait Metrics resolves: $metrics"
[ "$without" = "swift-log " ] || {
    echo "Without the trait, only swift-log may be resolved." >&2
    exit 1
}
case "$with" in *swift-metrics* | *tracing*)
    echo "With the trait, no package of metrics must be resolved." >&2
    exit 1
    ;;
esac
case "$metrics" in *swift-nio*)
    echo "With the trait Metrics, swift-nio must not be resolved." >&2
    exit 1
    ;;
*swift-distributed-tracing*swift-metrics*) ;; *)
    echo "With the trait Metrics, swift-metrics and swift-distributed-tracing must be resolved." >&2
    exit 1
    ;;
esac
case "$with" in *swift-nio-ssl*)
    echo "With the trait, swift-nio-ssl must not be resolved." >&2
    exit 1
    ;;
*swift-nio*) ;; *)
    echo "With the trait, swift-nio must be resolved." >&2
    exit 1
    ;;
esac
