internal import VellumCore
internal import VellumEngine

/// An object whose archive keeps indexes, so that queries need not decode every object.
///
/// ```swift
/// extension User: IndexedArchivable {
///     static var archiveIndexes: [ArchiveIndex<User>] {
///         [.index(\.age), .index(\.country, \.elevation), .index(\.address.city), .each(\.tags)]
///     }
/// }
/// ```
///
/// An index changes how fast a query is, never what it answers. The list is read once, when the archive is opened; if it changed,
/// indexes are built from what is recorded, while the archive is used (``ArchiveStore/indexProgress()``).
///
/// - Important: An indexed property must come back from the data as it went in. One that is not encoded, or that is encoded less
///   exactly than it is, is indexed as it was recorded, and found by that.
/// - Note: An index takes room in the file beside what the limits count, and each adds to the cost of recording. Of conditions on several
///   properties, an index over all of them is the fastest, the ones compared for equality first.
public protocol IndexedArchivable: Archivable {
    /// The type whose properties are indexed: this one, or the class that declares them for its subclasses. To Swift a subclass's
    /// property is another one than its parent's, so the queries of a subclass's own archive are answered by decoding.
    associatedtype IndexRoot = Self

    /// What is indexed.
    static var archiveIndexes: [ArchiveIndex<IndexRoot>] { get }
}

/// What is indexed of the type; nothing if it declares no index.
func indexCatalog<Archive: Archivable>(of type: Archive.Type) -> IndexCatalog<Archive>? {
    guard let declarer = type as? any IndexedArchivable.Type else { return nil }
    let catalog = indexCatalog(of: type, declaredBy: declarer)
    return catalog.isEmpty ? nil : catalog
}

private func indexCatalog<Archive, Declarer: IndexedArchivable>(
    of type: Archive.Type, declaredBy declarer: Declarer.Type
) -> IndexCatalog<Archive> {
    var catalog = IndexCatalog<Archive>()
    // A type may declare indexes of another one that it is no kind of.
    guard type is Declarer.IndexRoot.Type else { return catalog }
    for index in declarer.archiveIndexes { index.add(to: &catalog) }
    return catalog
}
