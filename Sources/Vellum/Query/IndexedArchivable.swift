internal import VellumCore
internal import VellumEngine

// Decision 69.

/// An object whose archive has indexes, so that queries need not decode every object.
///
/// ```swift
/// extension User: IndexedArchivable {
///     static var archiveIndexes: [ArchiveIndex<User>] {
///         [
///             .index(\.age), .index(\.country, \.elevation),
///             .index(\.address.city), .each(\.tags),
///         ]
///     }
/// }
/// ```
///
/// An index makes a query faster and never changes its result, if the values of indexed properties
/// depend on what is encoded alone. The list is read once, when the archive is opened. If it has
/// changed, the indexes are built in the background from the recorded objects
/// (``ArchiveStore/indexProgress()``).
///
/// An indexed property has a type that conforms to ``IndexableValue``, or an `enum` or another type
/// with such a raw value, or an optional of these; so has an element of an indexed collection. The
/// log names indexes that no query can use: those of a property that is neither `Equatable` nor
/// optional, and those of a superclass.
///
/// - Important: An indexed property must have the same value whenever the encoded object is
///   decoded. A property that is not encoded, or encoded with less precision, or computed from the
///   time, the time zone or the locale, is found by the value that it had when the object was
///   recorded.
/// - Note: An index takes space in the file that the limits do not count, and makes recording
///   slower. For conditions on several properties, an index of all of them is fastest, with the
///   properties that are compared for equality first.
public protocol IndexedArchivable: Archivable {
    /// The type whose properties are indexed: the conforming type, or the class that declares the
    /// properties. Key paths of a subclass differ from those of its parent, so queries of a
    /// subclass's own archive use no index.
    associatedtype IndexRoot = Self

    /// The indexes of the archive. Write its type, `[ArchiveIndex<User>]`: without it Swift cannot
    /// know of which type a key path is.
    static var archiveIndexes: [ArchiveIndex<IndexRoot>] { get }
}

/// Returns the indexes of the type, or `nil` if it declares none.
///
/// - Throws: ``VellumError/Code/invalidIndex`` if a property cannot be indexed.
func indexCatalog<Archive: Archivable>(
    of type: Archive.Type
) throws(VellumError) -> IndexCatalog<Archive>? {
    guard let declarer = type as? any IndexedArchivable.Type else { return nil }
    let catalog = try indexCatalog(of: type, declaredBy: declarer)
    return catalog.isEmpty ? nil : catalog
}

private func indexCatalog<Archive, Declarer: IndexedArchivable>(
    of type: Archive.Type,
    declaredBy declarer: Declarer.Type
) throws(VellumError) -> IndexCatalog<Archive> {
    var catalog = IndexCatalog<Archive>()
    // Ignore indexes of a type that is neither this one nor a superclass.
    guard type is Declarer.IndexRoot.Type else { return catalog }
    for index in declarer.archiveIndexes { try index.add(to: &catalog) }
    return catalog
}
