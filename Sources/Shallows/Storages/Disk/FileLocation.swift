/// Where in a folder the value of a key lies.
enum FileLocation: Equatable, Sendable {
    /// In a file of its own: a name, or, for files of earlier versions, a path inside the folder.
    case named(String)
    /// In one of the files whose names are a digest of this text, which is too long for a name. The file holds the text, too.
    case hashed(String)

    /// Locations are compared by bytes, as file systems compare names, and not by canonical equivalence.
    static func == (left: FileLocation, right: FileLocation) -> Bool {
        switch (left, right) {
        case (.named(let left), .named(let right)), (.hashed(let left), .hashed(let right)): left.hasSameBytes(as: right)
        default: false
        }
    }
}

extension String {
    /// - Complexity: O(length).
    var isASCII: Bool { utf8.allSatisfy { $0 < 0x80 } }

    /// - Complexity: O(length).
    func hasSameBytes(as other: String) -> Bool { utf8.elementsEqual(other.utf8) }
}
