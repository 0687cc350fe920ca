#!/usr/bin/env python3
"""MiniCache beside python-diskcache: the same work on the same disk, by turns, each in a process of its own.

    beside_diskcache.py [ROUNDS]        3 rounds if nothing is said

Numbers under string keys, 1,000 and 100,000 of them: set under a new key, set over what is there, get. Both sides are
crash-safe and no more: SQLite in WAL mode with synchronous = NORMAL, which is diskcache's default, too. diskcache has no
memory in front, so MiniCache's is emptied before each get that is compared; a get that memory answers stands beside it.

Installs diskcache from PyPI into BENCH_SCRATCH (`.build` otherwise). BENCH_FOLDER is where the files are made.
"""
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
SCRATCH = os.environ.get("BENCH_SCRATCH", os.path.join(HERE, ".build"))
SCALES = [1_000, 100_000]
OPERATIONS = 5_000


def measure_diskcache(folder):
    """What `Probe cache` does, with diskcache. Prints the median of each operation in nanoseconds."""
    import diskcache

    def report(name, keys, operation):
        samples = []
        for key in keys:
            start = time.perf_counter_ns()
            operation(key)
            samples.append(time.perf_counter_ns() - start)
        print(scale, name, int(statistics.median(samples)), flush=True)

    week = 7 * 24 * 3600
    for scale in SCALES:
        place = tempfile.mkdtemp(dir=folder)
        cache = diskcache.Cache(place)
        for index in range(scale):
            cache.set(f"key-{index}", index, expire=week)
        scattered = [f"key-{index * 7919 % scale}" for index in range(OPERATIONS)]
        report("set-new", [f"new-{index}" for index in range(OPERATIONS)], lambda key: cache.set(key, 1, expire=week))
        report("set-over", scattered, lambda key: cache.set(key, 2, expire=week))
        report("get-disk", scattered, cache.get)
        cache.close()
        shutil.rmtree(place)


def python_with_diskcache():
    python = os.path.join(SCRATCH, "diskcache", "bin", "python")
    if not os.path.exists(python):
        subprocess.run([sys.executable, "-m", "venv", os.path.join(SCRATCH, "diskcache")], check=True)
        subprocess.run([python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "diskcache==5.6.3"], check=True)
    return python


def run(command, folder):
    output = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True, env={**os.environ, "VELLUM_BENCH_FOLDER": folder})
    return {(int(scale), name): int(time) for scale, name, time in map(str.split, output.stdout.splitlines())}


def main():
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else 3
    build = ["swift", "build", "-c", "release", "--package-path", HERE, "--scratch-path", SCRATCH]
    subprocess.run(build + ["--product", "Probe"], check=True, stdout=subprocess.DEVNULL)
    tools = subprocess.run(build + ["--show-bin-path"], check=True, capture_output=True, text=True).stdout.strip()
    python = python_with_diskcache()
    folder = tempfile.mkdtemp(dir=os.environ.get("BENCH_FOLDER"))
    ours, theirs = [], []
    try:
        for number in range(rounds):
            print(f"Round {number + 1} of {rounds} …", file=sys.stderr)
            ours.append(run([os.path.join(tools, "Probe"), "cache"], folder))
            theirs.append(run([python, os.path.abspath(__file__), "--measure", folder], folder))
    finally:
        shutil.rmtree(folder)

    median = lambda runs, key: statistics.median(run[key] for run in runs) / 1000
    print(f"{'µs, median':>24} {'MiniCache':>11} {'diskcache':>11} {'times as fast':>14}")
    for scale in SCALES:
        for name, title in [("set-new", "set, new key"), ("set-over", "set, old key"), ("get-disk", "get, from disk"), ("get-memory", "get, from memory")]:
            mine = median(ours, (scale, name))
            other = median(theirs, (scale, "get-disk" if name == "get-memory" else name))
            print(f"{title:>16} {scale:>7,} {mine:>11.2f} {other:>11.2f} {other / mine:>14.1f}")


if __name__ == "__main__":
    if sys.argv[1:2] == ["--measure"]:
        measure_diskcache(sys.argv[2])
    else:
        main()
