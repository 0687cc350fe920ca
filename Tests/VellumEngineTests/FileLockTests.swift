import Foundation
import TestThreads
import Testing
import VellumCore
import VellumTestSupport

@testable import VellumEngine

/// Who holds the lock of a folder or file keeps others out, in this process and in others.
@Suite(.ownThreads)
struct FileLockTests {
    private let folder: TemporaryDirectory

    init() throws { folder = try TemporaryDirectory() }

    /// Whether somebody holds the lock of a folder or file.
    private static func isLocked(_ path: String) -> Bool {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        defer { close(descriptor) }
        guard flock(descriptor, LOCK_EX | LOCK_NB) != 0 else {
            // A child that is being started has the descriptor, too.
            flock(descriptor, LOCK_UN)
            return false
        }
        return errno == EWOULDBLOCK
    }

    @Test func aLockIsHeldWhileTheBodyRunsAndNoLonger() throws {
        let (path, file) = (folder.url.path, folder.file("lock").path)
        try FileLock.hold(folder: path) { #expect(Self.isLocked(path)) }
        #expect(!Self.isLocked(path))
        try FileLock.hold(folderOf: file) { #expect(Self.isLocked(path)) }
        #expect(!Self.isLocked(path))
        try FileLock.hold(file: file) { #expect(Self.isLocked(file)) }
        #expect(!Self.isLocked(file))
    }

    /// The clock is read first when a repair of a killed process is looked for.
    @Test func aFileIsOpenedUnderTheLockOfItsFolder() throws {
        let path = folder.url.path
        let wereLocked = Locked<[Bool]>([])
        let clock = WallClock(instants: {
            let isLocked = Self.isLocked(path)
            wereLocked.withLock { $0.append(isLocked) }
            return WallInstant(rawValue: 1_767_225_600_000)
        })
        let file = try DatabaseFile.open(at: folder.file("Archives.sqlite"), clock: clock)
        let wasLocked = wereLocked.withLock { $0.first }
        #expect(wasLocked == true)
        try file.close()
    }

    #if os(Linux)
        /// The locks of this process that it holds or waits for, as only Linux tells.
        private static var locks: [String] {
            guard let file = FileHandle(forReadingAtPath: "/proc/locks") else { return [] }
            let text = String(decoding: file.readDataToEndOfFile(), as: UTF8.self)
            return text.split(separator: "\n").map { String($0) }.filter {
                $0.contains(" FLOCK ") && $0.contains(" \(getpid()) ")
            }
        }

        @Test func theChangePageIsMappedByOneAtATime() async throws {
            let database = folder.file("Archives.sqlite").path
            let page = open(database + ChangesFile.suffix, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
            defer { close(page) }
            #expect(flock(page, LOCK_EX) == 0)
            guard !Self.locks.isEmpty else {
                flock(page, LOCK_UN)
                print("Skipped: the system does not show its locks.")
                return
            }
            let isMapped = Flag()
            let mapping = OnThread {
                Result<Void, any Error> {
                    _ = try ChangesFile(besides: database)
                    isMapped.set()
                }
            }
            await until("somebody waits for the lock, or does without it") {
                isMapped.isSet || Self.locks.contains { $0.contains("->") }
            }
            #expect(!isMapped.isSet)
            flock(page, LOCK_UN)
            try mapping.result().get()
            #expect(isMapped.isSet)
        }
    #endif
}
