#!/bin/sh
# docs.sh BUILD_FOLDER: makes .build/documentation/Vellum.doccarchive of the guides and of the modules that were built in BUILD_FOLDER, with the
# traits `Valkey` and `Metrics`. Its front page is Documentation/Guides.docc/Guides.md.
set -eu
cd "$(dirname "$0")/.."
build="${1%/}" folder=.build/docs
products="Vellum MiniCache Shallows ShallowsSQLite CBORCoding VellumFiles VellumTesting MiniCacheValkey ShallowsValkey VellumMetrics"
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
        --fallback-display-name "$product" --fallback-bundle-identifier "$product" --enable-experimental-external-link-support \
        --output-path "$folder/archives/$product.doccarchive"
done

# The guides, with the documents and the plots. DocC finds a guide of a product by its whole path, which is added here to its name.
guides="$folder/Guides.docc"
cp -R Documentation/Guides.docc "$guides"
cp Documentation/*.md Benchmarks/Report/*.svg "$guides"
for page in Sources/*/Documentation.docc/*.md; do
    name="$(basename "$page" .md)" product="$(basename "${page%/Documentation.docc/*}")"
    printf '%s\n' "s|doc:$name\([>)#]\)|doc:/$product/$name\1|g"
done >"$folder/links.sed"
# A link to another document is one to its page, and pictures have names; of a link to any other file of the repository, the text remains.
printf '%s\n' 's|](\([A-Za-z]*\)\.md\([)#]\)|](doc:\1\2|g' 's|](\([./A-Za-z]*/\)*\([a-z-]*\)\.svg)|](\2)|g' \
    's|\[\([^]]*\)\]([.A-Z][^):]*)|\1|g' >"$folder/files.sed"
for page in "$guides"/*.md; do
    sed -f "$folder/files.sed" "$page" | sed -f "$folder/links.sed" >"$folder/page" && mv "$folder/page" "$page"
done
set --
for product in $products; do set -- "$@" --dependency "$folder/archives/$product.doccarchive"; done
docc convert "$guides" "$@" --warnings-as-errors --fallback-display-name Guides --fallback-bundle-identifier Guides \
    --enable-experimental-external-link-support --output-path "$folder/archives/Guides.doccarchive"
docc merge "$folder"/archives/*.doccarchive --synthesized-landing-page-name Vellum --output-path .build/documentation/Vellum.doccarchive
python3 Scripts/front_page.py .build/documentation/Vellum.doccarchive
