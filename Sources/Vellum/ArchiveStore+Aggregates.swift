public import Foundation
public import VellumCore
internal import VellumEngine

// Decision 76.

/// A function of the values of one property, for ``ArchiveStore/explain(_:of:where:undecodable:)``.
public enum ArchiveAggregate: Sendable {
    /// The sum of the values.
    case sum
    /// The average of the values.
    case average
    /// The least value.
    case min
    /// The greatest value.
    case max
    /// How many objects have each value.
    case count
}

extension ArchiveStore {
    // MARK: Sums

    /// Returns the sum of an integer property of the objects that satisfy a predicate; 0 if there
    /// are none.
    ///
    /// ```swift
    /// let swiss = #Predicate<City> { $0.country == "CH" }
    /// let people = try cities.sum(of: \.people, where: swiss)
    /// ```
    ///
    /// The sum is exact, also if a part of it is beyond the type. If an index has the property and
    /// answers the whole predicate, nothing is decoded; otherwise each object that satisfies it is,
    /// with the same result. Objects are seen as by ``count(where:undecodable:)``.
    ///
    /// Runs on the caller's thread and blocks it for the disk; writers and checkpoints do not wait
    /// for it. It does not affect the eviction order.
    ///
    /// - Parameters:
    ///   - property: The property. If it is optional, `nil` is skipped.
    ///   - predicate: The condition; `nil` for all objects.
    ///   - undecodable: Whether to throw on an object that cannot be decoded, or to skip it.
    /// - Complexity: O(log n + r) for r objects that an index finds; O(n) with one decode for each
    ///   object without an index.
    /// - Throws: ``VellumError`` if the type of the property cannot hold the sum or the predicate
    ///   throws (``VellumError/Code/failedQuery``), an object cannot be decoded, or the disk fails.
    public func sum<Integer: FixedWidthInteger>(
        of property: KeyPath<Archive, Integer>,
        where predicate: Predicate<Archive>? = nil,
        undecodable: UndecodableObjects = .fail
    ) throws -> Integer {
        try integer(
            total(.sum, of: property, predicate, undecodable) {
                $1.add($0[keyPath: property])
            }
        )
    }

    /// Returns the sum of an optional integer property, without `nil`; 0 if there are no others.
    public func sum<Integer: FixedWidthInteger>(
        of property: KeyPath<Archive, Integer?>,
        where predicate: Predicate<Archive>? = nil,
        undecodable: UndecodableObjects = .fail
    ) throws -> Integer {
        try integer(
            total(.sum, of: property, predicate, undecodable) {
                if let number = $0[keyPath: property] { $1.add(number) }
            }
        )
    }

    /// Returns the sum of a floating-point property of the objects that satisfy a predicate; 0 if
    /// there are none.
    ///
    /// It is the exact sum, rounded once, so that it does not depend on the order of the objects: 1
    /// for ten times 0.1, and for 1e300, 1 and -1e300. A sum with NaN, or with both infinities, is
    /// NaN; one beyond the type is infinite. A type that is more precise than `Double` is rounded
    /// to it first. Zero has no sign. Otherwise like the sum of integers.
    ///
    /// - Source: Neal, "Fast Exact Summation Using Small and Large Superaccumulators", 2015
    ///   (arxiv.org/abs/1505.05571).
    public func sum<Number: BinaryFloatingPoint>(
        of property: KeyPath<Archive, Number>,
        where predicate: Predicate<Archive>? = nil,
        undecodable: UndecodableObjects = .fail
    ) throws -> Number {
        try total(.sum, of: property, predicate, undecodable) {
            $1.add($0[keyPath: property])
        }
        .number(Number.self)
    }

    /// Returns the sum of an optional floating-point property, without `nil`; 0 if there are no
    /// others.
    public func sum<Number: BinaryFloatingPoint>(
        of property: KeyPath<Archive, Number?>,
        where predicate: Predicate<Archive>? = nil,
        undecodable: UndecodableObjects = .fail
    ) throws -> Number {
        try total(.sum, of: property, predicate, undecodable) {
            if let number = $0[keyPath: property] { $1.add(number) }
        }
        .number(Number.self)
    }

    // MARK: Averages

    /// Returns the average of an integer property of the objects that satisfy a predicate; `nil` if
    /// there are none.
    ///
    /// It is the exact sum as a `Double`, divided by the number of values, and no error if the type
    /// cannot hold the sum. Otherwise like the sum.
    public func average<Integer: FixedWidthInteger>(
        of property: KeyPath<Archive, Integer>,
        where predicate: Predicate<Archive>? = nil,
        undecodable: UndecodableObjects = .fail
    ) throws -> Double? {
        try total(.average, of: property, predicate, undecodable) {
            $1.add($0[keyPath: property])
        }
        .average
    }

    /// Returns the average of an optional integer property, without `nil`; `nil` if there are no
    /// others.
    public func average<Integer: FixedWidthInteger>(
        of property: KeyPath<Archive, Integer?>,
        where predicate: Predicate<Archive>? = nil,
        undecodable: UndecodableObjects = .fail
    ) throws -> Double? {
        try total(.average, of: property, predicate, undecodable) {
            if let number = $0[keyPath: property] { $1.add(number) }
        }.average
    }

    /// Returns the average of a floating-point property of the objects that satisfy a predicate;
    /// `nil` if there are none.
    ///
    /// It is the sum as a `Double`, divided by the number of values. Otherwise like the sum.
    public func average<Number: BinaryFloatingPoint>(
        of property: KeyPath<Archive, Number>,
        where predicate: Predicate<Archive>? = nil,
        undecodable: UndecodableObjects = .fail
    ) throws -> Double? {
        try total(.average, of: property, predicate, undecodable) {
            $1.add($0[keyPath: property])
        }
        .average
    }

    /// Returns the average of an optional floating-point property, without `nil`; `nil` if there
    /// are no others.
    public func average<Number: BinaryFloatingPoint>(
        of property: KeyPath<Archive, Number?>,
        where predicate: Predicate<Archive>? = nil,
        undecodable: UndecodableObjects = .fail
    ) throws -> Double? {
        try total(.average, of: property, predicate, undecodable) {
            if let number = $0[keyPath: property] { $1.add(number) }
        }.average
    }

    // MARK: Least and greatest

    /// Returns the least value of a property of the objects that satisfy a predicate; `nil` if
    /// there are none.
    ///
    /// In the order of a sort by the property. NaN is returned only if there is nothing else. A
    /// string from an index is in normal form (NFC), a zero without sign: equal by `==`. Otherwise
    /// like `sum(of:where:)`; an index answers for numbers, dates, strings and UUIDs.
    public func min<Property: Comparable>(
        of property: KeyPath<Archive, Property>,
        where predicate: Predicate<Archive>? = nil,
        undecodable: UndecodableObjects = .fail
    ) throws -> Property? {
        try extreme(.min, of: property, predicate, undecodable) { $0[keyPath: property] }
    }

    /// Returns the least value of an optional property, without `nil`; `nil` if there are no
    /// others.
    public func min<Property: Comparable>(
        of property: KeyPath<Archive, Property?>,
        where predicate: Predicate<Archive>? = nil,
        undecodable: UndecodableObjects = .fail
    ) throws -> Property? {
        try extreme(.min, of: property, predicate, undecodable) { $0[keyPath: property] }
    }

    /// Returns the greatest value of a property of the objects that satisfy a predicate; `nil` if
    /// there are none. Otherwise like the least.
    public func max<Property: Comparable>(
        of property: KeyPath<Archive, Property>,
        where predicate: Predicate<Archive>? = nil,
        undecodable: UndecodableObjects = .fail
    ) throws -> Property? {
        try extreme(.max, of: property, predicate, undecodable) { $0[keyPath: property] }
    }

    /// Returns the greatest value of an optional property, without `nil`; `nil` if there are no
    /// others.
    public func max<Property: Comparable>(
        of property: KeyPath<Archive, Property?>,
        where predicate: Predicate<Archive>? = nil,
        undecodable: UndecodableObjects = .fail
    ) throws -> Property? {
        try extreme(.max, of: property, predicate, undecodable) { $0[keyPath: property] }
    }

    // MARK: Groups

    /// Returns how many objects that satisfy a predicate have each value of a property.
    ///
    /// ```swift
    /// let perCountry = try cities.count(by: \.country)  // ["CH": 2, "DE": 2]
    /// ```
    ///
    /// `nil` of an optional property is a key like others. All NaNs are one key, which only a loop
    /// finds. A string from an index is in normal form (NFC), equal by `==`. Otherwise like
    /// `sum(of:where:)`; an index answers for all types that can be indexed without code.
    ///
    /// - Complexity: As `sum(of:where:)`, and one key in memory for each value.
    public func count<Property: Hashable>(
        by property: KeyPath<Archive, Property>,
        where predicate: Predicate<Archive>? = nil,
        undecodable: UndecodableObjects = .fail
    ) throws -> [Property: Int] {
        try withOpenHandle { () throws(VellumError) in
            try store.aggregate(
                ArchiveAggregate.count.described(of: property),
                of: QueryDescription(where: predicate),
                undecodable: undecodable
            ) {
                (answer) throws(VellumError) in
                guard case .groups(let groups) = answer,
                    let read = StoredProperty.reader(of: Property.self)
                else { return nil }
                var counts: [Property: Int] = [:]
                for (stored, count) in groups {
                    guard let value = read(stored) else { return nil }
                    counts[value, default: 0] += count
                }
                return counts
            } fromValues: { next throws(VellumError) in
                var counts: [Property: Int] = [:]
                var unequal: (value: Property, count: Int)?
                while let object = try next() {
                    let value = object[keyPath: property]
                    if value == value {
                        counts[value, default: 0] += 1
                    } else {
                        unequal = (value, (unequal?.count ?? 0) + 1)
                    }
                }
                if let unequal { counts[unequal.value] = unequal.count }
                return counts
            }
        }
    }

    // MARK: Explaining

    /// Computes an aggregate of a property, and returns how: by an index, without decoding an
    /// object, or by decoding objects.
    ///
    /// ```swift
    /// print(try cities.explain(.sum, of: \.people))
    /// ```
    ///
    /// It takes as long as the aggregate, and blocks the caller's thread for the disk. It does not
    /// affect the eviction order.
    ///
    /// - Throws: ``VellumError`` as the aggregate does, except for a sum that its type cannot hold.
    public func explain(
        _ aggregate: ArchiveAggregate,
        of property: PartialKeyPath<Archive>,
        where predicate: Predicate<Archive>? = nil,
        undecodable: UndecodableObjects = .fail
    ) throws -> QueryExplanation {
        try whileOpen(
            store.explain(
                aggregate.described(of: property),
                of: QueryDescription(where: predicate),
                undecodable: undecodable
            )
        )
    }

    // MARK: Computing

    private func total(
        _ aggregate: ArchiveAggregate,
        of property: PartialKeyPath<Archive>,
        _ predicate: Predicate<Archive>?,
        _ undecodable: UndecodableObjects,
        _ add: (Archive, inout ExactSum) -> Void
    ) throws(VellumError) -> ExactSum {
        try withOpenHandle { () throws(VellumError) in
            try store.aggregate(
                aggregate.described(of: property),
                of: QueryDescription(where: predicate),
                undecodable: undecodable
            ) {
                (answer) throws(VellumError) in
                if case .sum(let sum) = answer { sum } else { nil }
            } fromValues: { next throws(VellumError) in
                var sum = ExactSum()
                while let object = try next() { add(object, &sum) }
                return sum
            }
        }
    }

    private func integer<Number: FixedWidthInteger>(_ sum: ExactSum) throws(VellumError) -> Number {
        if let number = sum.integer(Number.self) { return number }
        throw store.located(
            VellumError(
                .failedQuery,
                """
                A sum is beyond the type of the property, \(Number.self). Sum a property of a \
                larger type, or take the average.
                """
            )
        )
    }

    private func extreme<Property: Comparable>(
        _ aggregate: ArchiveAggregate,
        of property: PartialKeyPath<Archive>,
        _ predicate: Predicate<Archive>?,
        _ undecodable: UndecodableObjects,
        _ read: (Archive) -> Property?
    ) throws(VellumError) -> Property? {
        try withOpenHandle { () throws(VellumError) -> Property? in
            try store.aggregate(
                aggregate.described(of: property),
                of: QueryDescription(where: predicate),
                undecodable: undecodable
            ) {
                (answer) throws(VellumError) -> Property?? in
                guard case .value(let stored) = answer else { return nil }
                if stored == .null { return .some(nil) }
                guard let value = StoredProperty.reader(of: Property.self)?(stored) else {
                    return nil
                }
                return .some(value)
            } fromValues: { next throws(VellumError) in
                let compare = PropertyOrder.comparison(of: Property.self)
                var found: Property?
                while let object = try next() {
                    guard let value = read(object) else { continue }
                    guard let best = found, best == best else {
                        found = value
                        continue
                    }
                    let order = compare(value, best)
                    if value == value, aggregate == .max ? order > 0 : order < 0 { found = value }
                }
                return found
            }
        }
    }
}

extension ArchiveAggregate {
    /// The aggregate as a store computes it.
    func described(of property: AnyKeyPath) -> PropertyAggregate {
        let type = Swift.type(of: property).valueType
        let isOrdered = PropertyOrder.matchesIndexOrder(
            (type as? any AnyOptional.Type)?.wrapped ?? type
        )
        let kind: AggregateKind? =
            switch self {
            case .sum, .average: .sum
            case .min: isOrdered ? .least : nil
            case .max: isOrdered ? .greatest : nil
            case .count: StoredProperty.hasReader(of: type) ? .groups : nil
            }
        return PropertyAggregate("\(self)", of: property, kind)
    }
}
