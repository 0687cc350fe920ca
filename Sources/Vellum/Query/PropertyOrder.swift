internal import Foundation
internal import VellumCore
internal import VellumEngine

/// The order that indexes and sorts of values share: the order of `<`, with `nil` first, then
/// values that are unordered, such as NaN.
enum PropertyOrder {
    /// Returns a function whose result is negative if the left value comes first, and positive if
    /// the right one does.
    static func comparison<Property: Comparable>(
        of type: Property.Type
    ) -> (Property, Property) ->
        Int
    {
        if let texts = Comparison(compare: TextOrder.compare) as? Comparison<Property> {
            return texts.compare
        }
        return { left, right in
            if left < right { return -1 }
            if right < left { return 1 }
            if left == right { return 0 }
            return (left == left ? 1 : 0) - (right == right ? 1 : 0)
        }
    }

    static func comparison<Property: Comparable>(
        ofOptional type: Property.Type
    ) -> (Property?, Property?) -> Int {
        let compare = comparison(of: type)
        return { left, right in
            switch (left, right) {
            case (let left?, let right?): compare(left, right)
            case (nil, nil): 0
            case (nil, _?): -1
            case (_?, nil): 1
            }
        }
    }

    /// Wraps a closure, so that it can be cast.
    private struct Comparison<Property> {
        let compare: (Property, Property) -> Int
    }

    /// Returns whether an index stores the type in the order of its `<`. User-supplied types may
    /// define `<` in any way.
    static func matchesIndexOrder(_ type: Any.Type) -> Bool {
        naturallyOrdered.contains(ObjectIdentifier(type))
    }

    /// Returns the property by which the descriptor sorts, if an index has the same order.
    static func property<Value>(of descriptor: SortDescriptor<Value>) -> AnyKeyPath? {
        // Every other string comparator depends on the locale, which an index does not.
        if let comparator = descriptor.stringComparator, comparator != .lexical { return nil }
        guard let path = descriptor.keyPath else { return nil }
        let type = Swift.type(of: path).valueType
        if matchesIndexOrder(type) { return path }
        return (type as? any AnyOptional.Type).flatMap {
            matchesIndexOrder($0.wrapped) ? path : nil
        }
    }

    private static let naturallyOrdered: Set<ObjectIdentifier> = {
        let types: [Any.Type] = [
            Int.self,
            Int8.self,
            Int16.self,
            Int32.self,
            Int64.self,
            Int128.self,
            UInt.self,
            UInt8.self, UInt16.self, UInt32.self,
            UInt64.self,
            UInt128.self,
            Double.self,
            Float.self,
            Date.self,
            String.self,
            UUID.self,
        ]
        return Set(types.map { ObjectIdentifier($0) })
    }()
}

extension Ordering {
    /// Returns an ordering by a property.
    static func by<Property: Comparable>(
        _ path: KeyPath<Value, Property>,
        isDescending: Bool
    ) -> Ordering {
        by(
            path,
            Property.self,
            isDescending: isDescending,
            PropertyOrder.comparison(of: Property.self)
        )
    }

    /// Returns an ordering by an optional property, `nil` first.
    static func by<Property: Comparable>(
        _ path: KeyPath<Value, Property?>,
        isDescending: Bool
    ) -> Ordering {
        by(
            path,
            Property.self,
            isDescending: isDescending,
            PropertyOrder.comparison(ofOptional: Property.self)
        )
    }

    private static func by<Property>(
        _ path: KeyPath<Value, Property>,
        _ wrapped: (some Comparable).Type,
        isDescending: Bool,
        _ compare: @escaping (Property, Property) -> Int
    ) -> Ordering {
        Ordering(PropertyOrder.matchesIndexOrder(wrapped) ? path : nil, isDescending: isDescending)
        { left, right in
            let order = compare(left[keyPath: path], right[keyPath: path])
            return isDescending ? -order : order
        }
    }
}

// MARK: Sort descriptors

extension Ordering {
    /// Creates the ordering of a descriptor. It names the property, for an index, if the descriptor
    /// compares with `<`.
    init(_ descriptor: SortDescriptor<Value>) {
        self =
            Ordering.byProperty(descriptor)
            ?? Ordering(isDescending: descriptor.order == .reverse) { left, right in
                descriptor.compare(left, right).rawValue
            }
    }

    private static func byProperty(_ descriptor: SortDescriptor<Value>) -> Ordering? {
        // Every other string comparator depends on the locale, which an index does not.
        if let comparator = descriptor.stringComparator, comparator != .lexical { return nil }
        guard let path = descriptor.keyPath else { return nil }
        let isDescending = descriptor.order == .reverse
        switch type(of: path).valueType {
        case let type as any Comparable.Type: return by(path, type, isDescending: isDescending)
        case let type as any AnyOptional.Type:
            return (type.wrapped as? any Comparable.Type).flatMap {
                by(path, $0, isDescending: isDescending)
            }
        default: return nil
        }
    }

    private static func by<Property: Comparable>(
        _ path: PartialKeyPath<Value>,
        _ type: Property.Type,
        isDescending: Bool
    ) -> Ordering? {
        switch path {
        case let path as KeyPath<Value, Property>: by(path, isDescending: isDescending)
        case let path as KeyPath<Value, Property?>: by(path, isDescending: isDescending)
        default: nil
        }
    }
}
