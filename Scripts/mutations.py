#!/usr/bin/env python3
"""Breaks each station at which a write is heard, one after the other, and fails if the tables of tests do not notice (decision 75).

Usage: mutations.py [--list] [NAME…]. Works on a copy of the repository at HEAD, so that the tree stays as it is. A mutation that does not compile, or
whose text is not found, is an error: a check that cannot fail is none.
"""

import os
import signal
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
COPY = ROOT / ".build" / "mutations"
CORE, ENGINE, REMOTE = "Sources/VellumCore/", "Sources/VellumEngine/", "Sources/VellumRemote/"
SUITES = "HeardTests|ToldTests|WatchedKeysTests|OneMomentTests|Load"

# Name, file, text, and what it becomes.
MUTATIONS = [
    ("own writes change no version", CORE + "Memory/MemoryCache.swift",
     "if !contents.watched.isEmpty { contents.watched.recordChange(hash) }", ""),
    ("own removals of all change no version", CORE + "Memory/MemoryCache.swift",
     "if isWrite { contents.watched.recordChangeOfAll() }", ""),
    ("own removals by prefix change no version", CORE + "Memory/MemoryCache.swift",
     "contents.write { contents, _ in contents.watched.recordRemoval(ofPrefix: hash.of(prefix), hash) }", ""),
    ("what others announce changes no version", CORE + "Memory/MemoryCache+Invalidation.swift",
     "if !contents.watched.isEmpty { contents.watched.record(changes, hash) }", ""),
    ("the page is not looked at", CORE + "Memory/MemoryCache+Invalidation.swift",
     "return max(standing, changes.standing(of: key, hash))", "_ = changes\n            return standing"),
    ("evictions count as writes", CORE + "Memory/WatchedKeys.swift", "case .evicted: break", "case .evicted: recordChange(change.hash)"),
    ("removals are announced as evictions", ENGINE + "Archive/ArchiveEdit+Writing.swift",
     "{ ChangeKind.removed } else", "{ ChangeKind.evicted } else"),
    ("a removal of nothing is not announced", ENGINE + "Archive/ArchiveEdit+Writing.swift",
     "noteChange(of: write.key, kind)  // Another", "// Another"),
    ("the removal of all is announced as writes", ENGINE + "Archive/ArchiveEdit+Writing.swift",
     "state.changed.insert(all: .removed)", "state.changed.insert(all: .written)"),
    ("prefixes are not announced", ENGINE + "Archive/ArchiveEdit+Writing.swift", "noteChange(of: write.key, .prefixRemoved)", "break"),
    ("prefixes match valid entries alone", ENGINE + "Store/Store+Many.swift",
     "keysByUse(under: expiration, withExpired: true)", "keysByUse(under: expiration)"),
    ("predicates match valid entries alone", ENGINE + "Fetching/Store+Query.swift",
     "QueryOptions(undecodable: undecodable, withExpired: true)", "QueryOptions(undecodable: undecodable)"),
    ("callers join overtaken loads", CORE + "Loading/LoadingStore.swift",
     "loads.detach(key) { !answers.isUnchanged(key, since: $0) }", ""),
    ("refreshes join overtaken loads", CORE + "Loading/LoadingStore.swift",
     "loads.detach(request.key) { !answers.isUnchanged(request.key, since: $0) }", ""),
    ("prefixes are announced at the beginning alone", ENGINE + "Store/Store+Many.swift",
     "if rest.count <= 256 { transaction.announceRemoval(ofPrefix: prefix, in: self) }", ""),
    ("fills ask the row alone", ENGINE + "Archive/WriteCondition.swift", "case .changed: false", "case .changed: isBasis(present, isValid: isValid)"),
    ("fills trust the page where it cannot say", ENGINE + "Archive/WriteCondition.swift",
     "case .unknown: present != nil && isSame(present)", "case .unknown: isSame(present)"),
    ("too many keys decline every fill", ENGINE + "Archive/WriteCondition.swift",
     "case .maybeWritten: isSame(present)", "case .maybeWritten: false"),
    ("remembered answers outlive writes", CORE + "Loading/RememberedAnswers.swift",
     "if item.isValid(at: now()), keys.isUnchanged(key, since: item.version) { return item.answer }",
     "if item.isValid(at: now()) { return item.answer }"),
    ("memory keeps what others change", CORE + "Memory/MemoryCache+Invalidation.swift",
     "for key in keys(of: change, contents) {", "for key in keys(of: change, contents).prefix(0) {"),
    ("observers are not told of what is on the page", ENGINE + "File/ChangeWatcher.swift",
     "for observer in observers where commit.concerns(observer) { observer.signal() }", "_ = (commit, observers)"),
    ("observers are not told of what is not on the page", ENGINE + "File/ChangeWatcher.swift",
     "for observer in observers { observer.signal() }\n        return !isEmpty", "_ = observers\n        return !isEmpty"),
    ("calls for many keys mix moments", ENGINE + "Store/Store+Many.swift",
     "guard let moment, moment == disk.archive.present, missed.isEmpty || memory.isCurrent(visit, keys) else { continue }", "_ = moment"),
    ("loads have no end", CORE + "Loading/LoadingStore.swift",
     "if let limit = request.loadTimeout { loads.limit(load, until: timer.now() + limit, by: timer) }", ""),
    ("shared: pushes change no version", REMOTE + "SharedStore.swift",
     "near.forget(keys, isWrite: true)\n        signals.signal(keys)", "near.forget(keys)\n        signals.signal(keys)"),
    ("shared: leases are changes of values", REMOTE + "SharedStore.swift",
     "package func didChangeLeases(_ keys: [EntryKey]) { signals.signal(keys) }",
     "package func didChangeLeases(_ keys: [EntryKey]) { didChange(keys) }"),
    ("shared: old values outlive removals", REMOTE + "SharedStore+Loading.swift",
     "answers.isUnchanged(key, since: held.version) ? held.old : nil", "held.old"),
    ("shared: removals of groups overtake no load", REMOTE + "NearCache.swift",
     "for name in names { memory.recordRemoval(ofGroup: name) }", ""),
    ("shared: memory keeps the values of a group", REMOTE + "NearCache.swift",
     "[outage.remove($0), memory.remove($0, isWrite: true)]", "[outage.remove($0)]"),
    ("shared: replies are remembered after the removal of their group", REMOTE + "NearGroups.swift",
     "guard self.changes == changes else { return }", "_ = changes"),
    ("shared: the epochs of a loaded value are taken after it", REMOTE + "SharedStore+Loading.swift",
     "record.groups = held.epochs", "record.groups = try await takeEpochs(of: request.groups, key, age)"),
]


def run(*command, log, seconds=None):
    """Whether a command succeeds. A test that waits for what never happens does not end by itself."""
    with open(log, "w") as output:
        process = subprocess.Popen(command, cwd=COPY, stdout=output, stderr=subprocess.STDOUT, start_new_session=True)
        try:
            return process.wait(timeout=seconds) == 0
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
            return False


def is_noticed(name, path, old, new):
    """Whether the tables fail with the mutation."""
    file = COPY / path
    text = file.read_text()
    if text.count(old) < 1:
        raise SystemExit(f"'{name}' finds nothing to break in {path}.")
    log = COPY / "mutation.log"
    try:
        file.write_text(text.replace(old, new))
        if not run("env", "VELLUM_QUICK=1", "swift", "build", "--build-tests", log=log):
            raise SystemExit(f"'{name}' does not compile:\n" + log.read_text()[-2000:])
        return not run(
            "env", "VELLUM_QUICK=1", "swift", "test", "--skip-build", "--disable-xctest", "--experimental-maximum-parallelization-width", "4",
            "--filter", SUITES, log=log, seconds=120)
    finally:
        file.write_text(text)


def main():
    names = [argument for argument in sys.argv[1:] if not argument.startswith("--")]
    chosen = [mutation for mutation in MUTATIONS if not names or mutation[0] in names]
    if "--list" in sys.argv:
        return print("\n".join(mutation[0] for mutation in MUTATIONS))
    if not COPY.exists():
        subprocess.run(["git", "clone", "--quiet", str(ROOT), str(COPY)], check=True)
    subprocess.run(["git", "fetch", "--quiet"], cwd=COPY, check=True)
    head = subprocess.run(["git", "rev-parse", "HEAD"], cwd=ROOT, check=True, capture_output=True, text=True).stdout.strip()
    subprocess.run(["git", "checkout", "--quiet", "--force", head], cwd=COPY, check=True)
    missed = []
    for name, path, old, new in chosen:
        noticed = is_noticed(name, path, old, new)
        print(f"{'noticed' if noticed else 'MISSED '}  {name}", flush=True)
        if not noticed:
            missed.append(name)
    if missed:
        raise SystemExit(f"{len(missed)} of {len(chosen)} mutations were not noticed.")
    print(f"{len(chosen)} mutations, each noticed.")


main()
