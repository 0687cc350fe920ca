internal import Foundation
internal import Tiers

/// The order that an index and a sort on values agree on: that of `<`, with `nil` first, and what compares with nothing, such as
/// what is not a number, last.
enum PropertyOrder {
    /// Below zero if the left one comes first, above if the right one does.
    static func compare<Property: Comparable>(_ left: Property, _ right: Property) -> Int {
        if left < right { return -1 }
        if right < left { return 1 }
        if left == right { return 0 }
        return (left == left ? 0 : 1) - (right == right ? 0 : 1)
    }

    static func compare<Property: Comparable>(_ left: Property?, _ right: Property?) -> Int {
        switch (left, right) {
        case (let left?, let right?): compare(left, right)
        case (nil, nil): 0
        case (nil, _?): -1
        case (_?, nil): 1
        }
    }

    /// Whether `<` of the type is the order in which an index keeps it. Unknown types may compare as they like.
    static func isThatOfIndex<Property>(_ type: Property.Type) -> Bool { type is any NaturallyOrdered.Type }
}

extension Ordering {
    /// By a property.
    static func by<Property: Comparable>(_ path: KeyPath<Value, Property>, isDescending: Bool) -> Ordering {
        Ordering(PropertyOrder.isThatOfIndex(Property.self) ? path : nil, isDescending: isDescending) { left, right in
            let order = PropertyOrder.compare(left[keyPath: path], right[keyPath: path])
            return isDescending ? -order : order
        }
    }

    /// By an optional property, `nil` first.
    static func by<Property: Comparable>(_ path: KeyPath<Value, Property?>, isDescending: Bool) -> Ordering {
        Ordering(PropertyOrder.isThatOfIndex(Property.self) ? path : nil, isDescending: isDescending) { left, right in
            let order = PropertyOrder.compare(left[keyPath: path], right[keyPath: path])
            return isDescending ? -order : order
        }
    }
}

/// The types whose `<` is known. Internal, so that no other type can say that it is one.
private protocol NaturallyOrdered: Comparable {}

extension Int: NaturallyOrdered {}
extension Int8: NaturallyOrdered {}
extension Int16: NaturallyOrdered {}
extension Int32: NaturallyOrdered {}
extension Int64: NaturallyOrdered {}
extension Int128: NaturallyOrdered {}
extension UInt: NaturallyOrdered {}
extension UInt8: NaturallyOrdered {}
extension UInt16: NaturallyOrdered {}
extension UInt32: NaturallyOrdered {}
extension UInt64: NaturallyOrdered {}
extension UInt128: NaturallyOrdered {}
extension Double: NaturallyOrdered {}
extension Float: NaturallyOrdered {}
extension Date: NaturallyOrdered {}
extension String: NaturallyOrdered {}
extension UUID: NaturallyOrdered {}
