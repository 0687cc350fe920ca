internal import VellumCore
internal import VellumEngine

/// A property of an index, whatever its type.
protocol IndexedProperty<Root> {
    associatedtype Root
    var path: AnyKeyPath { get }

    /// Adds the column unless it is there. Returns its number.
    func addColumn<Archive>(to catalog: inout IndexCatalog<Archive>, name: String) -> Int
}

/// A property that is indexed as it is.
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

/// A property that is indexed by something that is made of it.
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

/// The elements of a collection, whatever its type.
protocol IndexedElements<Root> {
    associatedtype Root
    var path: AnyKeyPath { get }

    func addCollection<Archive>(to catalog: inout IndexCatalog<Archive>, name: String)
}

/// What is indexed of each element of a property.
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

/// Reads the property of an archive of the root's kind.
private func reader<Archive, Root, Property>(of path: KeyPath<Root, Property>, in type: Archive.Type) -> (Archive) -> Property {
    if let path = path as? KeyPath<Archive, Property> { return { $0[keyPath: path] } }
    // Made only for types that are of the root's kind.
    return { ($0 as! Root)[keyPath: path] }
}
