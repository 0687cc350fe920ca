#!/usr/bin/env python3
"""Fails where a client's program has become larger, or takes more of the processor to build.

    client.py PROGRAM [--update]     the size of `Client`, built for release: what `size` calls text
    client.py --build [--update]     the seconds of the processor that a clean release build of it takes, in a folder of its own

Checked in are both, in `Benchmarks/Client/figures.txt`. The text may be 1 % above, a build 25 %, because its time depends on the machine.
"""
import os
import pathlib
import resource
import shutil
import subprocess
import sys

PROJECT = pathlib.Path(__file__).parent.parent
FIGURES = PROJECT / "Benchmarks/Client/figures.txt"
ALLOWED = {"text": 1.01, "build": 1.25}


def measured():
    """The name of the figure, its value and its unit."""
    if sys.argv[1] != "--build":
        return "text", int(subprocess.run(["size", sys.argv[1]], check=True, stdout=subprocess.PIPE, text=True).stdout.split()[6]), "bytes"
    scratch = PROJECT / ".build/client"
    shutil.rmtree(scratch, ignore_errors=True)
    swift = [os.environ.get("SWIFT", "swift")]
    subprocess.run([*swift, "package", "resolve", "--scratch-path", scratch], cwd=PROJECT, check=True, stdout=subprocess.DEVNULL)
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([*swift, "build", "-c", "release", "--product", "Client", "--scratch-path", scratch], cwd=PROJECT, check=True,
                   stdout=subprocess.DEVNULL)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return "build", round(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime), "seconds"


def main():
    known = dict(line.split() for line in FIGURES.read_text().splitlines() if not line.startswith("#")) if FIGURES.exists() else {}
    name, value, unit = measured()
    before = int(known.get(name, 0))
    print(f"A client's {name}: {value:,} {unit} (before: {before:,})")
    if "--update" in sys.argv:
        known[name] = value
        FIGURES.write_text("# Of a client that records, accesses and fetches one type: bytes of text, and seconds of a clean build.\n"
                           + "".join(f"{name} {known[name]}\n" for name in sorted(known)))
    elif value > before * ALLOWED[name]:
        sys.exit(f"A client's {name} has grown. Say why in the commit that updates Benchmarks/Client/figures.txt.")


main()
