#!/bin/sh
# docs.sh BUILD_FOLDER: makes documentation in .build/documentation of the modules that were built in BUILD_FOLDER, with the trait `Valkey`.
set -eu
cd "$(dirname "$0")/.."
build="${1%/}" folder=.build/docs
products="Vellum MiniCache Shallows ShallowsSQLite CBORCoding MiniCacheValkey ShallowsValkey"
# What the products export again.
shared=VellumCore,ModelVersions,CBORCoding,VellumRemote,VellumValkey,Shallows,MiniCache
rm -rf "$folder" .build/documentation && mkdir -p "$folder/archives" .build/documentation

set -- -I "$build/Modules"
for map in Sources/CSQLite/module.modulemap "$build"/*.build/module.modulemap \
    $(find "$build/../checkouts" "$build/../../checkouts" -path '*/Sources/*/include/module.modulemap' 2>/dev/null); do
    set -- "$@" -Xcc "-fmodule-map-file=$map"
done
for product in $products VellumCore VellumRemote VellumValkey; do
    mkdir -p "$folder/$product"
    ${SWIFT:-swift} symbolgraph-extract -module-name "$product" -minimum-access-level public -output-dir "$folder/$product" \
        -experimental-allowed-reexported-modules="$shared" "$@"
done
for product in $products; do
    for module in VellumCore VellumRemote VellumValkey; do
        ${SWIFT:-swift} Scripts/reexported.swift "$folder/$product/$product.symbols.json" "$folder/$module/$module.symbols.json" \
            "$folder/$product/$product.symbols.json"
    done
    docc convert "Sources/$product/Documentation.docc" --additional-symbol-graph-dir "$folder/$product" --warnings-as-errors \
        --fallback-display-name "$product" --fallback-bundle-identifier "$product" --output-path "$folder/archives/$product.doccarchive"
done
if docc merge --help >/dev/null 2>&1; then
    docc merge "$folder"/archives/*.doccarchive --synthesized-landing-page-name Vellum --output-path .build/documentation/Vellum.doccarchive
else
    mv "$folder"/archives/*.doccarchive .build/documentation
fi
