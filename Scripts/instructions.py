#!/usr/bin/env python3
"""Counts the instructions of twenty-three works by callgrind, and fails where one has grown (decision 62).

    instructions.py CLOCK PROGRAM [--update]

PROGRAM is `Instructions`, built for release, CLOCK `Benchmarks/slow_clock.c`: by it, a read transaction holds as many reads as it does without
callgrind, on a busy machine, too (decision 95). Counted is the calling thread alone, inside the work. Beside it stands how often the runtime looked
for the metadata of a generic type: dozens for each call mean that a function on the path is not specialised for its caller's type; five more
are too many. A figure may be 3 % above the one that is checked in, in `Benchmarks/Instructions/figures.txt`; `--update` writes them anew, and the commit
says why. A disk hit beside an open transaction of relaxed writes may take at most 1.3 times one without.
"""
import os
import pathlib
import platform
import re
import shutil
import subprocess
import sys
import tempfile

FIGURES = pathlib.Path(__file__).parent.parent / "Benchmarks/Instructions/figures.txt"
ALLOWED = 1.03
# How much longer a disk hit may take while a transaction of relaxed writes is open.
ALLOWED_BESIDE_BATCH = 1.3
LOOKUPS = ("swift_getGenericMetadata",)


def counts(path):
    """The instructions of a callgrind file, and the calls of LOOKUPS."""
    names, total, lookups, called = {}, 0, 0, ""
    for line in open(path):
        if line.startswith("totals:"):
            total = int(line.split()[1])
        elif line.startswith("cfn="):
            number, _, name = line[4:].strip().partition(" ")
            called = names.setdefault(number, name) or names[number]
            if name:
                names[number] = called = name
        elif line.startswith("fn="):
            number, _, name = line[3:].strip().partition(" ")
            if name:
                names[number] = name
        elif line.startswith("calls=") and called.startswith(LOOKUPS):
            lookups += int(line[6:].split()[0])
    return total, lookups


def measure(clock, program):
    """For each work, in order: its name, instructions for each call, and lookups of metadata for each call."""
    with tempfile.TemporaryDirectory() as folder:
        # Callgrind cannot read the debug information of Swift.
        stripped = os.path.join(folder, "program")
        shutil.copy(program, stripped)
        subprocess.run(["strip", "-d", stripped], check=True)
        environment = dict(
            os.environ, SWIFT_DETERMINISTIC_HASHING="1", TMPDIR=folder, XDG_CACHE_HOME=f"{folder}/caches", LD_PRELOAD=os.path.abspath(clock))
        run = subprocess.run(
            [
                "valgrind", "--tool=callgrind", "--separate-threads=yes", "--collect-atstart=no", "--toggle-collect=vellum_measured",
                "--dump-after=vellum_measured", f"--callgrind-out-file={folder}/out", stripped,
            ],
            env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        if run.returncode != 0:
            sys.exit(run.stderr[:2000])
        for number, line in enumerate(run.stdout.split("\n")[:-1], 1):
            name, calls = re.match(r"(.*) (\d+)$", line).groups()
            total, lookups = counts(f"{folder}/out.{number}-01")
            yield name, total / int(calls), lookups / int(calls)


def has_grown(known, instructions, lookups):
    return known is not None and (instructions > ALLOWED * known[0] or lookups > known[1] + 5)


def main():
    if not sys.platform.startswith("linux") or platform.machine() != "x86_64":
        return print("Instructions: not counted, this is not Linux on x86-64.")
    known = {}
    if FIGURES.exists():
        for line in FIGURES.read_text().splitlines():
            if line and not line.startswith("#"):
                name, instructions, lookups = line.rsplit(None, 2)
                known[name.strip()] = int(instructions), float(lookups)
    figures = {name: figure for name, *figure in measure(*sys.argv[1:3])}
    # What runs in the background at the wrong moment makes a work longer, and never shorter
    # (decision 92).
    for _ in range(3):
        if not any(has_grown(known.get(name), *figure) for name, figure in figures.items()):
            break
        for name, *figure in measure(*sys.argv[1:3]):
            figures[name] = min(figures[name], figure)
    print(f"{'Instructions of one call':24}{'now':>10}{'before':>10}{'':>8}{'lookups of metadata':>22}")
    for name, (instructions, lookups) in figures.items():
        before = known.get(name, (0, 0))[0]
        ratio = f"{instructions / before:8.3f}" if before else ""
        print(f"{name:24}{instructions:10,.0f}{before:10,}{ratio:8}{lookups:22.1f}")
    beside = (figures["relaxed, disk hit"][0] - figures["relaxed"][0]) / figures["disk hit"][0]
    print(f"A disk hit beside a batch: {beside:.2f} times one without (at most {ALLOWED_BESIDE_BATCH}).")
    grown = [name for name, figure in figures.items() if has_grown(known.get(name), *figure)]
    if "--update" in sys.argv:
        head = "# Instructions of one call, and lookups of metadata: x86-64, release, written by `make instructions UPDATE=1`.\n"
        FIGURES.write_text(head + "".join(f"{name:20}{instructions:10.0f}{lookups:8.1f}\n" for name, (instructions, lookups) in figures.items()))
    elif beside > ALLOWED_BESIDE_BATCH:
        sys.exit("A disk hit beside a batch takes too long.")
    elif grown:
        sys.exit(f"Grown: {', '.join(grown)}. Say why in the commit that runs `make instructions UPDATE=1`.")


main()
