internal import Foundation
internal import VellumCore
internal import VellumEngine

/// Reads what programs announce on the change page of a file, without being one of them: it maps
/// the page for reading alone.
package struct ChangeReader: ~Copyable {
    private let path: String
    private var page: ChangePage?
    private var identity: FileIdentity?
    private var last: UInt64 = 0

    /// - Parameter database: The path of the database.
    package init(besides database: String) {
        path = database + ChangesFile.suffix
        follow()
    }

    deinit { if let page { munmap(page.start, ChangePage.size) } }

    /// Returns what changed since the last call, of those archives of which something did.
    ///
    /// - Parameter archives: The numbers of the archives, for which is asked if anything changed.
    mutating func next(
        of archives: () throws(VellumError) -> [Int64]
    ) throws(VellumError) -> [(
        archive: Int64, keys: ChangedKeys
    )] {
        let wasReplaced = follow()
        guard let page else { return [] }
        let before = last
        let now = page.now.finished
        guard page.isIntact, now != before || wasReplaced else { return [] }
        last = now
        // Nobody knows what was on another page.
        guard !wasReplaced, before <= now else { return [] }
        return try archives().map {
            ($0, page.changes(of: $0, numberedAfter: before, through: now))
        }.filter { !$0.1.isEmpty }
    }

    /// Maps the page that is at the path now.
    ///
    /// - Returns: Whether it is another one than before.
    @discardableResult
    private mutating func follow() -> Bool {
        let present = FileIdentity(path: path)
        guard present != identity || page == nil else { return false }
        if let page { munmap(page.start, ChangePage.size) }
        page = nil
        identity = nil
        let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)
        guard descriptor >= 0 else { return false }
        defer { close(descriptor) }
        var status = stat()
        guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG,
            status.st_size >= ChangePage.size,
            let start = mmap(nil, ChangePage.size, PROT_READ, MAP_SHARED, descriptor, 0),
            start != MAP_FAILED
        else { return false }
        let mapped = ChangePage(start)
        page = mapped
        identity = present
        last = mapped.now.finished
        return true
    }
}
