#!/usr/bin/env python3
"""Type-checks the parity tests in the modes in which they are not run: in Swift 5, and in a module that is isolated to the main actor.

    parity.py MODULES FLAGS     MODULES is a folder of compiled modules; FLAGS has more arguments for the compiler

What must compile is the code of a client of the originals. The macros of Swift Testing are replaced by functions: expanding them takes
nine tenths of the time.
"""
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

PARITY = Path(__file__).resolve().parent.parent / "Tests" / "ParityTests"
# What only Swift 6 has: it starts a program, in the same way in each mode.
LEFT = {"FormatTests.swift"}
MODES = {
    "Swift 5": (["-swift-version", "5"], ["Swift6", "Swift5"]),
    "the main actor": (["-swift-version", "6", "-default-isolation", "MainActor"], ["Swift6"]),
}
FUNCTIONS = """
nonisolated struct SourceLocation {}
nonisolated enum Issue { static nonisolated func record(_ comment: String) {} }
nonisolated func expect(_ condition: Bool, _ comment: @autoclosure () -> String = "") {}
nonisolated func require(_ condition: Bool, _ comment: @autoclosure () -> String = "") throws {}
nonisolated func require<Value>(_ value: Value?, _ comment: @autoclosure () -> String = "") throws -> Value {
    guard let value else { throw CancellationError() }
    return value
}
@discardableResult
nonisolated func expect<Failure: Error, Value>(throws type: Failure.Type, _ comment: String = "", _ body: () throws -> Value) -> Failure? { nil }
@discardableResult
nonisolated(nonsending) func expect<Failure: Error, Value>(throws type: Failure.Type, _ comment: String = "", _ body: () async throws -> Value) async -> Failure? {
    nil
}
nonisolated func require<Failure: Error, Value>(throws type: Failure.Type, _ body: () throws -> Value) throws -> Failure { throw CancellationError() }
nonisolated(nonsending) func require<Failure: Error, Value>(throws type: Failure.Type, _ body: () async throws -> Value) async throws -> Failure {
    throw CancellationError()
}
nonisolated func expect<Value>(_ body: () throws -> Value, throws isMeant: (any Error) throws -> Bool) {}
nonisolated(nonsending) func expect<Value>(_ body: () async throws -> Value, throws isMeant: (any Error) throws -> Bool) async {}
@discardableResult
nonisolated func expect<Failure: Error & Equatable, Value>(throws error: Failure, _ comment: String = "", _ body: () throws -> Value) -> Failure? { nil }
@discardableResult
nonisolated(nonsending) func expect<Failure: Error & Equatable, Value>(
    throws error: Failure, _ comment: String = "", _ body: () async throws -> Value
) async -> Failure? { nil }
"""


def without_macros(text):
    """The text of a file of tests, with functions in place of macros and without attributes of tests."""
    text = re.sub(r"#(expect|require)\(", r"\1(", text)
    result, rest = "", text
    while match := re.search(r"@(?:Test|Suite)\b(\(?)", rest):
        end, depth = match.end(), len(match[1])
        while depth:
            depth += {"(": 1, ")": -1}.get(rest[end], 0)
            end += 1
        result, rest = result + rest[:match.start()], rest[end:]
    return re.sub(r"^import (?:Testing|TestThreads)$", "", result + rest, flags=re.M)


def main():
    modules, flags = sys.argv[1:]
    with tempfile.TemporaryDirectory() as folder:
        for mode, (options, folders) in MODES.items():
            files = [Path(folder) / "Functions.swift"]
            files[0].write_text(FUNCTIONS)
            for path in sorted(path for name in folders for path in (PARITY / name).glob("*.swift")):
                if path.name not in LEFT and not path.is_symlink():
                    files.append(Path(folder) / path.name)
                    files[-1].write_text(without_macros(path.read_text()))
            checked = subprocess.run(
                [os.environ.get("SWIFTC", "swiftc"), "-typecheck", "-wmo", *options, "-suppress-warnings", "-I", modules, f"@{flags}",
                 "-module-name", "Parity", *files], capture_output=True, text=True)
            if checked.returncode:
                errors = [line for line in checked.stderr.splitlines() if "error:" in line] or checked.stderr.splitlines()
                sys.exit(f"The parity tests do not compile in {mode}:\n" + "\n".join(errors[:10]).replace(folder + "/", ""))


main()
