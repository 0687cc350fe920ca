/// How far the files of a type that version 1 of Vellum wrote were taken over into its archive.
public struct TakeOver: Hashable, Sendable {
    /// The name of the archive.
    public var archive: String
    /// How many files there are.
    public var total: Int
    /// How many of them were examined.
    public var examined = 0
    /// How many of them are in the archive now. Includes those of which it had a newer object.
    public var recorded = 0
    /// How many of them the type cannot decode. They stay where they are.
    public var undecodable = 0
    /// How many of them cannot be read now. They are tried again at the next opening.
    public var unread = 0
    /// How many of them have no room under a disk limit that was set: those used least recently. Their files are kept with the others.
    public var withoutRoom = 0
    /// Whether all of them were examined.
    public var isComplete = false

    /// Creates the beginning of a take-over.
    public init(archive: String, total: Int) {
        self.archive = archive
        self.total = total
    }
}

extension TakeOver: CustomStringConvertible {
    /// The counts, without a key.
    public var description: String {
        "took over \(recorded) of \(total)"
            + (undecodable > 0 ? ", \(undecodable) cannot be decoded" : "") + (unread > 0 ? ", \(unread) cannot be read" : "")
            + (withoutRoom > 0 ? ", \(withoutRoom) have no room" : "")
    }
}
