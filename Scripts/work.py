#!/usr/bin/env python3
"""Counts what continuous integration does, and fails where it is more than `Scripts/work.txt` allows (decision 91).

    work.py yardstick              builds a fixed package alone, in a folder of its own, and prints the seconds of the processor that it takes
    work.py LOG TESTS PARTS        compares. LOG is what the tests and the checks of clients printed, TESTS what tests wrote of their work
                                   (`VELLUM_WORK`), PARTS a line for each part: its name, a tab, and its seconds of the processor

Counts are the same on every machine. Seconds of the processor are not, so they are compared with those of the yardstick, with a quarter of air.
What the tests of `Tools` and `Examples/Server` take is not among them: these run where something that they use has changed.
"""
import os
import re
import resource
import shutil
import subprocess
import sys
from pathlib import Path

PACKAGE = Path(__file__).resolve().parent.parent
LIMITS = PACKAGE / "Scripts" / "work.txt"
AIR = 1.25
# A package that does not change: swift-log, of one version, in debug.
YARDSTICK = """// swift-tools-version: 6.2
import PackageDescription
let package = Package(
    name: "Yardstick", dependencies: [.package(url: "https://github.com/apple/swift-log.git", exact: "1.16.2")],
    targets: [.executableTarget(name: "Yardstick", dependencies: [.product(name: "Logging", package: "swift-log")])])
"""


def yardstick():
    """The seconds of the processor of a clean build of the yardstick: the middle one of three."""
    folder = PACKAGE / ".build" / "yardstick"
    shutil.rmtree(folder, ignore_errors=True)
    (folder / "Sources" / "Yardstick").mkdir(parents=True)
    (folder / "Package.swift").write_text(YARDSTICK)
    (folder / "Sources" / "Yardstick" / "main.swift").write_text("import Logging\nLogger(label: \"a\").info(\"b\")\n")
    swift = [os.environ.get("SWIFT", "swift")]
    subprocess.run([*swift, "package", "resolve"], cwd=folder, check=True, capture_output=True)
    taken = []
    for _ in range(3):
        shutil.rmtree(folder / ".build" / "debug", ignore_errors=True)
        for built in (folder / ".build").glob("*-*-*"):
            shutil.rmtree(built)
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run([*swift, "build"], cwd=folder, check=True, capture_output=True)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        taken.append(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
    return sorted(taken)[1]


def built(pattern):
    """How much was built in this clone: the tests with the traits, and the works of `make instructions`."""
    return sum(len(list((PACKAGE / ".build" / folder).glob(pattern))) for folder in ("shared/debug", "release"))


def counts(log, tests):
    """Each count, by its name in the table."""
    text = Path(log).read_text(errors="replace")
    found = {
        "modules": built("Modules/*.swiftmodule"),
        "programs": built("*.product"),
        "compilers": sum(int(count) for count in re.findall(r"\((\d+) compilers\)", text)),
    }
    for line in Path(tests).read_text().splitlines():
        name, count = line.split()
        found[name] = found.get(name, 0) + int(count)
    return found


def main():
    if sys.argv[1:] == ["yardstick"]:
        return print(f"{yardstick():.2f}")
    log, tests, parts = sys.argv[1:]
    limits = {}
    for line in LIMITS.read_text().splitlines():
        words = line.split("#")[0].split()
        if words:
            limits[words[0]] = float(words[1])
            if "#" not in line:
                sys.exit(f"{LIMITS.name}: {words[0]} has no reason.")
    seconds = {name: float(value) for name, value in (line.split("\t") for line in Path(parts).read_text().splitlines())}
    unit = seconds.pop("yardstick")
    found = counts(log, tests)
    print("Seconds of the processor: " + ", ".join(f"{name} {value:.0f}" for name, value in seconds.items()) + f"; the yardstick {unit:.1f}")
    found["processor"] = sum(value for name, value in seconds.items() if "check-users" not in name) / unit
    more = []
    for name in sorted(set(found) | set(limits)):
        count, limit = found.get(name, 0), limits.get(name)
        most = None if limit is None else limit * (AIR if name == "processor" else 1)
        print(f"{name:10} {count:9.1f}" + (f" of {most:.1f}" if most is not None else ""))
        if most is None or count > most:
            more.append(name)
        elif limit and not count:
            more.append(f"{name} (nothing was counted)")
    if more:
        sys.exit(f"More work than Scripts/work.txt allows: {', '.join(more)}. Do less, or say in its line what more is good for.")


main()
