internal import Foundation
internal import VellumCore
internal import VellumEngine

/// An object of which single properties can be read from its data, so that a condition on them need not decode every object.
///
/// ```swift
/// extension User: FieldReadable {
///     static var archiveFields: [ArchiveField<User>] {
///         [.field(\.email, at: CodingKeys.email), .field(\.address.city, at: "address", "city")]
///     }
/// }
/// ```
///
/// This is for conditions that no index answers. It changes how fast a query is, never what it answers: an object that may
/// satisfy the condition is decoded and asked itself, and so is one of which nothing certain can be read, as of data that is no CBOR.
/// As with an index, an object that one part of a condition rules out is not asked the others, which might have thrown, and is not
/// reported if it cannot be decoded. Reading a field is no use of an object.
///
/// - Important: By naming a field a type says that it is what the property will be when the object is decoded, as it is for a
///   synthesized `Codable` conformance. What `init(from:)` makes of something else is no field.
public protocol FieldReadable: Archivable {
    /// The type whose properties are read: this one, or the class that declares them for its subclasses, for whose own archives they
    /// are of no use.
    associatedtype FieldRoot = Self

    /// What can be read.
    static var archiveFields: [ArchiveField<FieldRoot>] { get }
}

/// A property that stands in the data of an object by itself.
public struct ArchiveField<Root> {
    fileprivate let property: AnyKeyPath
    /// A `StoredProperty` of the property's type.
    fileprivate let stored: Any

    /// The property as it is stored under a key.
    ///
    /// - Parameters:
    ///   - property: A property that is stored as it is.
    ///   - keys: The coding keys on the way to it: one, and one more for each object in between.
    public static func field<Property: Decodable>(_ property: KeyPath<Root, Property>, at keys: any CodingKey...) -> Self {
        Self(property: property, stored: StoredProperty<Property>(path: keys.map { $0.stringValue }))
    }

    /// The property as it is stored under a key.
    ///
    /// - Parameters:
    ///   - property: A property that is stored as it is.
    ///   - keys: The texts of the coding keys on the way to it: one, and one more for each object in between.
    public static func field<Property: Decodable>(_ property: KeyPath<Root, Property>, at keys: String...) -> Self {
        Self(property: property, stored: StoredProperty<Property>(path: keys))
    }
}

/// How a property is read from data.
struct StoredProperty<Property> {
    /// Throws where the data does not say.
    let read: (Data) throws -> Property

    /// There is no such field, or the data is in another format.
    struct Unknown: Error {}

    fileprivate init(path: [String]) where Property: Decodable {
        read = { data in
            guard let property = try CodableFormat.decodeField(Property.self, at: path, from: data) else { throw Unknown() }
            return property
        }
    }

    /// Asks the property in the data, where that tells.
    func answering(_ test: @escaping (Property) throws -> Bool) -> (Data) -> Bool? {
        { data in
            do { return try test(read(data)) } catch { return nil }  // Whoever decodes the object learns why.
        }
    }

    /// How the property is read from the data of objects of the type; `nil` if it is none that can be.
    static func of<Value>(_ property: AnyKeyPath, in type: Value.Type) -> StoredProperty? {
        guard let type = type as? any FieldReadable.Type else { return nil }
        return find(property, in: type)
    }

    private static func find<Value: FieldReadable>(_ property: AnyKeyPath, in type: Value.Type) -> StoredProperty? {
        type.archiveFields.first { $0.property == property }?.stored as? StoredProperty
    }
}
