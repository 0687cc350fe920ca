/// Where in a folder the value of a key lies.
enum FilePlace: Equatable, Sendable {
    /// In a file that is there for this key alone: a name, or, for files of earlier versions, a path inside the folder.
    case named(String)
    /// In one of the files whose names are a digest of this text, which is too long for a name. The file holds the text, too.
    case hashed(String)

    /// Places are compared by bytes, as file systems do, and not by canonical equivalence.
    static func == (left: FilePlace, right: FilePlace) -> Bool {
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
