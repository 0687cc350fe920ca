internal import VellumCore
internal import VellumEngine

/// A property of an index.
protocol IndexedProperty<Root> {
    associatedtype Root
    var path: AnyKeyPath { get }

    /// Adds a column for the property, unless there is one, and returns its number.
    func addColumn<Archive>(to catalog: inout IndexCatalog<Archive>, name: String) -> Int
}

/// A property whose value is indexed.
struct PlainProperty<Root, Property: IndexableValue>: IndexedProperty {
    let keyPath: KeyPath<Root, Property>
    var path: AnyKeyPath { keyPath }

    func addColumn<Archive>(to catalog: inout IndexCatalog<Archive>, name: String) -> Int {
        if let keyPath = keyPath as? KeyPath<Archive, Property> {
            return catalog.addColumn(keyPath, name: name)
        }
        let read = reader(of: keyPath, in: Archive.self)
        return catalog.addColumn(keyPath, name: name, of: Property.self, property: read)
    }
}

/// A property of which a derived value is indexed.
struct DerivedProperty<Root, Property, Derived: IndexableValue>: IndexedProperty {
    let keyPath: KeyPath<Root, Property>
    let derive: (Property) -> Derived
    var path: AnyKeyPath { keyPath }

    func addColumn<Archive>(to catalog: inout IndexCatalog<Archive>, name: String) -> Int {
        let read = reader(of: keyPath, in: Archive.self)
        return catalog.addColumn(keyPath, name: name, of: Derived.self) { [derive] in
            derive(read($0))
        }
    }
}

// MARK: Properties whose type is known only at run time

/// Returns the property of an index, or `nil` if its type cannot be indexed. Of a type that is not
/// indexable itself, the raw value is indexed.
func indexedProperty<Root, Property>(
    _ path: KeyPath<Root, Property>
) -> (any IndexedProperty<Root>)? {
    func plain<Value: IndexableValue>(_ type: Value.Type) -> (any IndexedProperty<Root>)? {
        (path as? KeyPath<Root, Value>).map { PlainProperty(keyPath: $0) }
    }
    func raw<Value: RawRepresentable>(_ type: Value.Type) -> (any IndexedProperty<Root>)? {
        (RawValueIndex<Value>() as? any IndexableRawValue)?.property(path)
    }
    if let type = Property.self as? any IndexableValue.Type { return plain(type) }
    let wrapped = (Property.self as? any AnyOptional.Type)?.wrapped ?? Property.self
    return (wrapped as? any RawRepresentable.Type).flatMap { raw($0) }
}

/// A type with a raw value, which may be indexable.
private struct RawValueIndex<Value: RawRepresentable> {}

private protocol IndexableRawValue {
    /// Returns the raw value of a property of the type, or of an optional of it.
    func property<Root>(_ path: PartialKeyPath<Root>) -> (any IndexedProperty<Root>)?
}

extension RawValueIndex: IndexableRawValue where Value.RawValue: IndexableScalar {
    func property<Root>(_ path: PartialKeyPath<Root>) -> (any IndexedProperty<Root>)? {
        switch path {
        case let path as KeyPath<Root, Value>: DerivedProperty(keyPath: path) { $0.rawValue }
        case let path as KeyPath<Root, Value?>: DerivedProperty(keyPath: path) { $0?.rawValue }
        default: nil
        }
    }
}

// MARK: Collections

/// A collection of an index.
protocol IndexedElements<Root> {
    associatedtype Root
    var path: AnyKeyPath { get }

    func addCollection<Archive>(to catalog: inout IndexCatalog<Archive>, name: String)
}

/// A property of which each element is indexed.
struct PropertyElements<Root, Property, Element: IndexableValue>: IndexedElements {
    let keyPath: KeyPath<Root, Property>
    let elements: (Property) -> [Element]
    var path: AnyKeyPath { keyPath }

    func addCollection<Archive>(to catalog: inout IndexCatalog<Archive>, name: String) {
        let read = reader(of: keyPath, in: Archive.self)
        catalog.addCollection(keyPath, name: name, of: Element.self) { [elements] in
            elements(read($0))
        }
    }
}

/// Returns a closure that reads the property from objects of a type that is the root or a subclass
/// of it.
private func reader<Archive, Root, Property>(
    of path: KeyPath<Root, Property>,
    in type: Archive.Type
) -> (Archive) -> Property {
    if let path = path as? KeyPath<Archive, Property> { return { $0[keyPath: path] } }
    return { object in
        guard let root = object as? Root else {
            preconditionFailure("\(Archive.self) is not a \(Root.self).")
        }
        return root[keyPath: path]
    }
}

// MARK: Names

/// The name of a property in the definition of an index. It is the same on every launch.
struct PropertyName {
    let text: String

    /// Returns the given name, or the key path without its root.
    static func of<Root>(
        _ path: AnyKeyPath,
        _ root: Root.Type,
        _ given: String?
    ) -> PropertyName {
        PropertyName(given ?? withoutAddresses(withoutRoot(path.debugDescription, root)))
    }

    private init(_ text: String) {
        self.text = String(text.map { $0 == ";" || $0.isNewline ? " " : $0 })
    }

    /// Returns the name, with a number if it is taken.
    func unique(among taken: [String]) -> String {
        guard taken.contains(text) else { return text }
        var number = 2
        while taken.contains("\(text) \(number)") { number += 1 }
        return "\(text) \(number)"
    }

    /// Returns "address.city" for "\User.address.city".
    private static func withoutRoot<Root>(_ description: String, _ root: Root.Type) -> String {
        let start = "\\\(root)."
        return description.hasPrefix(start)
            ? String(description.dropFirst(start.count)) : description
    }

    /// Returns "<computed Bool>" for "<computed 0x000055db3ca427d0 (Bool)>".
    private static func withoutAddresses(_ description: String) -> String {
        description.replacing(/0x[0-9a-fA-F]+ \((.*?)\)>/) { "\($0.output.1)>" }
    }
}
