# Looks for the libraries that are measured only where they are found, and builds those whose sources are in the folder PEERS:
# PEERS/LRUCache (a checkout of nicklockwood/LRUCache) and PEERS/MMKV (a checkout of Tencent/MMKV, which needs CMake and a C++ compiler).
# To be sourced by run.sh, which has set `scratch`. Package.swift reads what is exported for a library that is there; the tables print
# what is exported for one that is not.

# Writes the reason that the table prints for a library: why NAME 'no sources in PEERS'
why() { export "VELLUM_BENCH_WITHOUT_$1=$2"; }

# The last error of a log, in one line.
last_error() { grep -iE 'error' "$1" | tail -n 1 | sed 's|.*rror: *||' | tr -d '"' | cut -c 1-120; }

unset VELLUM_BENCH_LMDB VELLUM_BENCH_MMKV VELLUM_BENCH_LRUCACHE
built="$(mkdir -p "$scratch/peers" && cd "$scratch/peers" && pwd)"

if [ -e /usr/include/lmdb.h ] || { command -v pkg-config >/dev/null && pkg-config --exists lmdb; }; then
    export VELLUM_BENCH_LMDB=1
else
    why LMDB "liblmdb-dev is not installed"
fi

if [ ! -e "${PEERS:-}/LRUCache/Package.swift" ]; then
    why LRUCACHE "no sources in PEERS"
elif swift build -c release --package-path "$PEERS/LRUCache" --scratch-path "$built/LRUCache" >"$built/LRUCache.log" 2>&1; then
    VELLUM_BENCH_LRUCACHE="$(cd "$PEERS/LRUCache" && pwd)"
    export VELLUM_BENCH_LRUCACHE
else
    why LRUCACHE "does not build: $(last_error "$built/LRUCache.log")"
fi

# Its CMake files copy headers into the folder of the sources, so that a copy is built.
build_mmkv() {
    rm -rf "$built/MMKV" && cp -R "$PEERS/MMKV/Core" "$built/MMKV" &&
        cmake -S "$built/MMKV" -B "$built/MMKV/build" -DCMAKE_BUILD_TYPE=Release && cmake --build "$built/MMKV/build" &&
        cp "$built/MMKV/cbridge/MMKVBridge.h" "$built/MMKV/build/" && cp "$built/MMKV/build/libcore.a" "$built/MMKV/build/libmmkv.a" &&
        echo 'int main() {}' | c++ -x c++ - -L "$built/MMKV/build" -lmmkv -lz -o "$built/MMKV/build/linked"
}
if [ ! -e "${PEERS:-}/MMKV/Core/cbridge/MMKVBridge.h" ]; then
    why MMKV "no sources in PEERS"
elif ! command -v cmake >/dev/null; then
    why MMKV "CMake is not installed"
elif [ -e "$built/MMKV/build/libmmkv.a" ] || build_mmkv >"$built/MMKV.log" 2>&1; then
    export VELLUM_BENCH_MMKV="$built/MMKV/build"
else
    why MMKV "does not build: $(last_error "$built/MMKV.log")"
fi
