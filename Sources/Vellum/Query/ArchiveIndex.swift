public import VellumCore
internal import VellumEngine

/// An index of an archive.
///
/// ```swift
/// static var archiveIndexes: [ArchiveIndex<User>] {
///     [.index(\.age), .index(\.country, \.elevation), .each(\.tags)]
/// }
/// ```
///
/// A computed property may be indexed if it depends on encoded properties alone, not on the time or
/// the time zone.
///
/// Swift has no name for a computed property, or for a property of a class that is not final; such
/// a property is identified by its type. Give it a name if the index may later be replaced by one
/// of another such property of the same type. An index of a string `ignoring:` case or diacritics
/// has one.
public struct ArchiveIndex<Root> {
    private enum Content {
        case properties([any IndexedProperty<Root>], name: String?)
        case elements(any IndexedElements<Root>, name: String?)
        /// The type of a property cannot be indexed.
        case unindexable(AnyKeyPath)
    }

    private let content: Content

    // MARK: One property

    /// Returns an index of one property.
    ///
    /// - Parameters:
    ///   - property: The property.
    ///   - name: The name of the property in the file; `nil` for the name in the source.
    public static func index<Property: IndexableValue>(
        _ property: KeyPath<Root, Property>,
        named name: String? = nil
    ) -> Self {
        Self(.properties([PlainProperty(keyPath: property)], name: name))
    }

    /// Returns an index of the raw value of one property.
    ///
    /// Two values must be equal exactly if their raw values are equal, as for an `enum`.
    ///
    /// - Parameters:
    ///   - property: The property.
    ///   - name: The name of the property in the file; `nil` for the name in the source.
    @_disfavoredOverload
    public static func index<Property: RawRepresentable>(
        _ property: KeyPath<Root, Property>,
        named name: String? = nil
    ) -> Self where Property.RawValue: IndexableScalar {
        Self(.properties([DerivedProperty(keyPath: property) { $0.rawValue }], name: name))
    }

    /// Returns an index of the raw value of one optional property.
    ///
    /// Two values must be equal exactly if their raw values are equal, as for an `enum`.
    ///
    /// - Parameters:
    ///   - property: The property.
    ///   - name: The name of the property in the file; `nil` for the name in the source.
    @_disfavoredOverload
    public static func index<Property: RawRepresentable>(
        _ property: KeyPath<Root, Property?>,
        named name: String? = nil
    ) -> Self where Property.RawValue: IndexableScalar {
        Self(.properties([DerivedProperty(keyPath: property) { $0?.rawValue }], name: name))
    }

    // MARK: Several properties

    /// Returns an index of several properties, most significant first.
    ///
    /// Each property is one that an index of one property may have. Of any other, an archive does
    /// not open (``VellumError/Code/invalidIndex``).
    public static func index<First, Second, each Other>(
        _ first: KeyPath<Root, First>,
        _ second: KeyPath<Root, Second>,
        _ others: repeat KeyPath<Root, each Other>
    ) -> Self {
        var paths: [AnyKeyPath] = []
        var properties: [any IndexedProperty<Root>] = []
        func add<Property>(_ path: KeyPath<Root, Property>) {
            paths.append(path)
            if let property = indexedProperty(path) { properties.append(property) }
        }
        add(first)
        add(second)
        repeat add(each others)
        let unindexable = paths.first { path in !properties.contains { $0.path == path } }
        return Self(unindexable.map(Content.unindexable) ?? .properties(properties, name: nil))
    }

    // MARK: Elements

    /// Returns an index with an entry for each element of a collection.
    ///
    /// - Parameters:
    ///   - property: The collection.
    ///   - name: The name of the property in the file; `nil` for the name in the source.
    public static func each<Elements: Collection>(
        _ property: KeyPath<Root, Elements>,
        named name: String? = nil
    ) -> Self where Elements.Element: IndexableValue {
        Self(.elements(PropertyElements(keyPath: property) { Array($0) }, name: name))
    }

    /// Returns an index with an entry for each element of an optional collection.
    ///
    /// - Parameters:
    ///   - property: The collection.
    ///   - name: The name of the property in the file; `nil` for the name in the source.
    public static func each<Elements: Collection>(
        _ property: KeyPath<Root, Elements?>,
        named name: String? = nil
    ) -> Self where Elements.Element: IndexableValue {
        Self(
            .elements(
                PropertyElements(keyPath: property) { $0.map { Array($0) } ?? [] },
                name: name
            )
        )
    }

    /// Returns an index with an entry for the raw value of each element of a collection.
    ///
    /// - Parameters:
    ///   - property: The collection.
    ///   - name: The name of the property in the file; `nil` for the name in the source.
    @_disfavoredOverload
    public static func each<Elements: Collection>(
        _ property: KeyPath<Root, Elements>,
        named name: String? = nil
    ) -> Self where Elements.Element: RawRepresentable, Elements.Element.RawValue: IndexableScalar {
        Self(
            .elements(PropertyElements(keyPath: property) { $0.map { $0.rawValue } }, name: name)
        )
    }

    /// Returns an index with an entry for the raw value of each element of an optional collection.
    ///
    /// - Parameters:
    ///   - property: The collection.
    ///   - name: The name of the property in the file; `nil` for the name in the source.
    @_disfavoredOverload
    public static func each<Elements: Collection>(
        _ property: KeyPath<Root, Elements?>,
        named name: String? = nil
    ) -> Self where Elements.Element: RawRepresentable, Elements.Element.RawValue: IndexableScalar {
        Self(
            .elements(
                PropertyElements(keyPath: property) { $0.map { $0.map { $0.rawValue } } ?? [] },
                name: name
            )
        )
    }

    // MARK: Adding to a catalog

    private init(_ content: Content) { self.content = content }

    /// The key paths of its properties.
    var paths: [AnyKeyPath] {
        switch content {
        case .properties(let properties, _): properties.map(\.path)
        case .elements(let elements, _): [elements.path]
        case .unindexable(let path): [path]
        }
    }

    /// Adds the index to the catalog of an archive whose objects are of the root type or a subclass
    /// of it.
    func add<Archive>(to catalog: inout IndexCatalog<Archive>) throws(VellumError) {
        switch content {
        case .properties(let properties, let name):
            let columns = properties.map { property in
                let name = PropertyName.of(property.path, Root.self, name).unique(
                    among: catalog.shape.columns.map(\.name)
                )
                return property.addColumn(to: &catalog, name: name)
            }
            catalog.addIndex(columns)
            if !isUsable(in: Archive.self) {
                catalog.unusable.append(
                    columns.map { catalog.shape.columns[$0].name }.joined(separator: ", ")
                )
            }
        case .elements(let elements, let name):
            let name = PropertyName.of(elements.path, Root.self, name).unique(
                among: catalog.shape.collections.map(\.name)
            )
            elements.addCollection(to: &catalog, name: name)
            if !isUsable(in: Archive.self) { catalog.unusable.append(name) }
        case .unindexable(let path):
            let property = PropertyName.of(path, Root.self, nil).text
            throw VellumError(
                .invalidIndex,
                """
                An index of several properties has '\(property)', whose type \
                \(type(of: path).valueType) cannot be indexed. Index properties whose type \
                conforms to IndexableValue or has such a raw value, or optionals of them, and the \
                elements of a list by an index of its own, .each(…).
                """
            )
        }
    }

    /// Whether any query of the archive can use the index: the key paths of a subclass are not
    /// those of its class, and each condition requires that the type is `Equatable`, except for
    /// `nil`.
    private func isUsable<Archive>(in type: Archive.Type) -> Bool {
        func elementType<Elements: Sequence>(_ type: Elements.Type) -> Any.Type {
            Elements.Element.self
        }
        guard Root.self == Archive.self else { return false }
        return paths.contains { path in
            var type = Swift.type(of: path).valueType
            if case .elements = content {
                type = (type as? any AnyOptional.Type)?.wrapped ?? type
                type = (type as? any Sequence.Type).map { elementType($0) } ?? type
            } else if type is any AnyOptional.Type {
                return true
            }
            return type is any Equatable.Type
        }
    }
}

// Unchecked because the contents are protected by being immutable: key paths, and closures that
// capture only these.
extension ArchiveIndex: @unchecked Sendable {}
