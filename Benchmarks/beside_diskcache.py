#!/usr/bin/env python3
"""MiniCache beside python-diskcache: the same work on the same disk, by turns, each in a process of its own.

    beside_diskcache.py PROBE [ROUNDS]

Numbers under string keys, 1,000 and 100,000 of them: set under a new key, set over what is there, get. Both sides are
crash-safe and no more: SQLite in WAL mode with synchronous = NORMAL, which is diskcache's default, too. diskcache has no
memory in front, so MiniCache's is emptied before each get that is compared; a get that memory answers stands beside it.

PROBE is the program of that name, which measures MiniCache; rounds are 3 unless said. Writes the times for the report to
VELLUM_BENCH_FOLDER. Installs diskcache from PyPI into BENCH_SCRATCH (`.build` otherwise), if it can.
"""
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
SCRATCH = os.path.join(HERE, os.environ.get("BENCH_SCRATCH", ".build"))
SCALES = {1_000: "1 k", 100_000: "100 k"}
OPERATIONS = 5_000
PEER = "python-diskcache"
# The work of the report, the operation of each side, the limit of MiniCache's time by diskcache's, and what survives.
COMPARISONS = [
    ("cacheSetNew", "set-new", "set-new", 1 / 1.6, "crash-safe"),
    ("cacheSetOver", "set-over", "set-over", 1 / 1.6, "crash-safe"),
    ("cacheDiskHit", "get-disk", "get-disk", 1 / 3, None),
    ("cacheHit", "get-memory", "get-disk", None, None),
]


def measure_diskcache(folder):
    """What `Probe cache` does, with diskcache. Prints the times of each operation in nanoseconds."""
    import diskcache

    def report(name, keys, operation):
        samples = []
        for key in keys:
            start = time.perf_counter_ns()
            operation(key)
            samples.append(time.perf_counter_ns() - start)
        print(scale, name, *samples, flush=True)

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
    """The interpreter that has diskcache, or None and the reason why there is none."""
    python = os.path.join(SCRATCH, "diskcache", "bin", "python")
    try:
        if not os.path.exists(python):
            subprocess.run([sys.executable, "-m", "venv", os.path.join(SCRATCH, "diskcache")], check=True, capture_output=True)
        if subprocess.run([python, "-c", "import diskcache"], capture_output=True).returncode != 0:
            pip = [python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "diskcache==5.6.3"]
            subprocess.run(pip, check=True, capture_output=True)
    except (OSError, subprocess.CalledProcessError):
        return None, "diskcache could not be installed from PyPI"
    return python, None


def run(command, folder):
    """The times that a process printed, by number of entries and operation."""
    output = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True, env={**os.environ, "VELLUM_BENCH_FOLDER": folder})
    lines = [line.split() for line in output.stdout.splitlines()]
    return {(int(scale), name): [float(time) for time in times] for scale, name, *times in lines}


def write_outcomes(ours, theirs, reason):
    """Writes a file for each comparison, as `Samples/Outcome.swift` reads it."""
    folder = os.path.join(os.environ["VELLUM_BENCH_FOLDER"], "outcomes")
    os.makedirs(folder, exist_ok=True)
    for scale, title in SCALES.items():
        for work, mine, other, limit, durability in COMPARISONS:
            def side(name, times, **more):
                return {"name": name, "durability": durability, "samples": times, "tail": [], "allocations": [], **more}

            peer = side(PEER, [], notRun=reason) if reason else side(PEER, theirs[scale, other], limit=limit)
            outcome = {
                "work": work, "subject": "numbers", "scale": title, "sides": [side("MiniCache", ours[scale, mine]), peer],
                "increments": [], "ratios": [], "unallocating": [],
            }
            with open(os.path.join(folder, f"{work}-numbers-{title}.json"), "w") as file:
                json.dump(outcome, file)


def main():
    rounds = int(sys.argv[2]) if len(sys.argv) > 2 else 3
    python, reason = python_with_diskcache()
    folder = tempfile.mkdtemp(dir=os.environ["VELLUM_BENCH_FOLDER"])
    ours, theirs = {}, {}
    try:
        for _ in range(rounds):
            for operation, times in run([sys.argv[1], "cache"], folder).items():
                ours.setdefault(operation, []).extend(times)
            if python:
                for operation, times in run([python, os.path.abspath(__file__), "--measure", folder], folder).items():
                    theirs.setdefault(operation, []).extend(times)
    finally:
        shutil.rmtree(folder)
    write_outcomes(ours, theirs, reason)


if __name__ == "__main__":
    if sys.argv[1:2] == ["--measure"]:
        measure_diskcache(sys.argv[2])
    else:
        main()
