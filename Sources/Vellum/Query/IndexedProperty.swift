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

    init(_ keyPath: KeyPath<Root, Property>) { self.keyPath = keyPath }

    func addColumn<Archive>(to catalog: inout IndexCatalog<Archive>, name: String) -> Int {
        if let keyPath = keyPath as? KeyPath<Archive, Property> { return catalog.addColumn(keyPath, name: name) }
        let read = reader(of: keyPath, in: Archive.self)
        return catalog.addColumn(keyPath, name: name, of: Property.self, property: read)
    }
}

/// A property of which a derived value is indexed.
struct DerivedProperty<Root, Property, Derived: IndexableValue>: IndexedProperty {
    let keyPath: KeyPath<Root, Property>
    let derive: (Property) -> Derived
    var path: AnyKeyPath { keyPath }

    init(_ keyPath: KeyPath<Root, Property>, derive: @escaping (Property) -> Derived) {
        self.keyPath = keyPath
        self.derive = derive
    }

    func addColumn<Archive>(to catalog: inout IndexCatalog<Archive>, name: String) -> Int {
        let read = reader(of: keyPath, in: Archive.self)
        return catalog.addColumn(keyPath, name: name, of: Derived.self) { [derive] in derive(read($0)) }
    }
}

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

    init(_ keyPath: KeyPath<Root, Property>, elements: @escaping (Property) -> [Element]) {
        self.keyPath = keyPath
        self.elements = elements
    }

    func addCollection<Archive>(to catalog: inout IndexCatalog<Archive>, name: String) {
        let read = reader(of: keyPath, in: Archive.self)
        catalog.addCollection(keyPath, name: name, of: Element.self) { [elements] in elements(read($0)) }
    }
}

/// Returns a closure that reads the property from objects of a type that is the root or a subclass of it.
private func reader<Archive, Root, Property>(of path: KeyPath<Root, Property>, in type: Archive.Type) -> (Archive) -> Property {
    if let path = path as? KeyPath<Archive, Property> { return { $0[keyPath: path] } }
    return { object in
        guard let root = object as? Root else { preconditionFailure("\(Archive.self) is not a \(Root.self).") }
        return root[keyPath: path]
    }
}
