/// The text keys that lead to a value in nested maps. As bytes, because one path is looked up in many maps.
package struct CBORFieldPath: Sendable {
    /// In UTF-8.
    let keys: [[UInt8]]

    package init(_ keys: [String]) { self.keys = keys.map { Array($0.utf8) } }
}
