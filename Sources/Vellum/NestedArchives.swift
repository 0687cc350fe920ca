internal import Foundation
internal import Synchronization
public import VellumCore
public import VellumEngine

/// Records the archivable properties of recorded objects in the archives of their types.
///
/// Whether a type has such properties is determined once, by its first object. For a type without
/// any, each later recording costs one atomic load.
@usableFromInline
struct NestedArchives<Archive: Archivable>: ~Copyable, Sendable {
    private let knowledge = Atomic(Knowledge.unknown.rawValue)

    private enum Knowledge: UInt8 {
        case unknown, noProperties, properties
    }

    init() {}

    /// Adds the recording of the object's archivable properties, and of theirs.
    @usableFromInline
    func add(
        propertiesOf object: Archive,
        to transaction: inout StoreTransaction,
        _ factory: ArchivesFactory
    ) throws(VellumError) {
        // A subclass may have properties that its parent does not have.
        if type(of: object) == Archive.self, !mayHaveProperties(object) { return }
        var seen: Set<ObjectIdentifier> = []
        var owners: Set<Identity> = []
        try add(propertiesOf: object, &owners, &seen, to: &transaction, factory)
    }

    /// - Parameter owners: The objects whose property the object is, which it must not replace:
    ///   those of its type and key.
    private func add(
        propertiesOf object: any Archivable,
        _ owners: inout Set<Identity>,
        _ seen: inout Set<ObjectIdentifier>,
        to transaction: inout StoreTransaction,
        _ factory: ArchivesFactory
    ) throws(VellumError) {
        let behavior = type(of: object).archivePropertyBehavior
        guard behavior != .ignore else { return }
        let identity = Identity(object)
        owners.insert(identity)
        defer { owners.remove(identity) }
        for property in ArchivableProperties.of(object, &seen)
        where !owners.contains(Identity(property)) {
            guard try add(property, behavior, to: &transaction, factory) else { continue }
            try add(propertiesOf: property, &owners, &seen, to: &transaction, factory)
        }
    }

    private struct Identity: Hashable {
        private let type: ObjectIdentifier
        private let key: EntryKey

        /// Of the declared class, whose archive it belongs to.
        init<Object: Archivable>(_ object: Object) {
            type = ObjectIdentifier(Object.self)
            key = EntryKey(object.primaryKey)
        }
    }

    private func mayHaveProperties(_ object: Archive) -> Bool {
        guard Archive.archivePropertyBehavior != .ignore else { return false }
        if knowledge.load(ordering: .relaxed) == Knowledge.unknown.rawValue {
            let mayHaveSome = ArchivableProperties.mayBeDeclared(in: object)
            knowledge.store(
                (mayHaveSome ? Knowledge.properties : .noProperties).rawValue,
                ordering: .relaxed
            )
        }
        return knowledge.load(ordering: .relaxed) == Knowledge.properties.rawValue
    }

    /// - Returns: `false` if the archive has the property already, and it stays: then its own
    ///   properties stay, too.
    private func add<Property: Archivable>(
        _ property: Property,
        _ behavior: ArchivePropertyBehavior,
        to transaction: inout StoreTransaction,
        _ factory: ArchivesFactory
    ) throws(VellumError) -> Bool {
        let store = try factory.propertyStore(of: Property.self)
        let key = EntryKey(property.primaryKey)
        let isInserted = behavior == .insertIfNotPresent
        if isInserted, try store.contains(key) { return false }
        try transaction.record(property, forKey: key, in: store, onlyIfAbsent: isInserted)
        return true
    }
}

/// Finds the archivable properties of objects by reflection: properties of an archivable type, or
/// of an optional of one.
private enum ArchivableProperties {
    /// Whether any object of the type may have archivable properties, judging by this one.
    ///
    /// Reflection shows the types of the values, not of the properties. So the answer is yes for an
    /// enum, whose other cases may have some, and for a type that is not `Codable` and has a value
    /// that could belong to a property of a protocol type.
    static func mayBeDeclared(in object: Any) -> Bool {
        let mirror = Mirror(reflecting: object)
        if mirror.displayStyle == .enum { return true }
        return children(of: mirror).contains { child in
            let type = type(of: child)
            return isArchivable(type) || (!(object is any Codable) && !isPlain(type))
        }
    }

    /// Returns the archivable properties of an object that were not seen before.
    static func of(
        _ object: any Archivable,
        _ seen: inout Set<ObjectIdentifier>
    ) -> [any Archivable] {
        markAsSeen(object, &seen)
        var found: [any Archivable] = []
        for child in children(of: Mirror(reflecting: object)) {
            if let property = unwrapped(child) as? any Archivable, markAsSeen(property, &seen) {
                found.append(property)
            }
        }
        return found
    }

    /// - Returns: Whether the object was not seen before.
    @discardableResult
    private static func markAsSeen(_ object: Any, _ seen: inout Set<ObjectIdentifier>) -> Bool {
        guard type(of: object) is AnyObject.Type else { return true }
        return seen.insert(ObjectIdentifier(object as AnyObject)).inserted
    }

    /// Whether no property of a protocol type is expected to have a value of this type: numbers,
    /// strings, dates, collections and others.
    private static func isPlain(_ type: Any.Type) -> Bool {
        if let optional = type as? any AnyOptional.Type { return isPlain(optional.wrapped) }
        return type is any LosslessStringConvertible.Type || type is any Collection.Type
            || [Date.self, UUID.self, URL.self, Decimal.self].contains { $0 == type }
    }

    private static func children(of mirror: Mirror) -> [Any] {
        let own = mirror.children.map(\.value)
        guard let parent = mirror.superclassMirror else { return own }
        return children(of: parent) + own
    }

    private static func isArchivable(_ type: Any.Type) -> Bool {
        if let optional = type as? any AnyOptional.Type { return isArchivable(optional.wrapped) }
        return type is any Archivable.Type || type == (any Archivable).self
    }

    private static func unwrapped(_ value: Any) -> Any? {
        guard let optional = value as? any AnyOptional else { return value }
        return optional.content.flatMap(unwrapped)
    }
}
