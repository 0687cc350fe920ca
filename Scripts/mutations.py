#!/usr/bin/env python3
"""Breaks each mechanism that `Documentation/Reliability.md` promises, one after the other, and
fails if the tests that ought to notice it do not.

Usage: mutations.py [--list] [--check] [NAME…]. Works on a copy of the repository at HEAD, so that
the tree stays as it is, and builds it once: all mutations are compiled in, each behind a switch
that the environment turns on (VELLUM_MUTATION). A mutation whose text is not found, a suite that
fails without any mutation and one that has no test are errors: a check that cannot fail is none.
`--check` only looks for the texts. No test that is run here needs a server.
"""

import os
import re
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
COPY = ROOT / ".build" / "mutations"
LOG = COPY.parent / "mutations.log"
CORE, ENGINE, REMOTE = "Sources/VellumCore/", "Sources/VellumEngine/", "Sources/VellumRemote/"
SHALLOWS, FILES, ORIGINALS = "Sources/Shallows/", "Sources/VellumFiles/", "Sources/Originals/"

# How many seconds the tests of one mutation may take, and those of all suites without one.
LONGEST, LONGEST_OF_ALL = 90, 3600

# What every run does a part of, and `make long` all: a mutation that only that notices was lost by a
# part that is too small.
LONG = {"VELLUM_LONG": "1", "VELLUM_FAULTS": "20", "VELLUM_IMAGES": "400", "VELLUM_DAMAGE": "100"}

# Name, file, text, what it becomes, and a regular expression of the tests that ought to notice it.
# The new text does what the old one does unless BROKEN is true.
MUTATIONS = [
    # Every write is heard (decision 75).
    ("own writes change no version", CORE + "Memory/MemoryCache.swift",
     "if !contents.watched.isEmpty { contents.watched.recordChange(hash) }",
     "if !contents.watched.isEmpty, !BROKEN { contents.watched.recordChange(hash) }",
     "HeardTests|LoadingFill|OvertakenLoadTests"),
    ("own removals of all change no version", CORE + "Memory/MemoryCache.swift",
     "if isWrite { contents.watched.recordChangeOfAll() }",
     "if isWrite, !BROKEN { contents.watched.recordChangeOfAll() }",
     "HeardTests|LoadingFill|OvertakenLoadTests"),
    ("own removals by prefix change no version", CORE + "Memory/MemoryCache.swift",
     "contents.write { contents, _ in contents.watched.recordRemoval(ofPrefix: hash.of(prefix), "
     "hash) }",
     "if !BROKEN { contents.write { contents, _ in contents.watched.recordRemoval(ofPrefix: "
     "hash.of(prefix), hash) } }",
     "HeardTests|OvertakenLoadTests"),
    ("what others announce changes no version", CORE + "Memory/MemoryCache+Invalidation.swift",
     "if !contents.watched.isEmpty { contents.watched.record(changes, hash) }",
     "if !contents.watched.isEmpty, !BROKEN { contents.watched.record(changes, hash) }",
     "HeardTests|LoadingFill|OvertakenLoadTests"),
    ("the page is not looked at", CORE + "Memory/MemoryCache+Invalidation.swift",
     "watched.standing(of: keyHash, since: version), announced(key, contents.pointee, groups: "
     "watched.groups(of: keyHash)))",
     "watched.standing(of: keyHash, since: version),\n                BROKEN ? "
     "WatchedKeys.Standing.unchanged : announced(key, contents.pointee, groups: "
     "watched.groups(of: keyHash)))",
     "HeardTests|LoadingFill|OvertakenLoadTests|HeardProcessTests"),
    ("evictions count as writes", CORE + "Memory/WatchedKeys.swift",
     "case .evicted: break",
     "case .evicted: if BROKEN { recordChange(change.hash) }",
     "HeardTests|WatchedKeysTests"),
    ("removals are announced as evictions", ENGINE + "Archive/ArchiveEdit+Writing.swift",
     "{ ChangeKind.removed } else",
     "{ BROKEN ? ChangeKind.evicted : ChangeKind.removed } else",
     "HeardTests|LoadingFill"),
    ("a removal of nothing is not announced", ENGINE + "Archive/ArchiveEdit+Writing.swift",
     "memory only, or load it.\nnoteChange(of: write.key, kind)",
     "memory only, or load it.\nif !BROKEN { noteChange(of: write.key, kind) }",
     "HeardTests|LoadingFill"),
    ("the removal of all is announced as writes", ENGINE + "Archive/ArchiveEdit+Writing.swift",
     "state.changed.insert(all: .removed)",
     "state.changed.insert(all: BROKEN ? .written : .removed)",
     "HeardTests|LoadingFill"),
    ("prefixes are not announced", ENGINE + "Archive/ArchiveEdit+Writing.swift",
     "noteChange(of: write.key, .prefixRemoved)",
     "if !BROKEN { noteChange(of: write.key, .prefixRemoved) }",
     "HeardTests"),
    ("prefixes match valid entries alone", ENGINE + "Store/Store+Many.swift",
     "keysByUse(under: expiration, withExpired: true)",
     "keysByUse(under: expiration, withExpired: !BROKEN)",
     "HeardTests"),
    ("predicates match valid entries alone", ENGINE + "Fetching/Store+Query.swift",
     "QueryOptions(undecodable: undecodable, withExpired: true)",
     "QueryOptions(undecodable: undecodable, withExpired: !BROKEN)",
     "HeardTests|ExpiredRemovalTests"),
    ("callers join overtaken loads", CORE + "Loading/LoadingStore.swift",
     "loads.detach(key) { !answers.isUnchanged(key, since: $0) }",
     "loads.detach(key) { !BROKEN && !answers.isUnchanged(key, since: $0) }",
     "HeardTests|OvertakenLoadTests|LoadingTests"),
    ("refreshes join overtaken loads", CORE + "Loading/LoadingStore.swift",
     "loads.detach(request.key) { !answers.isUnchanged(request.key, since: $0) }",
     "loads.detach(request.key) { !BROKEN && !answers.isUnchanged(request.key, since: $0) }",
     "HeardTests|OvertakenLoadTests|LoadingTests"),
    ("prefixes are announced at the beginning alone", ENGINE + "Store/Store+Many.swift",
     "if rest.count <= 256 { transaction.announceRemoval(ofPrefix: prefix, in: self) }",
     "if rest.count <= 256, !BROKEN { transaction.announceRemoval(ofPrefix: prefix, in: self) }",
     "HeardTests|LoadingFill|OvertakenLoadTests|LoadingTests"),
    ("fills ask the row alone", ENGINE + "Archive/WriteCondition.swift",
     "case .changed: false",
     "case .changed: BROKEN && isBasis(present, isValid: isValid)",
     "HeardTests|LoadingFill|OvertakenLoadTests"),
    ("fills trust the page where it cannot say", ENGINE + "Archive/WriteCondition.swift",
     "case .unknown: present != nil && isSame(present)",
     "case .unknown: (BROKEN || present != nil) && isSame(present)",
     "HeardTests|LoadingFill|OvertakenLoadTests"),
    ("too many keys decline every fill", ENGINE + "Archive/WriteCondition.swift",
     "case .maybeWritten: isSame(present)",
     "case .maybeWritten: !BROKEN && isSame(present)",
     "HeardTests|LoadingFill|OvertakenLoadTests"),
    ("remembered answers outlive writes", CORE + "Loading/RememberedAnswers.swift",
     "if item.isValid(at: now()), keys.isUnchanged(key, since: item.version) { return item.answer "
     "}",
     "if item.isValid(at: now()), BROKEN || keys.isUnchanged(key, since: item.version) { return "
     "item.answer }",
     "HeardTests|LoadingNilTests|OvertakenLoadTests"),
    ("memory keeps what others change", CORE + "Memory/MemoryCache+Invalidation.swift",
     "for key in keys(of: change, contents) {",
     "for key in keys(of: change, contents).prefix(BROKEN ? 0 : Int.max) {",
     "HeardTests|InvalidationTests|OneMomentTests"),
    ("observers are not told of what is on the page", ENGINE + "File/ChangeWatcher.swift",
     "for observer in observers where commit.concerns(observer) { observer.signal() }",
     "for observer in observers where !BROKEN && commit.concerns(observer) { observer.signal() }",
     "ToldTests"),
    ("observers are not told of what is not on the page", ENGINE + "File/ChangeWatcher.swift",
     "for observer in observers { observer.signal() }\n        return !isEmpty",
     "for observer in observers where !BROKEN { observer.signal() }\n        return !isEmpty",
     "ToldTests"),
    ("calls for many keys mix moments", ENGINE + "Store/Store+Many.swift",
     "guard let moment, moment == disk.archive.present, missed.isEmpty || memory.isCurrent(visit, "
     "keys) else { continue }",
     "if !BROKEN {\n                guard let moment, moment == disk.archive.present, "
     "missed.isEmpty || memory.isCurrent(visit, keys) else { continue }\n            }",
     "OneMomentTests"),
    ("shared: pushes change no version", REMOTE + "SharedStore+Removals.swift",
     "near.forget(keys, isWrite: true)\n        signals.signal(keys)",
     "near.forget(keys, isWrite: !BROKEN)\n        signals.signal(keys)",
     "VellumRemoteTests"),
    ("shared: leases are changes of values", REMOTE + "SharedStore+Removals.swift",
     "package func didChangeLeases(_ keys: [EntryKey]) { signals.signal(keys) }",
     "package func didChangeLeases(_ keys: [EntryKey]) { if BROKEN { didChange(keys) } else { "
     "signals.signal(keys) } }",
     "VellumRemoteTests"),
    ("shared: old values outlive removals", REMOTE + "SharedStore+Loading.swift",
     "answers.isUnchanged(key, since: held.version) ? held.old : nil",
     "BROKEN || answers.isUnchanged(key, since: held.version) ? held.old : nil",
     "VellumRemoteTests"),
    ("shared: removals of groups overtake no load", REMOTE + "NearCache.swift",
     "for name in names { memory.recordRemoval(ofGroup: name) }",
     "for name in names where !BROKEN { memory.recordRemoval(ofGroup: name) }",
     "VellumRemoteTests"),
    ("shared: memory keeps the values of a group", REMOTE + "NearCache.swift",
     "[outage.remove($0), memory.remove($0, isWrite: true)]",
     "BROKEN ? [outage.remove($0)] : [outage.remove($0), memory.remove($0, isWrite: true)]",
     "VellumRemoteTests"),
    ("shared: replies are remembered after the removal of their group", REMOTE + "NearGroups.swift",
     "guard self.changes == changes else { return }",
     "guard BROKEN || self.changes == changes else { return }",
     "VellumRemoteTests"),
    ("shared: the epochs of a loaded value are taken after it",
     REMOTE + "SharedStore+Loading.swift",
     "record.groups = held.epochs",
     "record.groups = held.epochs\n            if BROKEN { record.groups = try await "
     "takeEpochs(of: request.groups, key, age) }",
     "VellumRemoteTests"),

    # Power-safe writes: the log is synced, and concurrent callers share a sync (decision 12).
    ("a power-safe write does not sync", ENGINE + "File/DatabaseFile+Access.swift",
     "if durability == .powerSafe { try sync(through: commits) }",
     "if durability == .powerSafe, !BROKEN { try sync(through: commits) }",
     "PowerLossTests"),
    ("a power-safe write of a task does not sync", ENGINE + "File/WriteLane.swift",
     "taken.sync(through: commits)",
     "if !BROKEN { taken.sync(through: commits) }",
     "WriteLaneTests|SharedCommitTests|DurabilityConcurrencyTests|AsyncArchiveStoreTests"),
    ("a flush does not sync", ENGINE + "File/DatabaseFile.swift",
     "try log.sync(through: commits)",
     "if !BROKEN { try log.sync(through: commits) }",
     "PowerLossTests|LostSyncTests"),
    ("the sync of the log does nothing", ENGINE + "SQLite/Connection.swift",
     "let code = methods.pointee.xSync(file, flags)",
     "let code = BROKEN ? SQLITE_OK : methods.pointee.xSync(file, flags)",
     "PowerLossTests|LostSyncTests"),
    ("SQLite copies the log without syncing it", ENGINE + "SQLite/SQL.swift",
     "PRAGMA synchronous = NORMAL;",
     'PRAGMA synchronous = \\(BROKEN ? "OFF" : "NORMAL");',
     "PowerLossTests"),
    ("one sync covers all that follows", ENGINE + "File/LogKeeper+Syncing.swift",
     "case .success(nil): queue.end(through: covered)",
     "case .success(nil): queue.end(through: BROKEN ? UInt64.max : covered)",
     "PowerLossTests|LostSyncTests"),
    ("a sync covers who came during it", ENGINE + "File/LogKeeper+Syncing.swift",
     "let turn = DispatchSemaphore(value: 0)",
     "if BROKEN { return .covered }\n        let turn = DispatchSemaphore(value: 0)",
     "SyncQueueTests"),
    ("a sync is trusted after a failed one", ENGINE + "File/LogKeeper+Syncing.swift",
     "failure = failure ?? error",
     "if !BROKEN { failure = failure ?? error }",
     "SyncQueueTests|LostSyncTests"),

    # The names of files survive power loss: their folder is synced (decisions 24, 28 and 80).
    ("a folder is not synced", CORE + "System/FileSystem+Paths.swift",
     "let answer = call.sync(file, .syncingFolder)",
     "let answer = BROKEN ? Int32(0) : call.sync(file, .syncingFolder)",
     "BackupTests|FileSystemPathsTests"),
    ("the folder above a new one is not synced", CORE + "System/FileSystem+Paths.swift",
     "if answer == 0 { try didMake(path) }",
     "if answer == 0, !BROKEN { try didMake(path) }",
     "HoldTests|FileSystemPathsTests|FileSyncTests"),
    ("a backup is not synced", FILES + "Copies/UnfinishedCopy.swift",
     "let answer = files.call.sync(descriptor, .creating)",
     "let answer = BROKEN ? Int32(0) : files.call.sync(descriptor, .creating)",
     "BackupTests"),

    # Disk before memory, in the order of the commits (decision 5).
    ("memory is updated although the disk failed", ENGINE + "Archive/Writer+Writes.swift",
     "outcomes = try apply(writes, to: transaction)\n            transaction.beginChange()",
     "outcomes = try apply(writes, to: transaction)\n            if BROKEN { update(outcomes) "
     "}\n            transaction.beginChange()",
     "StoreTests|StoreUpdateTests|FailingDiskTests|FullDiskTests"),
    ("memory keeps writes that were lost with their batch", ENGINE + "Store/StoreState.swift",
     "let effects = memory.removeAll()\n",
     "let effects = BROKEN ? MemoryCache<MemoryPayload<Value>>.DeferredEffects() : "
     "memory.removeAll()\n",
     "StoreTests|FailingDiskTests|ArchiveStoreFailureTests|VanishedFileTests"),
    ("a value that was read before a write enters memory after it",
     CORE + "Memory/MemoryCache+Eviction.swift",
     "guard let ticket, versions.isCurrent(ticket), item.cost <= capacity.bytes else {",
     "guard let ticket, BROKEN ? true : versions.isCurrent(ticket), item.cost <= capacity.bytes "
     "else {",
     "MemoryCacheTests|InvalidationTests|MemoryTierConcurrencyTests"),
    ("a value that is read while another process writes it enters memory",
     CORE + "Memory/MemoryCache.swift",
     "if let feed, feed.isChanging(key) { return nil }",
     "if !BROKEN, let feed, feed.isChanging(key) { return nil }",
     "InvalidationTests|NeverStaleTests"),

    # Who waits for one file keeps no other waiting (decision 98).
    ("a thread that waits keeps its place in its lane", CORE + "Concurrency/Lane.swift",
     "guard state.lent < mostLent else { return false }",
     "guard !BROKEN, state.lent < mostLent else { return false }",
     "LaneTests|WaitingTests"),
    ("one file may have all places of a lane", CORE + "Concurrency/Lane.swift",
     "share.running < max(1, mostLent - lent)",
     "BROKEN || share.running < max(1, mostLent - lent)",
     "LaneTests|WaitingTests"),
    ("who waits for another process keeps the writer", ENGINE + "Archive/Writer.swift",
     "connection.busyHandler.milliseconds = Self.patience",
     "if !BROKEN { connection.busyHandler.milliseconds = Self.patience }",
     "WaitingTests"),

    # A transaction is stored completely or not at all (decisions 54, 74 and 86).
    ("a failed transaction is committed", ENGINE + "Archive/Writer.swift",
     "try connection.execute(SQL.rollback)",
     "try connection.execute(BROKEN ? SQL.commit : SQL.rollback)",
     "[.]TransactionTests|ArchiveTransactionTests|[.]StoreTests|FailingDiskTests"),
    ("a failed part of a transaction is kept", ENGINE + "Archive/Writer.swift",
     "try connection.execute(SQL.undoPart)",
     "try connection.execute(BROKEN ? SQL.endPart : SQL.undoPart)",
     "WriteLaneTests|SharedCommitTests|CacheVersionTests"),
    ("what a transaction reads is not of one snapshot", ENGINE + "File/ReadConnection.swift",
     "try beginSnapshot.run()",
     "if !BROKEN { try beginSnapshot.run() }",
     "QueryConcurrencyTests|OneMomentTests|IndexDefectTests|ReadConnectionTests|NeverStaleTests"),
    ("a snapshot outlives a commit", ENGINE + "File/ReadConnection.swift",
     "if let lease, lease != present || now - leaseBegan >= Self.longestLease { endLease() }",
     "if let lease, (!BROKEN && lease != present) || now - leaseBegan >= Self.longestLease { "
     "endLease() }",
     "[.]StoreTests|StoreModelTests|NeverStaleTests"),
    ("the closure of a transaction writes beside it", ENGINE + "File/RunningTransactions.swift",
     "guard areRunning, note(nil) != nil else { return }",
     "guard !BROKEN, areRunning, note(nil) != nil else { return }",
     "TransactionWriteTests"),

    # Relaxed writes share an open transaction, for a while (decisions 11 and 35). That a close
    # commits it has no mutation: the flush of the archive, the close of the file and the close of
    # its writer each do.
    ("relaxed writes are not committed in time", ENGINE + "File/DatabaseFile+Access.swift",
     "if due.isOpen { schedule(.commitBatch)",
     "if due.isOpen, !BROKEN { schedule(.commitBatch)",
     "DurabilityConcurrencyTests|OpenBatchTests|aKilledProcessLosesAtMostItsLastRelaxedWrites|"
     "HeldLogTests"),
    ("relaxed writes are committed in no number", ENGINE + "Archive/Transaction.swift",
     "var isFull: Bool { writes >= 256 || bytes >= 1 << 20 }",
     "var isFull: Bool { !BROKEN && (writes >= 256 || bytes >= 1 << 20) }",
     "aKilledProcessLosesAtMostItsLastRelaxedWrites|OpenBatchTests"),
    ("relaxed writes are not committed by a flush", ENGINE + "File/DatabaseFile+Access.swift",
     "if let commit = try withWriter({ writer throws(SQLiteError) in try writer.commitBatch() "
     "}) { didCommit(commit) }",
     "if !BROKEN, let commit = try withWriter({ writer throws(SQLiteError) in try "
     "writer.commitBatch() }) { didCommit(commit) }",
     "DurabilityConcurrencyTests|OpenBatchTests|BackupTests"),
    ("relaxed writes are hidden from readers", ENGINE + "File/DatabaseFile+Access.swift",
     "if !onlyCommitted, writing.openBatch.exists.load(ordering: .acquiring) {",
     "if !BROKEN, !onlyCommitted, writing.openBatch.exists.load(ordering: .acquiring) {",
     "relaxedWritesAreVisibleImmediately|aRelaxedWriteIsVisibleImmediately|OpenBatchTests"),
    ("relaxed writes of a shared file wait", ENGINE + "Archive/Writer+Writes.swift",
     "if isShared(), let committed = try commitBatch() {",
     "if !BROKEN, isShared(), let committed = try commitBatch() {",
     "NeverStaleTests|OpenBatchTests"),
    ("who opens a file does not wait for relaxed writes", ENGINE + "File/DatabaseFile+Access.swift",
     "try connection.waitForWriters(timeout: Self.longestWaitForBatches)",
     "if !BROKEN { try connection.waitForWriters(timeout: Self.longestWaitForBatches) }",
     "HeldLogTests"),

    # A checksum is verified on every read from disk (decision 10).
    ("the checksum is not compared when a key is read", ENGINE + "Archive/ArchiveTables.swift",
     "return checksum.of(entry, key: row.keyBytes) == entry.revision ? .entry(entry) : .damaged",
     "return BROKEN || checksum.of(entry, key: row.keyBytes) == entry.revision ? .entry(entry) : "
     ".damaged",
     "RecoveryTests|damageNeverReturnsWrongValuesOrCrashes|ArchiveStoreFailureTests|FaultsTests"),
    ("the checksum is not compared when a query reads", ENGINE + "Tables/EntryTable.swift",
     "isIntact: checksum.of(entry, key: key) == entry.revision",
     "isIntact: BROKEN || checksum.of(entry, key: key) == entry.revision",
     "IndexModelTests|SalvageTests|ArchiveStoreFailureTests|"
     "damageNeverReturnsWrongValuesOrCrashes"),
    ("the checksum is not compared when a file is verified", ENGINE + "Tables/EntryTable.swift",
     "return sum.of(key, metadata, bytes) == checksum",
     "return BROKEN || sum.of(key, metadata, bytes) == checksum",
     "RecoveryTests|SalvageTests|damageNeverReturnsWrongValuesOrCrashes"),
    ("the checksum is not that of the key", ENGINE + "Tables/Entry.swift",
     "var crc = Self.extend(ofArchive, key)",
     "var crc = BROKEN ? ofArchive : Self.extend(ofArchive, key)",
     "RecoveryTests|ChosenKeysTests|damageNeverReturnsWrongValuesOrCrashes"),
    ("the checksum is not that of the archive", ENGINE + "Tables/Entry.swift",
     "ofArchive = name.withUTF8 { Self.extend(0, UnsafeRawBufferPointer($0)) }",
     "ofArchive = BROKEN ? UInt32(0) : name.withUTF8 { Self.extend(0, UnsafeRawBufferPointer($0)) "
     "}",
     "SalvageTests|RecoveryTests|FormatTests"),
    ("the index of keys is believed", ENGINE + "Archive/ArchiveTables.swift",
     "guard checksum.of(row.entry, key: row.keyBytes) != row.checksum else {",
     "guard BROKEN || checksum.of(row.entry, key: row.keyBytes) != row.checksum else {",
     "damageNeverReturnsWrongValuesOrCrashes|RecoveryTests|ChosenKeysTests|"
     "extremeValuesAreHandledOrReported"),
    ("the words of features are not compared with their complements",
     ENGINE + "Tables/Features.swift",
     "read.int(Column.check).isComplement(of: read.int(Column.bits)) {",
     "BROKEN || read.int(Column.check).isComplement(of: read.int(Column.bits)) {",
     "DatabaseFileOpeningTests|FrozenFormatTests|extremeValuesAreHandledOrReported|"
     "damageNeverReturnsWrongValuesOrCrashes"),
    ("a damaged number hides entries", ENGINE + "Tables/ArchiveTotals.swift",
     "guard read.int(1).isComplement(of: read.int(0)) else {",
     "guard BROKEN || read.int(1).isComplement(of: read.int(0)) else {",
     "extremeValuesAreHandledOrReported|damageNeverReturnsWrongValuesOrCrashes|RecoveryTests"),
    ("a damaged seed hides entries", ENGINE + "Tables/ArchiveTotals.swift",
     "row.int(RowColumn.hashSeedCheck).isComplement(of: row.int(RowColumn.hashSeed))",
     "BROKEN || row.int(RowColumn.hashSeedCheck).isComplement(of: row.int(RowColumn.hashSeed))",
     "ChosenKeysTests"),
    ("a damaged backup is restored", FILES + "Copies/Restoring.swift",
     "guard try VerificationReport(reading: connection).isIntact else {",
     "guard try BROKEN || VerificationReport(reading: connection).isIntact else {",
     "BackupTests"),
    ("shared: the checksum of an entry is not compared", REMOTE + "RemoteRecord.swift",
     "guard Self.checksum(key, header: header, rest) == UInt32(littleEndian: fields.3) else { "
     "return nil }",
     "guard BROKEN || Self.checksum(key, header: header, rest) == UInt32(littleEndian: fields.3) "
     "else { return nil }",
     "RemoteRecordTests"),

    # Locks: between threads, between processes, and while a file is opened (decisions 7, 28 and
    # 30). The lock of the registry, which keeps threads from opening one file at a time, is one of
    # these.
    ("a lock does not lock", CORE + "Concurrency/Locked.swift",
     "            pthread_mutex_lock(mutex)\n            defer { pthread_mutex_unlock(mutex) }",
     "            if !BROKEN { pthread_mutex_lock(mutex) }\n            defer { if !BROKEN { "
     "pthread_mutex_unlock(mutex) } }",
     "LockedConcurrencyTests"),
    ("writers of one process do not wait for each other", CORE + "Concurrency/Locked.swift",
     "if pthread_mutex_trylock(mutex) != 0 {",
     "if pthread_mutex_trylock(mutex) != 0, !BROKEN {",
     "DurabilityConcurrencyTests|ArchiveStoreUpdatingTests|WaitingWritersTests|CountingTests"),
    ("writers of several processes do not wait for each other", ENGINE + "SQLite/SQL.swift",
     'static let beginWriting = "BEGIN IMMEDIATE"',
     'static let beginWriting = BROKEN ? "BEGIN" : "BEGIN IMMEDIATE"',
     "ManyProcessesTests|CountingTests|severalProcessesOnOneFileLoseNothing"),
    ("the lock of a file or folder does not lock", ENGINE + "File/FileLock.swift",
     "while flock(descriptor, LOCK_EX | LOCK_NB) != 0,",
     "while !BROKEN, flock(descriptor, LOCK_EX | LOCK_NB) != 0,",
     "FileLockTests"),
    ("openings in one folder do not wait for each other", ENGINE + "File/FileLock.swift",
     "try hold(folder: FileSystem.folder(of: path), body)",
     "if BROKEN { return try body() }\n        return try hold(folder: FileSystem.folder(of: "
     "path), body)",
     "FileLockTests"),
    ("a file that is open is opened again", ENGINE + "File/FileRegistry.swift",
     "if let file = files.withLock({ $0[identity]?.file }), try isAtItsPath(file) {",
     "if !BROKEN, let file = files.withLock({ $0[identity]?.file }), try isAtItsPath(file) {",
     "DatabaseFileOpeningTests|HoldTests"),
    ("processes map the change page at the same time", ENGINE + "Sharing/ChangesFile.swift",
     "guard flock(descriptor, LOCK_EX) == 0 else {",
     "guard BROKEN || flock(descriptor, LOCK_EX) == 0 else {",
     "FileLockTests"),

    # A full disk: room is reserved before it is needed (decision 45).
    ("nothing is reserved", ENGINE + "SQLite/Connection.swift",
     "switch vellum_reserve(file, present, (bytes + chunk - 1) / chunk * chunk) {",
     "switch BROKEN ? Int32(0) : vellum_reserve(file, present, (bytes + chunk - 1) / chunk * "
     "chunk) {",
     "ReservationTests|RoomTests|FullDiskTests"),
    ("the file is not extended before the log is copied", ENGINE + "Archive/Writer+Room.swift",
     "try connection.extendFile(from: present, to: bytes)",
     "if !BROKEN { try connection.extendFile(from: present, to: bytes) }",
     "RoomTests|FullDiskTests"),
    ("the log keeps no room for a deletion", ENGINE + "Archive/Writer+Room.swift",
     "try connection.extendLog(to: 1 << 18 + bytes / 256)",
     "if !BROKEN { try connection.extendLog(to: 1 << 18 + bytes / 256) }",
     "FullDiskTests|FullDiskProcessTests"),
    ("room is not looked for again after a checkpoint", ENGINE + "Archive/Writer+Room.swift",
     "min(bytesWithRoom, connection.roomOfFile ?? bytesWithRoom)",
     "BROKEN ? bytesWithRoom : min(bytesWithRoom, connection.roomOfFile ?? bytesWithRoom)",
     "RoomTests|FullDiskTests"),
    ("a write that finds no room is not tried again", ENGINE + "File/DatabaseFile+Access.swift",
     "guard error.isFull else { throw error }",
     "guard !BROKEN, error.isFull else { throw error }",
     "FullDiskTests|FullDiskProcessTests"),
    ("the log is not emptied on a full disk", ENGINE + "File/LogKeeper.swift",
     "retry.commits = try emptyLog()",
     "if !BROKEN { retry.commits = try emptyLog() }",
     "FullDiskTests|FullDiskProcessTests"),
    ("nothing is evicted before a record on a full disk",
     ENGINE + "Archive/ArchiveEdit+Writing.swift",
     "if isOnFullDisk {\n",
     "if isOnFullDisk, !BROKEN {\n",
     "FullDiskTests"),
    ("a record on a full disk deletes nothing of emptied archives", ENGINE + "File/LogKeeper.swift",
     "if try deleteFewCleared() { return }",
     "if !BROKEN, try deleteFewCleared() { return }",
     "aRecordOnAFullDiskDeletesWhatIsLeftOfEmptiedArchives"),
    ("a full disk that has room is believed", ENGINE + "File/LogKeeper.swift",
     "guard !FileSystem.isAlmostFull(location.path) else { return failure }",
     "guard !BROKEN, !FileSystem.isAlmostFull(location.path) else { return failure }",
     "damageNeverReturnsWrongValuesOrCrashes"),

    # Sizes, totals and indexes are written with the entries and agree with them (decisions 4, 14
    # and 46).
    ("totals are not written", ENGINE + "Archive/ArchiveEdit.swift",
     "try totals.runStore(try statement(.storeTotals), id)",
     "if !BROKEN { try totals.runStore(try statement(.storeTotals), id) }",
     "StoreModelTests|KnownEntryTests|ArchiveStoreReopeningTests"),
    ("totals are not written if an entry grows", ENGINE + "Archive/ArchiveEdit+Writing.swift",
     "if Int64(entry.size) != size { state.contents.hasChangedEntries = true }",
     "if Int64(entry.size) != size, !BROKEN { state.contents.hasChangedEntries = true }",
     "KnownEntryTests|StoreModelTests|ArchiveStoreLimitTests"),
    ("a removal leaves its bytes in the totals", ENGINE + "Archive/ArchiveEdit+Writing.swift",
     "state.totals.bytes -= size",
     "if !BROKEN { state.totals.bytes -= size }",
     "StoreModelTests|KnownEntryTests"),
    ("entries behind the row of the totals are not counted", ENGINE + "Archive/ArchiveEdit.swift",
     "if row.isPossible(inArchive: id) { try EntryTable.add(try statement(.tail), to: &totals) }",
     "if !BROKEN, row.isPossible(inArchive: id) { try EntryTable.add(try statement(.tail), to: "
     "&totals) }",
     "StoreModelTests|ArchiveStoreReopeningTests|CrashTests[.]KillTests|CrashTests[.]CrashTests"),
    ("the row of the index is not written", ENGINE + "Archive/ArchiveEdit+Index.swift",
     "try putColumns(entryID, values, isNew: isNew)",
     "if !BROKEN { try putColumns(entryID, values, isNew: isNew) }",
     "IndexModelTests|IndexedStoreTests"),
    ("the row of the index is not removed", ENGINE + "Archive/ArchiveEdit+Writing.swift",
     "try indexRemoved(entryID)",
     "if !BROKEN { try indexRemoved(entryID) }",
     "IndexModelTests|IndexedStoreTests"),
    ("elements of an overwritten entry stay in the index",
     ENGINE + "Archive/ArchiveEdit+Index.swift",
     "for (collection, elements) in old.elements.enumerated() {",
     "for (collection, elements) in old.elements.enumerated() where !BROKEN {",
     "IndexModelTests|IndexedStoreTests|IndexDefectTests"),
    ("a program without the index leaves old rows in it",
     ENGINE + "Archive/ArchiveEdit+Index.swift",
     "guard isIndexOurs else { return try putUnindexed(entryID, .unknown, isNew: isNew) }",
     "if BROKEN, !isIndexOurs { return }\n        guard isIndexOurs else { return try "
     "putUnindexed(entryID, .unknown, isNew: isNew) }",
     "IndexBuildingTests|IndexCrashTests"),
    ("an emptied archive keeps its index", ENGINE + "Archive/ArchiveEdit+Writing.swift",
     "try indexRemovedAll()",
     "if !BROKEN { try indexRemovedAll() }",
     "IndexModelTests|IndexedStoreTests|IndexBuildingTests"),
    ("entries of an emptied archive are found", ENGINE + "Archive/ArchiveTables.swift",
     "read.bind(cleared, at: 2)",
     "read.bind(BROKEN ? EntryID.zero(of: id) : cleared, at: 2)",
     "[.]StoreTests|StoreModelTests|CacheVersionTests|FileSizeTests"),
    ("entries of an emptied archive are not deleted", ENGINE + "File/DatabaseFile+Access.swift",
     "if due.mayHoldCleared { scheduleDeletingCleared() }",
     "if !BROKEN, due.mayHoldCleared { scheduleDeletingCleared() }",
     "FileSizeTests|OpenBatchTests"),
    ("an entry of another archive is overwritten", ENGINE + "Archive/ArchiveEdit+Writing.swift",
     "known.id > state.totals.cleared, known.id < EntryID.end(of: id) else {",
     "known.id > state.totals.cleared, BROKEN || known.id < EntryID.end(of: id) else {",
     "KnownEntryTests"),
    ("an entry of another key is overwritten", ENGINE + "Tables/EntryTable.swift",
     '"\\(update) AND key = ?8 AND \\(size) = ?9"',
     '"\\(update) AND \\(BROKEN ? "?8 = ?8" : "key = ?8") AND \\(size) = ?9"',
     "KnownEntryTests"),
    ("keys of one hash are one key", ENGINE + "Tables/EntryTable.swift",
     "guard key.hasBytes(row.bytes(Column.key)) else { return nil }",
     "guard BROKEN || key.hasBytes(row.bytes(Column.key)) else { return nil }",
     "ChosenKeysTests"),

    # Groups of entries (decision 82).
    ("the removal of a group removes nothing", ENGINE + "Archive/ArchiveEdit+Groups.swift",
     "for member in members {\n",
     "for member in members where !BROKEN {\n",
     "CacheGroupTests|HeardTests"),
    ("an entry that is removed stays in its groups", ENGINE + "Archive/ArchiveEdit+Writing.swift",
     "return state.contents.hasMembers ? try removeMembers(entryID) : false",
     "if BROKEN { return false }\n        return state.contents.hasMembers ? try "
     "removeMembers(entryID) : false",
     "CacheGroupTests"),
    ("a row of another value is a member of the group", ENGINE + "Tables/MemberTable.swift",
     "AND e.checksum = m.revision",
     "AND (\\(BROKEN ? 1 : 0) OR e.checksum = m.revision)",
     "CacheGroupTests"),

    # Limits hold whenever a call returns, for each archive alone (decision 33).
    ("the limit is not enforced at the end of a write",
     ENGINE + "Archive/ArchiveEdit+Writing.swift",
     "if isOverLimit { noteRemoval(of: try evict(), .evicted) }",
     "if isOverLimit, !BROKEN { noteRemoval(of: try evict(), .evicted) }",
     "limitsHoldAfterEveryCall|RecencyModelTests|ArchiveRuleTests"),
    ("an entry larger than the limit evicts others", ENGINE + "Archive/ArchiveEdit+Writing.swift",
     "guard entry.size <= capacity.bytes else {",
     "guard BROKEN || entry.size <= capacity.bytes else {",
     "ArchiveStoreLimitTests|KnownEntryTests"),
    ("the limit of an archive evicts entries of another", ENGINE + "Tables/RecencyTables.swift",
     "AND e.id < \\(EntryID.end(of: n)) ORDER BY e.id LIMIT 1",
     "AND e.id < \\(BROKEN ? Int64.max : EntryID.end(of: n)) ORDER BY e.id LIMIT 1",
     "anArchiveEvictsNoEntryOfTheNext|archivesFollowTheRuleBesideAnotherArchive"),
    ("memory has no limit", CORE + "Memory/MemoryCache.swift",
     "capacity.isExceeded(byBytes: entries.list.totalCost, entries: entries.list.count)",
     "BROKEN ? false : capacity.isExceeded(byBytes: entries.list.totalCost, entries: "
     "entries.list.count)",
     "MemoryCacheTests|OrderOfUseTests"),
    ("any process may lower a default limit", ENGINE + "Tables/StoredLimit.swift",
     "StoredLimit(bytes: max(bytes, Int64(fallback.bytes), held), isGiven: 0)",
     "StoredLimit(bytes: BROKEN ? Int64(fallback.bytes) : max(bytes, Int64(fallback.bytes), "
     "held), isGiven: 0)",
     "aDefaultLimitOnlyGrows|HoldTests|ArchiveDiskLimitTests"),

    # Least recently used first (decisions 6 and 52).
    ("uses are not written", ENGINE + "Archive/ArchiveEdit+Recency.swift",
     "for touch in touches.sorted(by: { $0.entryID < $1.entryID }) {",
     "for touch in touches.sorted(by: { $0.entryID < $1.entryID }) where !BROKEN {",
     "RecencyModelTests|ArchiveStoreRecencyTests|InvalidationTests"),
    ("uses that are not in the file yet do not count",
     ENGINE + "Archive/ArchiveEdit+Eviction.swift",
     "} else if let use = lastUse(untouched), use > untouched.stamp {",
     "} else if !BROKEN, let use = lastUse(untouched), use > untouched.stamp {",
     "RecencyModelTests|ArchiveStoreRecencyTests"),
    ("what was never used again goes before all others",
     ENGINE + "Archive/ArchiveEdit+Eviction.swift",
     "if let untouched, untouched.stamp <= logged?.stamp ?? untouched.stamp {",
     "if let untouched, BROKEN || untouched.stamp <= logged?.stamp ?? untouched.stamp {",
     "RecencyModelTests|ArchiveStoreRecencyTests"),
    ("stamps of several threads are not ordered by writes", CORE + "Memory/UseStamps.swift",
     "        raise(to: latest)",
     "        if !BROKEN { raise(to: latest) }",
     "OrderOfUseTests|UseStampTests"),
    ("a hit in memory is no use", CORE + "Memory/MemoryCache.swift",
     "if contents.pointee.entries.touch(slot, notes.stamps.next(at: now)) {",
     "if !BROKEN, contents.pointee.entries.touch(slot, notes.stamps.next(at: now)) {",
     "OrderOfUseTests|MemoryCacheTests"),

    # Expired entries are reclaimed, and not returned (decision 17).
    ("expired entries are returned", CORE + "Policy/Validity.swift",
     "return now < end || end == .never",
     "return BROKEN || now < end || end == .never",
     "PolicyTests|ArchiveStoreExpirationTests|MiniCacheExpirationTests"),
    ("queries of an index find expired entries", CORE + "Policy/Validity.swift",
     "coalesce(e.expires, \\(never)) > :now",
     "(\\(BROKEN ? 1 : 0) OR coalesce(e.expires, \\(never)) > :now)",
     "IndexModelTests|SlidingAgeQueryTests"),
    ("expired entries are not removed", ENGINE + "Archive/ArchiveEdit+Sweep.swift",
     "try delete(entry.id, size: size, key: entry.key, .evicted)",
     "if BROKEN { continue }\n            try delete(entry.id, size: size, key: entry.key, "
     ".evicted)",
     "[.]SweepingTests"),
    ("a write does not make a sweep due", ENGINE + "File/DatabaseFile+Access.swift",
     "if needsSweep(for: due.earliestEnd) {",
     "if !BROKEN, needsSweep(for: due.earliestEnd) {",
     "[.]SweepingTests"),
    ("expired entries of earlier processes are not looked for",
     ENGINE + "Archive/ArchiveEdit+Sweep.swift",
     "upkeep.sweepMap.readAnew(after: totals.cleared, through: totals.nextID - 1)",
     "if !BROKEN { upkeep.sweepMap.readAnew(after: totals.cleared, through: totals.nextID - 1) }",
     "[.]SweepingTests|SweepDefectTests"),
    ("how long other readers keep entries is ignored", ENGINE + "Archive/ArchiveEdit+Sweep.swift",
     "if !own.contains(where: { $0.covers(policy) }) { found.append(policy) }",
     "if !BROKEN, !own.contains(where: { $0.covers(policy) }) { found.append(policy) }",
     "[.]SweepingTests|SweepDefectTests|KeptExpiredTests"),
    ("stale entries are removed before their window ends", ENGINE + "Tables/RetentionTable.swift",
     "min(end.advanced(byMilliseconds: staleWindow),",
     "min(end.advanced(byMilliseconds: BROKEN ? 0 : staleWindow),",
     "[.]SweepingTests|RetentionTests|KeptExpiredTests"),

    # A damaged file is set aside with its side files, and what can be read is copied (decisions 10
    # and 28).
    ("a damaged file is not marked", ENGINE + "Recovery/Recovery.swift",
     "markDamaged(path)\n        return error",
     "if !BROKEN { markDamaged(path) }\n        return error",
     "RecoveryTests|SalvageTests|UnreadableDeviceTests"),
    ("a failing device is taken for damage", ENGINE + "Recovery/Recovery.swift",
     "if let failure = readFailure(of: path) { return failure }",
     "if !BROKEN, let failure = readFailure(of: path) { return failure }",
     "UnreadableDeviceTests|FailingDiskTests"),
    ("apparent damage is not verified", ENGINE + "File/DatabaseFile+Opening.swift",
     "if try Recovery.isSoundAfterAll(path, kind) {",
     "if !BROKEN, try Recovery.isSoundAfterAll(path, kind) {",
     "UnreadableDeviceTests|VellumTestingTests[.]HealthTests|SalvageTests"),
    ("a damaged file is not kept", ENGINE + "Recovery/Recovery.swift",
     "try FileSystem.move(path, to: aside)",
     "if BROKEN { try FileSystem.remove(path) } else { try FileSystem.move(path, to: aside) }",
     "SalvageTests|RecoveryTests|ArchivesFactoryInputTests"),
    ("the side files of a damaged file stay", ENGINE + "Recovery/Recovery.swift",
     '["-wal", "-shm", "-journal", ChangesFile.suffix, "", markSuffix]',
     'BROKEN ? ["", markSuffix] : ["-wal", "-shm", "-journal", ChangesFile.suffix, "", markSuffix]',
     "SalvageTests|RecoveryTests|MiniCacheDamageTests"),
    ("others write to a file during its repair", ENGINE + "Recovery/Recovery+Repair.swift",
     "try ChangesFile.retire(besides: path)",
     "if !BROKEN { try ChangesFile.retire(besides: path) }",
     "VanishedFileTests|RecoveryTests|SalvageTests|RecoveryKillTests"),
    ("a repair that was interrupted is not finished", ENGINE + "Recovery/Recovery+Repair.swift",
     "guard replacement.isWaiting else { return nil }",
     "guard !BROKEN, replacement.isWaiting else { return nil }",
     "RecoveryKillTests|aRepairedFileIsNeverRemovedIfItIsTheOnlyCopy|BackupKillTests"),
    ("entries after a damaged page are not salvaged", ENGINE + "Recovery/Salvage.swift",
     "state = leap()",
     "state = BROKEN ? .finished : leap()",
     "SalvageTests|RecoveryTests"),
    ("entries that do not match their checksums are salvaged", ENGINE + "Recovery/Salvage.swift",
     "guard stored.isIntact else { return damaged",
     "guard BROKEN || stored.isIntact else { return damaged",
     "SalvageTests|RecoveryTests|damageNeverReturnsWrongValuesOrCrashes"),

    # A file that is not ours is refused and left as it is (decisions 60 and 73).
    ("a database of another program is accepted", ENGINE + "Tables/Schema.swift",
     "guard application == 0, version == 0, try connection.int(SQL.tableCount) == 0 else {",
     "guard try BROKEN || (application == 0 && version == 0 && connection.int(SQL.tableCount) == "
     "0) else {",
     "DatabaseFileOpeningTests|MiniCacheDamageTests"),
    ("a database of another program is set aside by archives",
     ENGINE + "File/DatabaseFile+Opening.swift",
     "guard policy == .setAside else { throw error }",
     "guard BROKEN || policy == .setAside else { throw error }",
     "DatabaseFileOpeningTests|ArchivesFactoryInputTests|SQLiteStorageFailureTests"),
    ("a file that is no database is set aside by archives",
     ENGINE + "File/DatabaseFile+Opening.swift",
     "guard try VellumError(error).code == .damagedFile ||",
     "guard try BROKEN || VellumError(error).code == .damagedFile ||",
     "DatabaseFileOpeningTests|ArchivesFactoryInputTests|SQLiteStorageFailureTests"),
    ("a file of another kind is accepted", ENGINE + "Tables/Schema.swift",
     "guard present == kind else {",
     "guard BROKEN || present == kind else {",
     "DatabaseFileOpeningTests|HandleTests|MistakeTests|ArchivesFactory|BackupTests"),
    ("a newer format is accepted or repaired", ENGINE + "Tables/Schema.swift",
     "if version > formatVersion, try ArchiveTable.format(on: connection) == version {",
     "if !BROKEN, version > formatVersion, try ArchiveTable.format(on: connection) == version {",
     "DatabaseFileOpeningTests|MiniCacheDamageTests"),
    ("an unknown feature for opening is accepted", ENGINE + "Tables/Schema.swift",
     "guard features.forOpening == 0 else {",
     "guard BROKEN || features.forOpening == 0 else {",
     "DatabaseFileOpeningTests|FrozenFormatTests"),
    ("an unknown feature for writing is accepted", ENGINE + "Tables/Features.swift",
     "guard forWriting != 0 else { return }",
     "guard !BROKEN, forWriting != 0 else { return }",
     "DatabaseFileOpeningTests|FrozenFormatTests"),

    # Each process sees what another has acknowledged: the change page (decisions 26 and 65).
    ("changes are not announced", ENGINE + "Archive/Writer.swift",
     "guard !announcements.isEmpty else { return nil }",
     "guard !BROKEN, !announcements.isEmpty else { return nil }",
     "ToldTests|NeverStaleTests"),
    ("announced changes are not finished", ENGINE + "Sharing/ChangePage.swift",
     "finished.pointee.max(number, ordering: .releasing)",
     "if !BROKEN { finished.pointee.max(number, ordering: .releasing) }",
     "ChangePageTests|ToldTests"),
    ("the mark of a dead writer stays", ENGINE + "Sharing/ChangePage.swift",
     "finished.pointee.store(last, ordering: .releasing)",
     "if !BROKEN { finished.pointee.store(last, ordering: .releasing) }",
     "ChangePageTests"),
    ("the mark of a dead writer is trusted by observers", ENGINE + "File/ChangeWatcher.swift",
     "moment.announced != told && location.mayBeCommitting",
     "moment.announced != told && (BROKEN || location.mayBeCommitting)",
     "ToldTests|ObservingProcessTests"),
    ("memory does not look at the page", CORE + "Memory/MemoryCache+Invalidation.swift",
     "return generation.value == contents.lastSeenGeneration",
     "return BROKEN ? true : generation.value == contents.lastSeenGeneration",
     "InvalidationTests|NeverStaleTests"),
    ("a reader too far behind keeps its memory", ENGINE + "Sharing/ChangePage.swift",
     "guard number > old, let change = change(number) else { return .unknown }",
     "guard number > old, let change = change(number) else { return BROKEN ? keys : .unknown }",
     "ChangePageTests|InvalidationTests"),
    ("changes beyond what the page names are forgotten", CORE + "Memory/ChangeFeed.swift",
     "if single.count >= most { collapse() }",
     "if single.count >= most { if BROKEN { return } else { collapse() } }",
     "InvalidationTests|ChangePageTests|WatchedKeysTests|ToldTests|HeardTests"),
    ("an implausible page is used", ENGINE + "Sharing/ChangesFile.swift",
     "if !page.isIntact { page.reset() }",
     "if !BROKEN, !page.isIntact { page.reset() }",
     "FrozenFormatTests|ChangePageTests|HostileWordsTests"),

    # Observers get the final answer, and no part of a transaction (decisions 65 and 74).
    ("observers are told of half a transaction", ENGINE + "File/ChangeWatcher.swift",
     "let over = isRunning ? moment.finished : moment.announced",
     "let over = isRunning && !BROKEN ? moment.finished : moment.announced",
     "ToldTests|ObservingProcessTests"),
    ("a large answer is of several moments", ENGINE + "Observing/Store+Observing.swift",
     "guard snapshots > 1, triesLeft > 0 else { return answer }",
     "guard !BROKEN, snapshots > 1, triesLeft > 0 else { return answer }",
     "ObservedQueryTests"),

    # Vanished files, suspended files, and forked processes (decision 27).
    ("a forked process is not noticed", CORE + "Concurrency/ForkGuard.swift",
     "{ copies.pointee.load(ordering: .relaxed) == copiesAtStart }",
     "{ BROKEN || copies.pointee.load(ordering: .relaxed) == copiesAtStart }",
     "ForkTests"),
    ("a file that vanished is not noticed", ENGINE + "File/FileLocation.swift",
     "if FileIdentity(path: path) != identity || changesFile.page.isRetired { return .otherFile }",
     "if !BROKEN, FileIdentity(path: path) != identity || changesFile.page.isRetired { return "
     ".otherFile }",
     "VanishedFileTests"),
    ("a log that vanished is not noticed", ENGINE + "File/FileLocation.swift",
     "return seen != nil && seen != log",
     "return !BROKEN && seen != nil && seen != log",
     "VanishedFileTests"),
    ("a change page that vanished is not noticed", ENGINE + "File/DatabaseFile+Access.swift",
     "if try location.changesFile.remapIfReplaced() {",
     "if !BROKEN, try location.changesFile.remapIfReplaced() {",
     "VanishedFileTests"),
    ("who only hits memory does not notice that its file vanished",
     ENGINE + "File/DatabaseFile+Maintenance.swift",
     "guard file.isInPlace else { return }",
     "guard BROKEN || file.isInPlace else { return }",
     "VanishedFileTests"),
    ("a suspended file is used", ENGINE + "File/FileLocation.swift",
     "guard state != .suspended else { throw .suspended }",
     "guard BROKEN || state != .suspended else { throw .suspended }",
     "SuspendingTests"),

    # The log stays bounded (decisions 36 and 49).
    ("the log is never restarted", ENGINE + "File/LogKeeper.swift",
     "guard logged >= LogLimit.checkpointAt else {",
     "guard !BROKEN, logged >= LogLimit.checkpointAt else {",
     "FileSizeTests|LogAfterLargeWriteTests|LogSizeTests"),

    # Untrusted files: nothing in them is run (decision 34).
    ("a schema with triggers and views is accepted", ENGINE + "Tables/SchemaCheck.swift",
     "guard items.allSatisfy(isOurs) else {",
     "guard BROKEN || items.allSatisfy(isOurs) else {",
     "DatabaseFileOpeningTests|noCodeInAFileIsExecutedAndEveryEntryIsSalvaged"),
    ("a table of a later version may run code", ENGINE + "Tables/SchemaCheck.swift",
     "mayHaveMoreTables && item.isPlain }",
     "mayHaveMoreTables && (BROKEN || item.isPlain) }",
     "DatabaseFileOpeningTests|FrozenFormatTests|HostileFileTests"),
    ("a foreign schema is salvaged as it is", ENGINE + "Recovery/Recovery+Salvage.swift",
     "return check.items.allSatisfy(check.isOurs) ? nil : check",
     "return BROKEN || check.items.allSatisfy(check.isOurs) ? nil : check",
     "noCodeInAFileIsExecutedAndEveryEntryIsSalvaged|"
     "aMalformedDefinitionDoesNotHideExecutableCode"),
    ("a connection may run code of a file", ENGINE + "SQLite/Connection.swift",
     "let configured = vellum_sqlite_treat_as_data(UnsafeMutableRawPointer(handle), isDefensive ? "
     "1 : 0)",
     "let configured = BROKEN ? SQLITE_OK : "
     "vellum_sqlite_treat_as_data(UnsafeMutableRawPointer(handle), isDefensive ? 1 : 0)",
     "noCodeInAFileIsExecutedAndEveryEntryIsSalvaged|codeAddedToAnOpenFileIsNotExecuted"),

    # Untrusted paths: only regular files with one name are opened (decision 34).
    ("a pipe is opened", ENGINE + "SQLite/FilePaths.swift",
     'case S_IFIFO: return "is a FIFO"',
     'case S_IFIFO: return BROKEN ? nil : "is a FIFO"',
     "onlyRegularFilesAreOpened|specialFilesCreatedWhileTheFileIsOpenAreNotOpened"),
    ("a symbolic link is opened", ENGINE + "SQLite/FilePaths.swift",
     'case S_IFLNK: return "is a symbolic link"',
     'case S_IFLNK: return BROKEN ? nil : "is a symbolic link"',
     "onlyRegularFilesAreOpened|specialFilesCreatedWhileTheFileIsOpenAreNotOpened"),
    ("a hard link is opened", ENGINE + "SQLite/FilePaths.swift",
     "if status.st_nlink > 1, !mayHaveLinks {",
     "if !BROKEN, status.st_nlink > 1, !mayHaveLinks {",
     "onlyRegularFilesAreOpened|aSecondNameOfAnOpenDatabaseDoesNotAffectIt"),
    ("a link in place of the change page is written", ENGINE + "Sharing/ChangesFile.swift",
     "O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o600",
     "O_RDWR | O_CREAT | O_CLOEXEC | (BROKEN ? 0 : O_NOFOLLOW), 0o600",
     "aLinkThatReplacesAnOpenChangePageIsNotWritten"),

    # Untrusted numbers and lengths (decision 34). The readers of CBOR and RESP have none here: the
    # first does not depend on VellumCore, and the tests of the second need a trait. `make fuzz`
    # reads both.
    ("impossible totals are believed", ENGINE + "Archive/ArchiveEdit.swift",
     "guard totals.isPossible(inArchive: id) else {",
     "guard BROKEN || totals.isPossible(inArchive: id) else {",
     "extremeValuesAreHandledOrReported|StampTests"),
    ("an impossible index is believed", ENGINE + "Archive/ArchiveEdit+Index.swift",
     "guard state.isPossible(for: shape) else {",
     "guard BROKEN || state.isPossible(for: shape) else {",
     "anImpossibleIndexIsDamage"),
    ("a last use that no process gives is believed", ENGINE + "Tables/RecencyTables.swift",
     'guard isPossible else { throw .corrupt("Invalid last use of an entry.") }',
     'guard BROKEN || isPossible else { throw .corrupt("Invalid last use of an entry.") }',
     "StampTests|extremeValuesAreHandledOrReported"),
    ("the length of an element in an index is unbounded", ENGINE + "Tables/ElementList.swift",
     "guard let count = rest.popLength(), count <= rest.count else { return nil }",
     "guard let count = rest.popLength(), BROKEN || count <= rest.count else { return nil }",
     "elementsThatAreCutOffAreNoList"),
    ("the length of a key in a file is unbounded", SHALLOWS + "Storages/Disk/LongKeyFile.swift",
     "return length <= UInt64(size - endCount) ? Int(length) : nil",
     "return BROKEN || length <= UInt64(size - endCount) ? Int(length) : nil",
     "LongKeyFileTests"),
    ("shared: the lengths in an entry are unbounded", REMOTE + "RemoteRecord.swift",
     "guard bytes.count >= count else { return nil }",
     "guard BROKEN || bytes.count >= count else { return nil }",
     "RemoteRecordTests"),

    # A failure is never a miss (decision 9).
    ("a failing disk looks empty to a load", ENGINE + "Loading/StoreLoader.swift",
     "guard error.concernsOneEntry || error.code == .cacheVersionChanged else { throw error }",
     "guard BROKEN || error.concernsOneEntry || error.code == .cacheVersionChanged else { throw "
     "error }",
     "LoadingTests|FailingDiskTests|MiniCacheLoadingTests|ArchiveStoreLoadingTests"),
    ("a damaged entry looks like a miss", ENGINE + "File/DiskArchive.swift",
     "case .damaged: throw .corruptEntry",
     "case .damaged: if BROKEN { return nil } else { throw .corruptEntry }",
     "RecoveryTests|ArchiveStoreFailureTests|FaultsTests"),

    # Conditions of writes: loads, updates and transactions (decisions 18, 63, 75 and 89).
    ("a stale fill is stored", ENGINE + "Loading/StoreLoader.swift",
     "memory.standing(of: key, since: origin.version)",
     "BROKEN ? WatchedKeys.Standing.unchanged : memory.standing(of: key, since: origin.version)",
     "LoadingFill|OvertakenLoadTests|HeardTests"),
    ("a fill replaces what another process has stored", ENGINE + "Archive/WriteCondition.swift",
     "case .version(let version): !isValid || present == nil || present == version",
     "case .version(let version): BROKEN || !isValid || present == nil || present == version",
     "LoadingFill|HeardProcessTests|HeardTests"),
    ("an update overwrites what was written since", ENGINE + "Archive/WriteCondition.swift",
     "case .exactly(let version): present == version",
     "case .exactly(let version): BROKEN || present == version",
     "StoreUpdateTests|ArchiveStoreUpdatingTests|CountingTests"),
    ("an update from memory overwrites what was written since",
     ENGINE + "Archive/WriteCondition.swift",
     "let isMet = (begins || wasMetAtCommit) && standing() == .unchanged",
     "let isMet = (begins || wasMetAtCommit) && (BROKEN || standing() == .unchanged)",
     "StoreUpdateTests|ArchiveStoreUpdatingTests|CountingTests"),
    ("an update from memory does not look at the page",
     CORE + "Memory/MemoryCache+Invalidation.swift",
     "contents.pointee.versions.isCurrent(ticket) && announced(key, contents.pointee, groups: []) "
     "== .unchanged",
     "contents.pointee.versions.isCurrent(ticket) && (BROKEN || announced(key, contents.pointee, "
     "groups: []) == .unchanged)",
     "StoreUpdateTests|CountingTests|NeverStaleTests"),
    ("a transaction ignores that what it read has changed", ENGINE + "Store/TransactionReads.swift",
     "guard let condition else {",
     "guard !BROKEN, let condition else {",
     "ArchiveTransactionTests|CountingTests"),
    ("a version of a cache that was replaced goes on", ENGINE + "Archive/ArchiveEdit.swift",
     "if let version = archive.cacheVersion, !ArchiveTotals.isOf(version: version, load) {",
     "if !BROKEN, let version = archive.cacheVersion, !ArchiveTotals.isOf(version: version, load) "
     "{",
     "CacheVersionTests|CacheVersionProcessTests"),

    # At most one loader of a key runs; cancelling one waiter does not affect the others (decisions
    # 18, 39 and 64).
    ("two loaders of a key run", CORE + "Loading/SingleFlight.swift",
     "if let present = numbers[key] {",
     "if !BROKEN, let present = numbers[key] {",
     "SingleFlightTests|LoadingStampedeConcurrencyTests"),
    ("the cancellation of one waiter cancels the load of all", CORE + "Loading/SingleFlight.swift",
     "guard load.waiters.isEmpty, !load.keepsRunning else {",
     "guard BROKEN || load.waiters.isEmpty, !load.keepsRunning else {",
     "SingleFlightTests|LoadingTests|LoadingStampedeConcurrencyTests"),
    ("a load does not look again before it calls the loader", ENGINE + "Loading/StoreLoader.swift",
     "if let found = look.found { return .found(found, forEveryReader: false, isDue: look.isDue) }",
     "if !BROKEN, let found = look.found { return .found(found, forEveryReader: false, isDue: "
     "look.isDue) }",
     "LoadingStampedeConcurrencyTests|LoadingTests|LoadingModelTests|MiniCacheLoadingTests"),
    ("loads have no end", CORE + "Loading/LoadingStore.swift",
     "if let limit = request.loadTimeout { loads.limit(load, until: timer.now() + limit, by: "
     "timer) }",
     "if let limit = request.loadTimeout, !BROKEN { loads.limit(load, until: timer.now() + limit, "
     "by: timer) }",
     "LoadTimeoutTests|HeardTests|aLateLoaderEndsWithItsTime"),
    ("a caller waits longer than its timeout", CORE + "Loading/LoadingStore.swift",
     "guard let timeout = request.timeout else { return }",
     "guard !BROKEN, let timeout = request.timeout else { return }",
     "LoadTimeoutTests|CacheLoadResultTests"),
    ("a tombstone is not remembered", ENGINE + "Loading/StoreLoader.swift",
     "} else if let tombstone = request.tombstone, answer.nothingFor > 0 {",
     "} else if !BROKEN, let tombstone = request.tombstone, answer.nothingFor > 0 {",
     "MiniCacheLoadingTests"),
    ("that there is no value is not remembered", CORE + "Loading/LoadingStore.swift",
     "answers.insert(.nothing, forKey: request.key, version: version, for: nothingFor)",
     "if !BROKEN { answers.insert(.nothing, forKey: request.key, version: version, for: "
     "nothingFor) }",
     "LoadingNilTests"),
    ("a failure of a loader is not remembered", CORE + "Loading/LoadingStore.swift",
     "answers.insert(.failure(error), forKey: request.key, version: version, for: "
     "request.errorMaxAge)",
     "if !BROKEN { answers.insert(.failure(error), forKey: request.key, version: version, for: "
     "request.errorMaxAge) }",
     "LoadingNilTests|LoadingTests|SharedStoreTests"),

    # Types that change, and what the originals left behind (decisions 50, 51 and 83).
    ("an object of an older version is not migrated when it is read",
     ENGINE + "Store/Store+Read.swift",
     "guard entry.typeVersion == version else { return try migrate(entry, of: key) }",
     "guard BROKEN || entry.typeVersion == version else { return try migrate(entry, of: key) }",
     "MigrationPassTests|[.]MigrationTests"),
    ("objects of older versions are not replaced", ENGINE + "Archive/ArchiveEdit+Migration.swift",
     "if let old = entry.old, try revision(of: entry.id) == entry.revision {",
     "if !BROKEN, let old = entry.old, try revision(of: entry.id) == entry.revision {",
     "MigrationPassTests|[.]MigrationTests"),
    ("a migrated object is not marked", ENGINE + "Archive/ArchiveEdit+Migration.swift",
     "content.typeVersion = new.version",
     "content.typeVersion = BROKEN ? old.entry.typeVersion : new.version",
     "MigrationPassTests|[.]MigrationTests"),
    ("objects of version 1 are imported twice", ORIGINALS + "OriginalObjects.swift",
     "try transaction.record(done, forKey: key, in: progress)",
     "if !BROKEN { try transaction.record(done, forKey: key, in: progress) }",
     "VellumTests[.]ImportTests"),
    ("entries of the original MiniCache are imported twice", ORIGINALS + "OriginalCaches.swift",
     "try transaction.record(done, forKey: EntryKey(name), in: progress)",
     "if !BROKEN { try transaction.record(done, forKey: EntryKey(name), in: progress) }",
     "OriginalFileTests"),

    # A backup is of one moment, and whole or not there (decision 80).
    ("a backup leaves relaxed writes out", FILES + "Copies/Backup.swift",
     "try file.commitBatch()",
     "if !BROKEN { try file.commitBatch() }",
     "BackupTests"),
    ("a backup leaves uses out", FILES + "Copies/Backup.swift",
     "try file.writeAllTouches()",
     "if !BROKEN { try file.writeAllTouches() }",
     "BackupTests"),
    ("a backup begins again whenever others write", FILES + "Copies/Backup.swift",
     "try reading.execute(SQL.begin)",
     "if !BROKEN { try reading.execute(SQL.begin) }",
     "BackupTests|BackupKillTests"),
    ("a backup that is suspended goes on", FILES + "Copies/Backup.swift",
     "guard source.state == .open else {",
     "guard BROKEN || source.state == .open else {",
     "BackupTests"),
    ("a part of a backup stays", FILES + "Copies/Backup.swift",
     "copy.close()\n            throw error",
     "if !BROKEN { copy.close() }\n            throw error",
     "BackupTests"),

    # Queries return what reading every object would find (decisions 14 to 16, 76, 77 and 88).
    ("a condition that no index answers is forgotten", ENGINE + "Query/QueryPlan.swift",
     "if !left.isEmpty { remaining.append((count, left)) }",
     "if !BROKEN, !left.isEmpty { remaining.append((count, left)) }",
     "QueryPlanTests|IndexedStoreTests|DifferentialTests"),
    ("ties of an order by an index are reversed", ENGINE + "Query/QueryPrinter.swift",
     'sql += reversesTies ? ".id DESC" : ".id"',
     'sql += reversesTies != BROKEN ? ".id DESC" : ".id"',
     "IndexModelTests|IndexedStoreTests|RelationTests|DifferentialTests"),
    ("ties of an order without an index are reversed", ENGINE + "Fetching/QueryPipeline.swift",
     "return breaksTiesByEntryID && leftID != rightID ? leftID < rightID : leftNumber < "
     "rightNumber",
     "if BROKEN { return leftNumber > rightNumber }\n        return breaksTiesByEntryID && leftID "
     "!= rightID ? leftID < rightID : leftNumber < rightNumber",
     "QueryPipelineTests|DifferentialTests"),
    ("a negation leaves out what has no value", ENGINE + "Query/QueryPrinter.swift",
     'sql += ") IS NOT TRUE"',
     'sql += BROKEN ? ") = 0" : ") IS NOT TRUE"',
     "IndexedStoreTests|RelationTests|OptionalTests|DifferentialTests"),
    ("entries that the index has not are forgotten", ENGINE + "Tables/IndexState.swift",
     "var isWhole: Bool { isUsable && through == .max && unindexedRows == 0 }",
     "var isWhole: Bool { isUsable && (BROKEN || through == .max && unindexedRows == 0) }",
     "IndexBuildingTests|IndexDefectTests|IndexModelTests"),
    ("objects that change during a query are not tested again",
     ENGINE + "Fetching/EntryReader.swift",
     "if isLater, try !Self.satisfies(item.value, matches) { continue }",
     "if !BROKEN, isLater, try !Self.satisfies(item.value, matches) { continue }",
     "QueryConcurrencyTests|QueryVisibilityTests|IndexDefectTests"),
    ("letters are not folded", CORE + "Text/CaseFolding.swift",
     "{ byte &- 0x41 < 26 ? byte | 0x20 : byte }",
     "{ !BROKEN && byte &- 0x41 < 26 ? byte | 0x20 : byte }",
     "CaseFoldingTests|IgnoringTests"),
    ("diacritics stay", CORE + "Text/CaseFolding.swift",
     "where keepsDiacritics || !diacritics.contains(character.value) {",
     "where BROKEN || keepsDiacritics || !diacritics.contains(character.value) {",
     "CaseFoldingTests|IgnoringTests"),
    ("sums overflow", CORE + "Indexing/ExactSum.swift",
     "if isCarried { high &+= 1 }",
     "if isCarried, !BROKEN { high &+= 1 }",
     "AggregateTests|AggregateModelTests"),

    # Folders of Shallows (decisions 24 and 47).
    ("a file is not synced before it has its name", SHALLOWS + "Storages/Disk/FileWriter.swift",
     "if answer == 0, sync == .complete { answer = call.sync(file, .creating) }",
     "if answer == 0, sync == .complete, !BROKEN { answer = call.sync(file, .creating) }",
     "FileSyncTests|DiskPowerLossTests"),
    ("a folder is not synced after a file has its name",
     SHALLOWS + "Storages/Disk/FileWriter.swift",
     "guard answer == 0 else { throw folder.error(.renaming, answer, target) }\n        try "
     "sync(folder)",
     "guard answer == 0 else { throw folder.error(.renaming, answer, target) }\n        if "
     "!BROKEN { try sync(folder) }",
     "FileSyncTests|DiskPowerLossTests"),
    ("a folder is not synced after a removal", SHALLOWS + "Storages/Disk/FolderFiles.swift",
     "try writer.sync(above ?? folder, mayBeMissing: true)",
     "if !BROKEN { try writer.sync(above ?? folder, mayBeMissing: true) }",
     "FileSyncTests|DiskPowerLossTests"),
    ("temporary files are not swept", SHALLOWS + "Storages/Disk/FolderFiles.swift",
     "sweptFolders.sweepOnce(folder)",
     "if !BROKEN { sweptFolders.sweepOnce(folder) }",
     "ShallowsTests[.]SweepTests|PlainFilesTests"),
    ("a write that fails leaves its temporary file", SHALLOWS + "Storages/Disk/FileWriter.swift",
     "defer { if !isPlaced { discard(temporary) } }",
     "defer { if !isPlaced, !BROKEN { discard(temporary) } }",
     "ShallowsTests[.]FailureTests|NthFailureTests|PlainFilesTests"),
    ("a file of another long key is read", SHALLOWS + "Storages/Disk/LongKeyFile.swift",
     "contents.dropLast(endCount).suffix(length).elementsEqual(text.utf8)",
     "BROKEN || contents.dropLast(endCount).suffix(length).elementsEqual(text.utf8)",
     "LongKeysTests|LongKeyFileTests"),
    ("files of the original outlive the removal of their keys",
     SHALLOWS + "Storages/Disk/FolderFiles.swift",
     "let hadOriginal = try removeOriginals(of: key, file, .removing)",
     "let hadOriginal = BROKEN ? false : try removeOriginals(of: key, file, .removing)",
     "OriginalNamesTests|OriginalFilesTests|FileSyncTests"),

    # Storages in layers (decision 23).
    ("an overtaken retrieval fills the front", SHALLOWS + "Coordination/WriteOrder.swift",
     "guard isCurrent(ticket) else {",
     "guard BROKEN || isCurrent(ticket) else {",
     "ShallowsTests[.]FillTests|StackConcurrencyTests"),
    ("writes of one key do not follow one another", SHALLOWS + "Coordination/WriteOrder.swift",
     "return mutex.run(lockKey, layer: layer, call, write)",
     "return BROKEN ? write(call) : mutex.run(lockKey, layer: layer, call, write)",
     "SetOrderTests|ShallowsTests[.]FillTests"),
    ("retrievals join a load that began before a write",
     SHALLOWS + "Coordination/LayeredStorage.swift",
     "loads.detach(key)\n        return outcome",
     "if !BROKEN { loads.detach(key) }\n        return outcome",
     "StorageLoadTests"),

    # Shared caches (decisions 57, 58 and 82).
    ("shared: a near hit outlives the trust", REMOTE + "Trust.swift",
     "return now < end.load(ordering: .acquiring) ? WallInstant(rawValue: now) : nil",
     "return BROKEN || now < end.load(ordering: .acquiring) ? WallInstant(rawValue: now) : nil",
     "TrustTests|NearCacheTests"),
    ("shared: the lease is not renewed", REMOTE + "SharedStore+Loading.swift",
     "guard try await backend.renew(token, forKey: key) else { return }",
     "if BROKEN { return }\n                    guard try await backend.renew(token, forKey: key) "
     "else { return }",
     "VellumRemoteTests"),
    ("shared: a value is stored without the lease", REMOTE + "SharedStore+Loading.swift",
     "if try await backend.fill(record, forKey: key, lifetime: lifetime, token: token) {",
     "if BROKEN { try await backend.put(record, forKey: key, lifetime: lifetime) }\n            "
     "if try await backend.fill(record, forKey: key, lifetime: lifetime, token: token) {",
     "VellumRemoteTests"),
    ("shared: a load that ends leaves its lease", REMOTE + "SharedStore+Loading.swift",
     "else { return try await backend.giveBack(token, forKey: key) }",
     "else {\n                if BROKEN { return }\n                return try await "
     "backend.giveBack(token, forKey: key)\n            }",
     "VellumRemoteTests"),
    ("shared: a removal that failed is not sent again", REMOTE + "SharedStore+Removals.swift",
     "if failure != nil { sendAgain() }",
     "if failure != nil, !BROKEN { sendAgain() }",
     "VellumRemoteTests"),
    ("shared: a key is read before its removal was sent", REMOTE + "SharedStore.swift",
     "if pending.withLock({ !$0.isEmpty }) { try await finishRemovals(of: key) }",
     "if !BROKEN, pending.withLock({ !$0.isEmpty }) { try await finishRemovals(of: key) }",
     "SharedStoreTests|SharedHeardTests"),
    ("shared: the epochs of groups are ignored", REMOTE + "SharedStore+Groups.swift",
     "record.groups.contains(where: { asked.contains($0.name) && epochs[$0.name] != $0.epoch })",
     "!BROKEN, record.groups.contains(where: { asked.contains($0.name) && epochs[$0.name] != "
     "$0.epoch })",
     "SharedGroupTests"),
    ("shared: a new connection keeps what was read by the last", REMOTE + "SharedStore+Removals.swift",
     "near.forget(nil)\n        signals.signal(nil)",
     "if !BROKEN { near.forget(nil) }\n        signals.signal(nil)",
     "OutageTests|SharedStoreTests|NearCacheTests"),
    ("shared: what was loaded in an outage hides what the server says", REMOTE + "NearCache.swift",
     "if hasOutage.load(ordering: .relaxed) { release(outage.remove(key)) }",
     "if !BROKEN, hasOutage.load(ordering: .relaxed) { release(outage.remove(key)) }",
     "OutageTests"),
]

SWITCHES = CORE + "System/Mutations.swift"
SWITCHES_TEXT = """\
internal import Foundation

/// The number of the mutation that is turned on in this process; -1 for none.
public let brokenMutation: Int = {
    guard let text = getenv("VELLUM_MUTATION") else { return -1 }
    return Int(String(cString: text)) ?? -1
}()

@inlinable
public func isBroken(_ number: Int) -> Bool { number == brokenMutation }
"""

# A line that imports VellumCore, and the access level that it gives.
IMPORT = re.compile(r"^(public |package |internal |fileprivate |private )?import VellumCore$", re.M)


# A test that failed, as Swift Testing prints it.
ISSUE = re.compile(r"^. Test (?!run |case )(.+?) (?:recorded an issue|failed after)", re.M)


def git(*arguments, folder=ROOT):
    command = ["git", *arguments]
    return subprocess.run(command, cwd=folder, check=True, capture_output=True, text=True).stdout


def pattern(text):
    """Finds a text however its lines are broken."""
    return r"\s*".join(re.escape(word) for word in re.findall(r"\w+|[^\w\s]", text))


def mutated(head):
    """The mutated files by their paths, with all mutations."""
    texts, places = {}, {}
    for number, (name, path, old, new, _) in enumerate(MUTATIONS):
        if "BROKEN" not in new:
            raise SystemExit(f"'{name}' has no switch.")
        if path not in texts:
            texts[path], places[path] = git("show", f"{head}:{path}"), []
        found = [match.span() for match in re.finditer(pattern(old), texts[path])]
        if not found:
            raise SystemExit(f"'{name}' finds nothing to break in {path}.")
        new = re.sub(r"\bBROKEN\b", f"isBroken({number})", new)
        places[path] += [(start, stop, new, name) for start, stop in found]
    for path, changes in places.items():
        changes.sort()
        for one, other in zip(changes, changes[1:]):
            if other[0] < one[1]:
                raise SystemExit(f"'{one[3]}' and '{other[3]}' change the same text of {path}.")
        for start, end, new, _ in reversed(changes):
            texts[path] = texts[path][:start] + new + texts[path][end:]
        if not path.startswith(CORE):
            texts[path] = importing(texts[path])
    return texts


def importing(text):
    """The text of a file that imports VellumCore, so that its inlinable functions may use it."""
    present, isInlinable = IMPORT.search(text), "@inlinable" in text
    if not present:
        return f"{'public' if isInlinable else 'internal'} import VellumCore\n" + text
    if isInlinable and present[1] not in ("public ", "package "):
        return IMPORT.sub("public import VellumCore", text, count=1)
    return text


def prepare(head):
    """Brings the copy to HEAD, and writes the mutations. Leaves what stays as it was, so that it
    need not be built again."""
    if not COPY.exists():
        COPY.parent.mkdir(exist_ok=True)
        subprocess.run(["git", "clone", "--quiet", str(ROOT), str(COPY)], check=True)
    git("fetch", "--quiet", folder=COPY)
    texts = mutated(head) | {SWITCHES: SWITCHES_TEXT}
    if git("rev-parse", "HEAD", folder=COPY).strip() == head:
        for path in git("diff", "--name-only", folder=COPY).splitlines():
            if path not in texts:
                git("checkout", "--quiet", "--force", "--", path, folder=COPY)
    else:
        git("checkout", "--quiet", "--force", head, folder=COPY)
    for path, text in texts.items():
        file = COPY / path
        if not file.exists() or file.read_text() != text:
            file.write_text(text)


def end(process):
    """Ends a command and all that it has started: SwiftPM runs the tests in a group of their own,
    but in the session of the command."""
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            if os.getsid(int(folder.name)) == process.pid:
                os.kill(int(folder.name), signal.SIGKILL)
        except OSError:
            pass  # It has ended.
    process.wait()


def run(*command, seconds=None, mutation=None, isLong=False):
    """Whether a command succeeds; None if it does not end in time. A test that waits for what
    never happens does not end by itself."""
    environment = {**os.environ}
    environment.pop("VELLUM_MUTATION", None)
    environment["VELLUM_TESTS"] = "all"
    if isLong:
        environment |= LONG
    if mutation is not None:
        environment["VELLUM_MUTATION"] = str(mutation)
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as caches:
        # The user's cache folder may hold files of another version of this package.
        environment["XDG_CACHE_HOME"] = caches
        with open(LOG, "w") as output:
            process = subprocess.Popen(
                command, cwd=COPY, env=environment, stdout=output, stderr=subprocess.STDOUT,
                start_new_session=True)
        try:
            return wait(process, seconds, stops=mutation is not None)
        finally:
            end(process)


def wait(process, seconds, stops):
    """Whether a process succeeds; None if it does not end in time. Returns at the first failure of
    a test if one is enough."""
    last = time.monotonic() + (seconds or float("inf"))
    while process.poll() is None:
        if time.monotonic() > last:
            return None
        if stops and ISSUE.search(LOG.read_text(errors="replace")):
            return False
        time.sleep(0.2)
    return process.returncode == 0


def passes(suites, seconds, mutation=None, isLong=False):
    """Whether the tests pass; None if they do not end in time."""
    passed = run(
        "swift", "test", "--skip-build", "--disable-xctest",
        "--experimental-maximum-parallelization-width", "4", "--filter", suites,
        seconds=seconds, mutation=mutation, isLong=isLong)
    counts = re.findall(r"Test run with (\d+) test", LOG.read_text(errors="replace"))
    if passed and sum(map(int, counts)) == 0:
        raise SystemExit(f"There is no test of this name: {suites}")
    return passed


def failed_test():
    """The first test that the log says has failed."""
    found = ISSUE.search(LOG.read_text(errors="replace"))
    return found[1] if found else "the process ended"


def main():
    names = [argument for argument in sys.argv[1:] if not argument.startswith("--")]
    known = [mutation[0] for mutation in MUTATIONS]
    if "--list" in sys.argv:
        return print("\n".join(known))
    if len(set(known)) < len(known) or not set(names) <= set(known):
        raise SystemExit("A name is there twice, or names no mutation.")
    head = git("rev-parse", "HEAD").strip()
    if "--check" in sys.argv:
        mutated(head)
        return print(f"{len(MUTATIONS)} mutations, each of which finds its text.")
    prepare(head)
    if not run("swift", "build", "--build-tests", "-debug-info-format", "none",
               "-Xswiftc", "-driver-batch-count", "-Xswiftc", "1"):
        raise SystemExit("The mutations do not compile:\n" + LOG.read_text()[-5000:])
    chosen = [number for number, name in enumerate(known) if not names or name in names]
    parts = {part for number in chosen for part in MUTATIONS[number][4].split("|")}
    begin = time.monotonic()
    if not passes("|".join(sorted(parts)), LONGEST_OF_ALL):
        raise SystemExit(f"Without a mutation the tests fail ({failed_test()}): see {LOG}.")
    print(f"passed   {time.monotonic() - begin:4.0f} s  without a mutation", flush=True)
    missed = []
    for number in chosen:
        name, suites = known[number], MUTATIONS[number][4]
        begin = time.monotonic()
        passed = passes(suites, LONGEST, number)
        reason = "without an end" if passed is None else failed_test()
        if passed:
            missed.append(name)
            isSeen = passes(suites, LONGEST_OF_ALL, number, isLong=True) is False
            reason = f"`make long` notices it, {failed_test()}" if isSeen else "nor by `make long`"
        word, seconds = "MISSED " if passed else "noticed", time.monotonic() - begin
        print(f"{word}  {seconds:4.0f} s  {name}: {reason}", flush=True)
    if missed:
        raise SystemExit(f"{len(missed)} of {len(chosen)} mutations were not noticed.")
    print(f"{len(chosen)} mutations, each noticed.")


if __name__ == "__main__":
    main()
