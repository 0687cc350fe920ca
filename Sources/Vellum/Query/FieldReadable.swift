internal import Foundation
internal import VellumCore
internal import VellumEngine

/// An object whose properties can be read from its data one by one, so that a condition on them need not decode every object.
///
/// ```swift
/// extension User: FieldReadable {
///     static var archiveFields: [ArchiveField<User>] {
///         [.field(\.email, at: CodingKeys.email), .field(\.address.city, at: "address", "city")]
///     }
/// }
/// ```
///
/// Fields speed up conditions that no index answers, and sorts with a limit. They never change a result: an object that may satisfy the
/// condition is decoded and the condition is evaluated on it, and so is an object whose field cannot be read, for example because its data
/// is not CBOR. As with an index, an object that one part of a condition excludes is not evaluated by the other parts, which might throw,
/// and is not reported if it cannot be decoded; nor is an object that comes after those that a sort needs. Reading a field does not affect
/// the eviction order.
///
/// - Important: The value of a field must be the value that the property has after decoding, as for a synthesized `Codable` conformance.
///   Do not declare a property that `init(from:)` computes from other data.
public protocol FieldReadable: Archivable {
    /// The type whose properties are read: the conforming type, or the class that declares the properties. Archives of its subclasses do
    /// not use the fields.
    associatedtype FieldRoot = Self

    /// The properties that can be read from data. The list is read once.
    static var archiveFields: [ArchiveField<FieldRoot>] { get }
}

/// A property that can be read from the data of an object.
public struct ArchiveField<Root> {
    let property: AnyKeyPath
    /// A `StoredProperty` of the property's type.
    fileprivate let stored: Any

    /// Returns a field that is stored under a coding key.
    ///
    /// - Parameters:
    ///   - property: The property.
    ///   - keys: The coding path: one key, preceded by one for each containing object.
    public static func field<Property: Decodable>(_ property: KeyPath<Root, Property>, at keys: any CodingKey...) -> Self {
        Self(property: property, stored: StoredProperty<Property>(path: keys.map { $0.stringValue }))
    }

    /// Returns a field that is stored under a coding key.
    ///
    /// - Parameters:
    ///   - property: The property.
    ///   - keys: The string values of the coding path: one key, preceded by one for each containing object.
    public static func field<Property: Decodable>(_ property: KeyPath<Root, Property>, at keys: String...) -> Self {
        Self(property: property, stored: StoredProperty<Property>(path: keys))
    }
}

/// Reads a property from data.
struct StoredProperty<Property> {
    /// Throws if the data does not contain the property.
    let read: (Data) throws -> Property
    private let field: EncodedField

    /// The data has no such field, or is in another format.
    struct Unknown: Error {}

    fileprivate init(path: [String]) where Property: Decodable {
        let field = EncodedField(path)
        self.field = field
        read = { data in
            guard let property = try field.value(Property.self, in: data) else { throw Unknown() }
            return property
        }
    }

    /// Returns a closure that evaluates the test on the property in the data, or returns `nil` if the property cannot be read.
    func answering(_ test: @escaping (Property) throws -> Bool) -> (Data) -> Bool? {
        { data in
            do { return try test(read(data)) } catch { return nil }  // Decoding the object reports the error.
        }
    }

    /// Returns the same for a test whether the property is equal to a text, if there is one.
    func answering(_ test: @escaping (Property) throws -> Bool, isEqualTo text: String?) -> (Data) -> Bool? {
        guard let text else { return answering(test) }
        let (utf8, field, test) = (Array(text.utf8), field, answering(test))
        return { data in
            do { return try field.isText(utf8, in: data) ?? test(data) } catch { return nil }  // Decoding the object reports the error.
        }
    }

    /// Returns a closure that compares the property in the data, or returns `nil` if the property cannot be read.
    func comparing(_ compare: @escaping (Property) -> Int) -> (Data) -> Int? {
        { data in
            do { return compare(try read(data)) } catch { return nil }  // Decoding the object reports the error.
        }
    }

    /// Returns how to read the property from the data of objects of the type, or `nil` if the property is not a field.
    static func of<Value>(_ property: AnyKeyPath, in type: Value.Type) -> StoredProperty? {
        guard let type = type as? any FieldReadable.Type else { return nil }
        return find(property, in: type)
    }

    private static func find<Value: FieldReadable>(_ property: AnyKeyPath, in type: Value.Type) -> StoredProperty? {
        DeclaredFields.of(type).list.first { $0.property == property }?.stored as? StoredProperty
    }
}

/// The fields of types. They are read once for each type, because making them takes longer than a query for one object.
///
/// Unchecked because the list is protected by never changing: key paths, and closures that capture only coding paths.
private struct DeclaredFields: @unchecked Sendable {
    let list: [(property: AnyKeyPath, stored: Any)]

    private static let known = Locked<[ObjectIdentifier: DeclaredFields]>([:])

    static func of<Value: FieldReadable>(_ type: Value.Type) -> DeclaredFields {
        if let fields = known.withLock({ $0[ObjectIdentifier(type)] }) { return fields }
        let fields = DeclaredFields(list: type.archiveFields.map { ($0.property, $0.stored) })
        known.withLock { $0[ObjectIdentifier(type)] = fields }
        return fields
    }
}
