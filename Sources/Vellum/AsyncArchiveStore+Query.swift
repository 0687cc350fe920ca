public import Foundation
public import VellumCore

// Queries end when their task is cancelled: after at most one more object, or 1,000 instructions of
// SQLite.

extension AsyncArchiveStore {
    /// Returns the objects that satisfy a predicate, in order:
    /// ``ArchiveStore/fetch(where:sortedBy:limit:offset:undecodable:)``.
    public func fetch(
        where predicate: Predicate<Archive>? = nil,
        sortedBy order: [SortDescriptor<Archive>] = [],
        limit: Int? = nil,
        offset: Int = 0,
        undecodable: UndecodableObjects = .fail
    ) async throws -> [Archive] {
        try await query {
            try $0.fetch(
                where: predicate,
                sortedBy: order,
                limit: limit,
                offset: offset,
                undecodable: undecodable
            )
        }
    }

    /// Returns the first object that satisfies a predicate:
    /// ``ArchiveStore/first(where:sortedBy:undecodable:)``.
    public func first(
        where predicate: Predicate<Archive>? = nil,
        sortedBy order: [SortDescriptor<Archive>] = [],
        undecodable: UndecodableObjects = .fail
    ) async throws -> Archive? {
        try await query {
            try $0.first(where: predicate, sortedBy: order, undecodable: undecodable)
        }
    }

    /// Returns how many valid objects satisfy the predicate:
    /// ``ArchiveStore/count(where:undecodable:)``.
    public func count(
        where predicate: Predicate<Archive>,
        undecodable: UndecodableObjects = .fail
    ) async throws -> Int {
        try await query { try $0.count(where: predicate, undecodable: undecodable) }
    }

    /// Returns whether any object satisfies the predicate:
    /// ``ArchiveStore/exists(where:undecodable:)``.
    public func exists(
        where predicate: Predicate<Archive>,
        undecodable: UndecodableObjects = .fail
    ) async throws -> Bool {
        try await query { try $0.exists(where: predicate, undecodable: undecodable) }
    }

    /// Explains how a query is executed:
    /// ``ArchiveStore/explain(where:sortedBy:limit:offset:undecodable:)``.
    public func explain(
        where predicate: Predicate<Archive>? = nil,
        sortedBy order: [SortDescriptor<Archive>] = [],
        limit: Int? = nil,
        offset: Int = 0,
        undecodable: UndecodableObjects = .fail
    ) async throws -> QueryExplanation {
        try await query {
            try $0.explain(
                where: predicate,
                sortedBy: order,
                limit: limit,
                offset: offset,
                undecodable: undecodable
            )
        }
    }

    // MARK: Aggregates

    /// Returns the sum of a property: `ArchiveStore.sum(of:where:undecodable:)`.
    public func sum<Integer: FixedWidthInteger & SendableMetatype>(
        of property: any KeyPath<Archive, Integer> & Sendable,
        where predicate: Predicate<Archive>? = nil,
        undecodable: UndecodableObjects = .fail
    ) async throws -> Integer {
        try await query { try $0.sum(of: property, where: predicate, undecodable: undecodable) }
    }

    /// Returns the sum of a property of those objects that have it.
    public func sum<Integer: FixedWidthInteger & SendableMetatype>(
        of property: any KeyPath<Archive, Integer?> & Sendable,
        where predicate: Predicate<Archive>? = nil,
        undecodable: UndecodableObjects = .fail
    ) async throws -> Integer {
        try await query { try $0.sum(of: property, where: predicate, undecodable: undecodable) }
    }

    /// Returns the sum of a property.
    public func sum<Number: BinaryFloatingPoint & SendableMetatype>(
        of property: any KeyPath<Archive, Number> & Sendable,
        where predicate: Predicate<Archive>? = nil,
        undecodable: UndecodableObjects = .fail
    ) async throws -> Number {
        try await query { try $0.sum(of: property, where: predicate, undecodable: undecodable) }
    }

    /// Returns the sum of a property of those objects that have it.
    public func sum<Number: BinaryFloatingPoint & SendableMetatype>(
        of property: any KeyPath<Archive, Number?> & Sendable,
        where predicate: Predicate<Archive>? = nil,
        undecodable: UndecodableObjects = .fail
    ) async throws -> Number {
        try await query { try $0.sum(of: property, where: predicate, undecodable: undecodable) }
    }

    /// Returns the average of a property: `ArchiveStore.average(of:where:undecodable:)`.
    public func average<Integer: FixedWidthInteger & SendableMetatype>(
        of property: any KeyPath<Archive, Integer> & Sendable,
        where predicate: Predicate<Archive>? = nil,
        undecodable: UndecodableObjects = .fail
    ) async throws -> Double? {
        try await query { try $0.average(of: property, where: predicate, undecodable: undecodable) }
    }

    /// Returns the average of a property of those objects that have it.
    public func average<Integer: FixedWidthInteger & SendableMetatype>(
        of property: any KeyPath<Archive, Integer?> & Sendable,
        where predicate: Predicate<Archive>? = nil,
        undecodable: UndecodableObjects = .fail
    ) async throws -> Double? {
        try await query { try $0.average(of: property, where: predicate, undecodable: undecodable) }
    }

    /// Returns the average of a property.
    public func average<Number: BinaryFloatingPoint & SendableMetatype>(
        of property: any KeyPath<Archive, Number> & Sendable,
        where predicate: Predicate<Archive>? = nil,
        undecodable: UndecodableObjects = .fail
    ) async throws -> Double? {
        try await query { try $0.average(of: property, where: predicate, undecodable: undecodable) }
    }

    /// Returns the average of a property of those objects that have it.
    public func average<Number: BinaryFloatingPoint & SendableMetatype>(
        of property: any KeyPath<Archive, Number?> & Sendable,
        where predicate: Predicate<Archive>? = nil,
        undecodable: UndecodableObjects = .fail
    ) async throws -> Double? {
        try await query { try $0.average(of: property, where: predicate, undecodable: undecodable) }
    }

    /// Returns the least value of a property: `ArchiveStore.min(of:where:undecodable:)`.
    public func min<Property: Comparable & SendableMetatype>(
        of property: any KeyPath<Archive, Property> & Sendable,
        where predicate: Predicate<Archive>? = nil,
        undecodable: UndecodableObjects = .fail
    ) async throws -> Property? {
        try await query { try $0.min(of: property, where: predicate, undecodable: undecodable) }
    }

    /// Returns the least value of a property of those objects that have it.
    public func min<Property: Comparable & SendableMetatype>(
        of property: any KeyPath<Archive, Property?> & Sendable,
        where predicate: Predicate<Archive>? = nil,
        undecodable: UndecodableObjects = .fail
    ) async throws -> Property? {
        try await query { try $0.min(of: property, where: predicate, undecodable: undecodable) }
    }

    /// Returns the greatest value of a property: `ArchiveStore.max(of:where:undecodable:)`.
    public func max<Property: Comparable & SendableMetatype>(
        of property: any KeyPath<Archive, Property> & Sendable,
        where predicate: Predicate<Archive>? = nil,
        undecodable: UndecodableObjects = .fail
    ) async throws -> Property? {
        try await query { try $0.max(of: property, where: predicate, undecodable: undecodable) }
    }

    /// Returns the greatest value of a property of those objects that have it.
    public func max<Property: Comparable & SendableMetatype>(
        of property: any KeyPath<Archive, Property?> & Sendable,
        where predicate: Predicate<Archive>? = nil,
        undecodable: UndecodableObjects = .fail
    ) async throws -> Property? {
        try await query { try $0.max(of: property, where: predicate, undecodable: undecodable) }
    }

    /// Returns how many objects have each value of a property:
    /// ``ArchiveStore/count(by:where:undecodable:)``.
    public func count<Property: Hashable & SendableMetatype>(
        by property: any KeyPath<Archive, Property> & Sendable,
        where predicate: Predicate<Archive>? = nil,
        undecodable: UndecodableObjects = .fail
    ) async throws -> [Property: Int] {
        try await query { try $0.count(by: property, where: predicate, undecodable: undecodable) }
    }
}
