public import Foundation

/// The metadata of an entry: its size and dates.
public struct EntryMetadata: Hashable, Sendable {
    /// The size of the encoded value.
    public let size: DataSize
    /// When it was recorded.
    public let written: Date
    /// When it was last recorded or read, accurate to a few milliseconds.
    public let lastUsed: Date
    /// When it expires; `nil` if it never does.
    public let expires: Date?

    package init(size: DataSize, written: WallInstant, lastUse: UseStamp, expires end: WallInstant)
    {
        self.size = size
        self.written = written.date
        self.lastUsed = lastUse.instant.date
        self.expires = end == .never ? nil : end.date
    }
}
