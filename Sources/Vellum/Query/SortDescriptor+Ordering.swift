internal import Foundation
internal import VellumCore
internal import VellumEngine

extension Ordering {
    /// Creates the ordering of a descriptor. It names the property, for an index, if the descriptor compares with `<`.
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
        case let type as any OptionalProperty.Type: return type.ordering(by: path, isDescending: isDescending)
        default: return nil
        }
    }

    private static func by<Property: Comparable>(
        _ path: PartialKeyPath<Value>, _ type: Property.Type, isDescending: Bool
    ) -> Ordering? {
        (path as? KeyPath<Value, Property>).map { by($0, isDescending: isDescending) }
    }

    fileprivate static func byOptional<Property: Comparable>(
        _ path: PartialKeyPath<Value>, _ type: Property.Type, isDescending: Bool
    ) -> Ordering? {
        (path as? KeyPath<Value, Property?>).map { by($0, isDescending: isDescending) }
    }
}

extension OptionalProperty {
    fileprivate static func ordering<Value>(by path: PartialKeyPath<Value>, isDescending: Bool) -> Ordering<Value>? {
        (wrappedType as? any Comparable.Type).flatMap { Ordering.byOptional(path, $0, isDescending: isDescending) }
    }
}
