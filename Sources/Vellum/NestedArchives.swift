internal import Foundation
internal import Synchronization
public import VellumCore
public import VellumEngine

/// The archivable properties of recorded objects, which go to their own archives.
///
/// Whether a type has such properties is found out once, with the first object; for a type that has none, recording
/// pays for one load of an atomic and nothing else.
@usableFromInline
struct NestedArchives<Archive: Archivable>: ~Copyable, Sendable {
    private let knowledge = Atomic(Knowledge.unknown.rawValue)

    private enum Knowledge: UInt8 {
        case unknown, none, some
    }

    init() {}

    /// Adds the recording of what the object holds, and of what that holds.
    @usableFromInline
    func add(propertiesOf object: Archive, to transaction: inout StoreTransaction, _ factory: ArchivesFactory) throws(StoreError) {
        if type(of: object) == Archive.self {
            if knowledge.load(ordering: .relaxed) == Knowledge.unknown.rawValue {
                let has = ArchivableProperties.mayBeDeclared(in: object)
                knowledge.store((has ? Knowledge.some : .none).rawValue, ordering: .relaxed)
            }
            guard knowledge.load(ordering: .relaxed) == Knowledge.some.rawValue else { return }
        }
        // A subclass may have properties that its parent has not.
        var seen: Set<ObjectIdentifier> = []
        for property in ArchivableProperties.all(of: object, &seen) {
            try add(property, to: &transaction, factory)
        }
    }

    private func add<Property: Archivable>(
        _ property: Property, to transaction: inout StoreTransaction, _ factory: ArchivesFactory
    ) throws(StoreError) {
        let engine = try factory.engine(for: Property.self)
        try transaction.record(
            property, forKey: EntryKey(property.primaryKey), in: engine,
            onlyIfAbsent: Property.archivePropertyBehavior == .insertIfNotPresent)
    }
}

/// What reflection tells of an object's archivable properties: those that are archivable, or optionals of such.
private enum ArchivableProperties {
    /// Whether other objects of the type may hold any, going by what this one holds.
    ///
    /// Reflection tells the types of the values, not those of the properties. So an enum may, whatever its case holds now; and
    /// a property of a protocol's type may, which a type that is not `Codable` can have wherever its value is not of the
    /// kinds that no one would declare by a protocol.
    static func mayBeDeclared(in object: Any) -> Bool {
        let mirror = Mirror(reflecting: object)
        if mirror.displayStyle == .enum { return true }
        return children(of: mirror).contains { child in
            let type = type(of: child)
            return isArchivable(type) || (!(object is any Codable) && !isPlain(type))
        }
    }

    /// All of them, and theirs, each object once. What is to be ignored is, with all that it holds.
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

    /// - Returns: Whether it was not seen before.
    @discardableResult
    private static func markAsSeen(_ object: Any, _ seen: inout Set<ObjectIdentifier>) -> Bool {
        guard type(of: object) is AnyObject.Type else { return true }
        return seen.insert(ObjectIdentifier(object as AnyObject)).inserted
    }

    /// Numbers, strings, dates, collections and the like.
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
