internal import Foundation
internal import Synchronization
public import VellumCore
public import VellumEngine

/// Records the archivable properties of recorded objects in the archives of their types.
///
/// Whether a type has such properties is determined once, by its first object. For a type without any, each later recording costs one
/// atomic load.
@usableFromInline
struct NestedArchives<Archive: Archivable>: ~Copyable, Sendable {
    private let knowledge = Atomic(Knowledge.unknown.rawValue)

    private enum Knowledge: UInt8 {
        case unknown, noProperties, properties
    }

    init() {}

    /// Adds the recording of the object's archivable properties, and of theirs.
    @usableFromInline
    func add(propertiesOf object: Archive, to transaction: inout StoreTransaction, _ factory: ArchivesFactory) throws(VellumError) {
        // A subclass may have properties that its parent does not have.
        if type(of: object) == Archive.self, !mayHaveProperties(object) { return }
        var seen: Set<ObjectIdentifier> = []
        for property in ArchivableProperties.all(of: object, &seen) {
            try add(property, to: &transaction, factory)
        }
    }

    private func mayHaveProperties(_ object: Archive) -> Bool {
        if knowledge.load(ordering: .relaxed) == Knowledge.unknown.rawValue {
            let mayHaveSome = ArchivableProperties.mayBeDeclared(in: object)
            knowledge.store((mayHaveSome ? Knowledge.properties : .noProperties).rawValue, ordering: .relaxed)
        }
        return knowledge.load(ordering: .relaxed) == Knowledge.properties.rawValue
    }

    private func add<Property: Archivable>(
        _ property: Property, to transaction: inout StoreTransaction, _ factory: ArchivesFactory
    ) throws(VellumError) {
        let store = try factory.propertyStore(of: Property.self)
        try transaction.record(
            property, forKey: EntryKey(property.primaryKey), in: store,
            onlyIfAbsent: Property.archivePropertyBehavior == .insertIfNotPresent)
    }
}

/// Finds the archivable properties of objects by reflection: properties of an archivable type, or of an optional of one.
private enum ArchivableProperties {
    /// Whether any object of the type may have archivable properties, judging by this one.
    ///
    /// Reflection shows the types of the values, not of the properties. So the answer is yes for an enum, whose other cases may have some,
    /// and for a type that is not `Codable` and has a value that could belong to a property of a protocol type.
    static func mayBeDeclared(in object: Any) -> Bool {
        let mirror = Mirror(reflecting: object)
        if mirror.displayStyle == .enum { return true }
        return children(of: mirror).contains { child in
            let type = type(of: child)
            return isArchivable(type) || (!(object is any Codable) && !isPlain(type))
        }
    }

    /// Returns the archivable properties of an object and their archivable properties, each object once. Properties that
    /// ``ArchivePropertyBehavior/ignore`` excludes are left out, together with theirs.
    static func all(of object: Any, _ seen: inout Set<ObjectIdentifier>) -> [any Archivable] {
        markAsSeen(object, &seen)
        var found: [any Archivable] = []
        for child in children(of: Mirror(reflecting: object)) {
            guard let property = unwrapped(child) as? any Archivable else { continue }
            guard type(of: property).archivePropertyBehavior != .ignore, markAsSeen(property, &seen) else { continue }
            found.append(property)
            found += all(of: property, &seen)
        }
        return found
    }

    /// - Returns: Whether the object was not seen before.
    @discardableResult
    private static func markAsSeen(_ object: Any, _ seen: inout Set<ObjectIdentifier>) -> Bool {
        guard type(of: object) is AnyObject.Type else { return true }
        return seen.insert(ObjectIdentifier(object as AnyObject)).inserted
    }

    /// Whether no property of a protocol type is expected to have a value of this type: numbers, strings, dates, collections and others.
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

private protocol AnyOptional {
    static var wrapped: Any.Type { get }
    var content: Any? { get }
}

extension Optional: AnyOptional {
    fileprivate static var wrapped: Any.Type { Wrapped.self }
    fileprivate var content: Any? { self }
}
