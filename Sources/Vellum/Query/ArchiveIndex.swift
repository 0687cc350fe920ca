public import VellumCore
internal import VellumEngine

/// One index of an archive.
///
/// ```swift
/// static var archiveIndexes: [ArchiveIndex<User>] {
///     [.index(\.age), .index(\.country, \.elevation), .each(\.tags)]
/// }
/// ```
///
/// Of a computed property, and of a property of a class that is not final, Swift tells no name: it is known by its type.
/// Name it where the same type may be indexed by another such property later.
public struct ArchiveIndex<Root> {
    private enum Content {
        case properties([any IndexedProperty<Root>], name: String?)
        case elements(any IndexedElements<Root>, name: String?)
    }

    private let content: Content

    // MARK: One property

    /// An index over one property.
    public static func index<Property: IndexableValue>(_ property: KeyPath<Root, Property>, named name: String? = nil) -> Self {
        Self(.properties([PlainProperty(property)], name: name))
    }

    /// An index over one property that has a raw value, by that.
    ///
    /// Two values must be equal exactly when their raw values are, as those of an `enum` are.
    @_disfavoredOverload
    public static func index<Property: RawRepresentable>(
        _ property: KeyPath<Root, Property>, named name: String? = nil
    ) -> Self where Property.RawValue: IndexableScalar {
        Self(.properties([DerivedProperty(property) { $0.rawValue }], name: name))
    }

    /// An index over one optional property that has a raw value, by that.
    @_disfavoredOverload
    public static func index<Property: RawRepresentable>(
        _ property: KeyPath<Root, Property?>, named name: String? = nil
    ) -> Self where Property.RawValue: IndexableScalar {
        Self(.properties([DerivedProperty(property) { $0?.rawValue }], name: name))
    }

    // MARK: Several properties

    /// An index over several properties, most significant first.
    public static func index<First: IndexableValue, Second: IndexableValue, each Other: IndexableValue>(
        _ first: KeyPath<Root, First>, _ second: KeyPath<Root, Second>, _ others: repeat KeyPath<Root, each Other>
    ) -> Self {
        var properties: [any IndexedProperty<Root>] = [PlainProperty(first), PlainProperty(second)]
        repeat properties.append(PlainProperty(each others))
        return Self(.properties(properties, name: nil))
    }

    // MARK: Elements

    /// An index with an entry for each element of a collection.
    public static func each<Elements: Collection>(
        _ property: KeyPath<Root, Elements>, named name: String? = nil
    ) -> Self where Elements.Element: IndexableValue {
        Self(.elements(PropertyElements(property) { Array($0) }, name: name))
    }

    /// An index with an entry for each element of an optional collection.
    public static func each<Elements: Collection>(
        _ property: KeyPath<Root, Elements?>, named name: String? = nil
    ) -> Self where Elements.Element: IndexableValue {
        Self(.elements(PropertyElements(property) { $0.map { Array($0) } ?? [] }, name: name))
    }

    /// An index with an entry for each element of a collection of values that have a raw value, by that.
    @_disfavoredOverload
    public static func each<Elements: Collection>(
        _ property: KeyPath<Root, Elements>, named name: String? = nil
    ) -> Self where Elements.Element: RawRepresentable, Elements.Element.RawValue: IndexableScalar {
        Self(.elements(PropertyElements(property) { $0.map { $0.rawValue } }, name: name))
    }

    /// An index with an entry for each element of an optional collection of values that have a raw value, by that.
    @_disfavoredOverload
    public static func each<Elements: Collection>(
        _ property: KeyPath<Root, Elements?>, named name: String? = nil
    ) -> Self where Elements.Element: RawRepresentable, Elements.Element.RawValue: IndexableScalar {
        Self(.elements(PropertyElements(property) { $0.map { $0.map { $0.rawValue } } ?? [] }, name: name))
    }

    // MARK: Adding to a catalog

    private init(_ content: Content) { self.content = content }

    /// Adds the index to those of an archive of the root's kind.
    func add<Archive>(to catalog: inout IndexCatalog<Archive>) {
        switch content {
        case .properties(let properties, let name):
            let columns = properties.map { property in
                let name = PropertyName.of(property.path, Root.self, name).unique(among: catalog.shape.columns.map(\.name))
                return property.addColumn(to: &catalog, name: name)
            }
            catalog.addIndex(columns)
        case .elements(let elements, let name):
            let name = PropertyName.of(elements.path, Root.self, name).unique(among: catalog.shape.collections.map(\.name))
            elements.addCollection(to: &catalog, name: name)
        }
    }
}

// Unchecked because what it reads is protected by being never changed: it holds key paths, and closures over these and
// conformances alone.
extension ArchiveIndex: @unchecked Sendable {}
