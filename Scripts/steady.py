#!/usr/bin/env python3
"""Repeats the tests of one build beside other work, on one processor, on a slow disk and idle, and fails if a run at this commit was red.

    steady.py --runs FOLDER SLOW_SYNC -- COMMAND…

COMMAND runs the tests of a build of HEAD, as `make test` does; SLOW_SYNC is `Benchmarks/slow_sync.c`, compiled. A third of the runs go
through the targets one by one, each in a process of its own, in an order that is shuffled by a seed. FOLDER/runs.txt gets a line for each
run, which is printed, too; what it has of this commit is not run again, so that an interrupted series goes on. The output of a red run is
kept beside it.
"""
import json
import os
import random
import re
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

PACKAGE = Path(__file__).resolve().parent.parent
BESIDE = ["stress-ng", "--cpu", "4", "--io", "2"]
# What is most likely to be red is run first.
CONDITIONS = ["beside stress-ng"] * 5 + ["one processor"] * 3 + ["slow disk"] * 2 + ["idle"] * 5


def printed(*command, **options):
    """What a command prints."""
    return subprocess.run(command, cwd=PACKAGE, check=True, capture_output=True, text=True, **options).stdout


def targets():
    """The names of the test targets."""
    package = json.loads(printed(os.environ.get("SWIFT", "swift"), "package", "dump-package", env={**os.environ, "VELLUM_TESTS": "all"}))
    return [target["name"] for target in package["targets"] if target["type"] == "test"]


def seed_of(number, commit):
    """The seed of the order of targets in every third run; `None` in the others."""
    return random.Random(f"{commit} {number}").randrange(1 << 32) if number % 3 == 2 else None


def commands(command, seed):
    """The commands of a run."""
    if seed is None:
        return [command]
    names = targets()
    random.Random(seed).shuffle(names)
    return [[*command, "--filter", rf"^{name}\."] for name in names]


def run(condition, command, seed, slow_sync, log):
    """Runs the tests once. Returns how many there were, and the names of those that failed."""
    environment = {**os.environ, "VELLUM_TESTS": "all"}
    before = ["taskset", "-c", "0"] if condition == "one processor" else []
    if condition == "slow disk":
        environment["LD_PRELOAD"] = str(slow_sync)
    other = None
    if condition == "beside stress-ng":
        other = subprocess.Popen(BESIDE, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True)
    status = []
    caches = tempfile.mkdtemp()
    try:
        with open(log, "w") as output:
            for each in commands(command, seed):
                environment["XDG_CACHE_HOME"] = caches
                done = subprocess.run([*before, *each], cwd=PACKAGE, env=environment, stdout=output, stderr=subprocess.STDOUT)
                status.append(done.returncode)
    finally:
        shutil.rmtree(caches, ignore_errors=True)
        if other:
            os.killpg(other.pid, signal.SIGKILL)
            other.wait()
    text = Path(log).read_text(errors="replace")
    tests = sum(int(count) for count in re.findall(r"Test run with (\d+) tests?", text))
    failed = sorted(set(re.findall(r"^✘ Test (?!run)(.*?)(?: with \d+ test cases?)? failed after", text, re.M)))
    if any(status) and not failed:
        failed = ["a process ended with an error"]
    return tests, failed


def main():
    folder, slow_sync = Path(sys.argv[2]), Path(sys.argv[3]).resolve()
    command = sys.argv[5:]
    if printed("git", "status", "--porcelain"):
        sys.exit("Commit first: the runs are counted for a commit.")
    commit = printed("git", "rev-parse", "--short", "HEAD").strip()
    folder.mkdir(parents=True, exist_ok=True)
    runs = folder / "runs.txt"
    known = [line for line in runs.read_text().splitlines() if line.startswith(commit + " ")] if runs.exists() else []
    for line in known:
        print(line)
    done = {int(line.split()[1]) for line in known}
    for number, condition in enumerate(CONDITIONS):
        if number in done:
            continue
        seed = seed_of(number, commit)
        log = folder / f"{commit}-{number}.log"
        begin, used = time.time(), resource.getrusage(resource.RUSAGE_CHILDREN)
        tests, failed = run(condition, command, seed, slow_sync, log)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        processor = after.ru_utime + after.ru_stime - used.ru_utime - used.ru_stime
        line = (f"{commit} {number} {condition}, {'all at once' if seed is None else f'target by target, seed {seed}'}: {tests} tests, "
                f"{time.time() - begin:.0f} s, {processor:.0f} s of the processor: " + (f"RED: {', '.join(failed)}" if failed else "green"))
        print(line, flush=True)
        with open(runs, "a") as file:
            file.write(line + "\n")
        known.append(line)
        if not failed:
            log.unlink()
    red = [line for line in known if ": RED" in line]
    if red:
        sys.exit(f"{len(red)} of {len(known)} runs at {commit} were red. Mend what failed as a kind; the count begins anew.")
    print(f"{len(known)} runs at {commit}, each green.")


main()
