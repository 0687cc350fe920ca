public import Foundation

/// What is known of an entry without reading it.
public struct EntryMetadata: Hashable, Sendable {
    /// Encoded bytes.
    public let size: DataSize
    /// When it was recorded.
    public let written: Date
    /// When it was last recorded or accessed, to a few milliseconds.
    public let lastUsed: Date
    /// When it expires, if ever.
    public let expires: Date?

    package init(size: DataSize, written: WallInstant, lastUse: UseStamp, expires end: WallInstant) {
        self.size = size
        self.written = written.date
        self.lastUsed = lastUse.instant.date
        self.expires = end == .never ? nil : end.date
    }
}
