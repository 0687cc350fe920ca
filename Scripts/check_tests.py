#!/usr/bin/env python3
"""Fails where a test may depend on when a thread, a task or a process is scheduled: where it waits in another way than by `until` and
`blockUntil`, reads a clock, has a limit of its own, or blocks a thread of Swift's concurrency (decision 90).

What may, stands in ALLOWED with its reason: the file, the rule, and how often."""
import re
import sys
from pathlib import Path

PACKAGE = Path(__file__).resolve().parent.parent
FOLDERS = ["Tests", "Tools/Tests", "Examples/Server/Tests"]
# The waits themselves; and programs of users, which are no tests.
LEFT = ("Tests/TestThreads/", "Tests/Clients/", "Tests/Beside/")
# Packages of their own, which do not have `.ownThreads`: their suites have the limit of Swift Testing, of as many minutes.
OTHERS = ("Tools/", "Examples/")
RULES = {
    "yields": (re.compile(r"\bTask\.yield\(|\bsched_yield\("), "waits by letting others go on. Use `until`, `blockUntil` or `pause`"),
    "sleeps": (re.compile(r"(?<![.\w])(?<!func )(?:u|nano)?sleep\(|\b(?:Task|Thread)\.sleep|asyncAfter|wait\(timeout"), "sleeps, or waits for so long. Use `until` or a clock of tests"),
    "clock": (re.compile(r"\b(?:Continuous|Suspending)Clock\b|\bDispatchTime\b|\.measure\b"), "reads a clock. Count calls, or use a clock of tests"),
    "process": (re.compile(r"(?<!\w)Process\(\)"), "waits for what other children inherit, too (swift-corelibs-foundation 4795). Use `Child`"),
    "limit": (re.compile(r"\.timeLimit\("), "has a limit of its own. Use `.ownThreads` or `.ownThreads(.longSuite)`"),
}
# What blocks in a `Task`, whose threads are as many as processors.
BLOCKS = re.compile(r"(?<!await )\b\w+\.wait\(\)|waitUntilExit\(|\bblockUntil\(|\bjoin\(\)(?=$)")
ALLOWED = {
    ("Tests/CrashChild/ShareMode.swift", "clock"): (1, "how long a child works; nothing is asserted of it"),
    ("Tests/CrashChild/SoakMode.swift", "clock"): (1, "how long a child works"),
    ("Tests/CrashChild/VersionsMode.swift", "clock"): (2, "how long a child works"),
    ("Tests/CrashTests/Checker.swift", "clock"): (2, "a figure that `make crash` prints"),
    ("Tests/CrashTests/OpeningTests.swift", "clock"): (2, "a figure that `make crash` prints"),
    ("Tests/DamageTests/CaseGuard.swift", "clock"): (3, "ends the process after twenty minutes in one case: only an endless loop takes so long"),
    ("Tests/FleetClient/Client.swift", "sleeps"): (2, "the pace of a client, in a process of its own"),
    ("Tests/FleetSupport/RedisCluster.swift", "sleeps"): (1, "each question to a cluster is a process"),
    ("Tests/ParityTests/Swift6/ShallowsNameTests.swift", "yields"): (1, "a storage that answers later, once; nothing depends on when"),
    ("Tests/ShallowsTests/Calls/UpdateTests.swift", "yields"): (2, "the same"),
    ("Tests/ShallowsTests/Support/OwnStorages.swift", "yields"): (2, "the same"),
    ("Tests/VellumEngineTests/Loading/LoadingFillOnDiskTests.swift", "yields"): (1, "a loader that takes a turn, once; nothing depends on it"),
    ("Tests/VellumEngineTests/Loading/LoadingStampedeConcurrencyTests.swift", "yields"): (3, "the same"),
    ("Tests/VellumEngineTests/WriteLaneTests.swift", "yields"): (1, "one of the random moments of a cancellation"),
    ("Tests/VellumEngineTests/Loading/LoadingTests.swift", "sleeps"): (1, "a loader that is cancelled; an hour is for ever"),
    ("Tests/VellumRemoteTests/OutageTests.swift", "sleeps"): (1, "the same"),
    ("Tests/VellumRemoteTests/SharedStoreTests.swift", "sleeps"): (1, "a renewal that is cancelled; eleven days are for ever"),
    ("Tests/VellumEngineTests/Setup.swift", "sleeps"): (1, "asks whether it was signalled, and does not wait"),
    ("Tests/VellumTests/ArchiveStorePerformTests.swift", "blocks"): (1, "what is tested: `perform` runs the closure elsewhere"),
    ("Tests/VellumTests/Input/ArchiveInputTests.swift", "sleeps"): (1, "a loader that is too late; an hour is for ever"),
    ("Tests/VellumTestSupport/Spawned.swift", "clock"): (1, "when a child is killed: at a random moment"),
    ("Tests/VellumTestSupport/Spawned.swift", "sleeps"): (1, "the same"),
    ("Tests/VellumTestingTests/GuideTests.swift", "suite"): (8, "the example of a guide, as its reader writes it"),
    ("Examples/Server/Tests/ServerTests/ServerProcess.swift", "process"): (1, "a package of its own, whose tests start one server after the other"),
    ("Examples/Server/Tests/ServerTests/ServerProcess.swift", "clock"): (1, "ten minutes, for a server that hangs"),
    ("Examples/Server/Tests/ServerTests/ServerProcess.swift", "sleeps"): (1, "between two questions to a server"),
    ("Examples/Server/Tests/ServerTests/ServerTests.swift", "clock"): (2, "at least as long as the server is told to wait; at most, there is no limit"),
}


def lines_of(text):
    """The lines of a text with their numbers, without comments and strings."""
    for number, line in enumerate(text.split("\n"), 1):
        yield number, re.sub(r'"(?:\\.|[^"\\])*"', '""', line).split("//")[0]


def suites(lines, known):
    """The lines of tests that no suite with threads of its own encloses; `known` has the names of those of all files, for extensions."""
    enclosing, pending = [], ""
    for number, line in lines:
        code = line.strip()
        if not code:
            continue
        indent = len(line) - len(line.lstrip())
        while enclosing and enclosing[-1][0] >= indent and code not in ("}", ")"):
            enclosing.pop()
        if code.startswith("@Suite") or pending:
            pending += code
            # An attribute may take several lines.
            if pending.count("(") > pending.count(")"):
                continue
        if re.match(r"(?:@\S+ |public |package |final |fileprivate |private |nonisolated )*(?:struct|class|enum|actor|extension) ", re.sub(r"^@Suite(?:\(.*\))? ", "", code)):
            extended = re.match(r"extension (\w+)", code)
            enclosing.append((indent, ".ownThreads" in pending or bool(extended) and extended[1] in known))
            pending = ""
        elif code.startswith("@Suite") or pending:
            continue
        if re.match(r"@Test\b", code) and not any(has for _, has in enclosing):
            yield number


def tasks(text):
    """What stands in a `Task`, with the line on which it begins."""
    for match in re.finditer(r"\bTask(?:\.detached)?(?:\([^()]*\))? \{", text):
        end, depth = match.end(), 1
        while depth and end < len(text):
            depth += {"{": 1, "}": -1}.get(text[end], 0)
            end += 1
        yield text[:match.start()].count("\n") + 1, text[match.end():end]


def problems(path, known):
    """What is wrong with a file: the line, the rule, and a sentence."""
    name = str(path.relative_to(PACKAGE))
    lines = list(lines_of(path.read_text()))
    for number, line in lines:
        for rule, (pattern, sentence) in RULES.items():
            if not pattern.search(line) or rule == "limit" and name.startswith(OTHERS) and ".timeLimit(.minutes(10))" in line:
                continue
            yield number, rule, sentence
    if not name.startswith(OTHERS):
        for number in suites(lines, known):
            yield number, "suite", "is a test in no suite with `.ownThreads`"
    for number, body in tasks("\n".join(line for _, line in lines)):
        if BLOCKS.search(body) and "nThread {" not in body:
            yield number, "blocks", "blocks a thread of Swift's concurrency. Use `OnThread`, or a child task of the test"


def main():
    paths = [path for folder in FOLDERS for path in sorted((PACKAGE / folder).rglob("*.swift"))
             if not path.is_symlink() and ".build" not in path.parts and not str(path.relative_to(PACKAGE)).startswith(LEFT)]
    known = {name for path in paths for name in re.findall(r"@Suite\([^\n]*\.ownThreads[^\n]*\)\s*(?:final )?(?:struct|class) (\w+)", path.read_text())}
    found, seen = [], {}
    for path in paths:
        name = str(path.relative_to(PACKAGE))
        for number, rule, sentence in problems(path, known):
            seen[name, rule] = seen.get((name, rule), 0) + 1
            if seen[name, rule] > ALLOWED.get((name, rule), (0, ""))[0]:
                found.append(f"{name}:{number}: {sentence}.")
    found += [f"{name}: {rule} is allowed {count} times and stands there {seen.get((name, rule), 0)} times."
              for (name, rule), (count, _) in ALLOWED.items() if seen.get((name, rule), 0) < count]
    if found:
        print("\n".join(found))
        sys.exit(f"{len(found)} places where a test may depend on when it is scheduled.")


main()
