internal import Foundation
internal import VellumCore

/// Checks that what decodes from the bytes of a value is what was passed: memory returns the one,
/// queries and the next launch the other.
package enum RoundTrip {
    /// Subclasses whose data say which class they are, each beside the class that it is recorded as
    /// (decision 71).
    private static let sound = Locked<Set<[ObjectIdentifier]>>([])

    /// Refuses an object of a subclass that decodes as the class itself (decision 72). A debug
    /// build also warns, once for each type, if a property differs.
    package static func check<Value>(_ value: Value, _ decode: () throws -> Value) throws {
        if type(of: value) != Value.self { try refuseSubclass(value, decode) }
        #if DEBUG
            warn(value, decode)
        #endif
    }

    private static func refuseSubclass<Value>(_ value: Value, _ decode: () throws -> Value) throws {
        let pair = [ObjectIdentifier(type(of: value)), ObjectIdentifier(Value.self)]
        guard !sound.withLock({ $0.contains(pair) }) else { return }
        guard type(of: try decode()) != Value.self else {
            throw VellumError.subclass(type(of: value), of: Value.self)
        }
        sound.withLock { _ = $0.insert(pair) }
    }
}

extension VellumError {
    fileprivate static func subclass(_ subclass: Any.Type, of type: Any.Type) -> VellumError {
        VellumError(
            .notEncodable,
            """
            An object of type \(subclass) cannot be recorded as \(type), because its data decode \
            as \(type), without what \(subclass) adds. Record it as \(subclass), or let its data \
            say which class it is. The old object is still there.
            """
        )
    }
}

#if DEBUG
    extension RoundTrip {
        private static let compared = Locked<Set<ObjectIdentifier>>([])

        private static func warn<Value>(_ value: Value, _ decode: () throws -> Value) {
            guard compared.withLock({ $0.insert(ObjectIdentifier(Value.self)).inserted }) else {
                return
            }
            var comparison = Comparison()
            do {
                guard let path = comparison.difference(value, try decode()) else { return }
                let line = """
                    What decodes from an object of type \(Value.self) differs from what was \
                    passed, first at \(path.isEmpty ? "the object itself" : path). While memory \
                    keeps it, it is returned as it was passed; queries and the next launch see \
                    what decodes. Encode that property, or leave it out. Checked once for each \
                    type, in debug builds only.
                    """
                Log.warning(line)
                LoggedLines.observer?(line)
            } catch {
                return  // Whoever reads it gets the error.
            }
        }
    }

    /// Compares two values property by property by reflection. Silent where it cannot judge.
    private struct Comparison {
        private var left = 100_000
        /// Objects that were compared or are being compared: they may refer to each other.
        private var seen: Set<ObjectIdentifier> = []

        /// Returns the path to the first difference, without a value or a key; `nil` if there is
        /// none.
        mutating func difference(_ one: Any, _ other: Any, _ depth: Int = 0) -> String? {
            left -= 1
            guard left > 0, depth < 64 else { return nil }
            let type = type(of: one)
            let mirror = Mirror(reflecting: one)
            let others = Mirror(reflecting: other)
            guard type == others.subjectType else {
                return mirror.isSubclass(of: others) ? "" : nil
            }
            let style = mirror.displayStyle
            if style == .optional || isOfSystem(type) && style == .collection {
                return ofChildren(mirror, others, depth)
            }
            if isOfSystem(type) || one is any CustomReflectable || one is any Actor {
                if let one = one as? any Unordered, let other = other as? any Unordered {
                    return ofItems(one, other, depth)
                }
                return type is AnyClass ? nil : ofEquatables(one, other)
            }
            switch style {
            case .tuple, .struct: return ofChildren(mirror, others, depth)
            case .enum:
                guard let payload = mirror.children.first, let counterpart = others.children.first,
                    payload.label == counterpart.label
                else {
                    return mirror.children.isEmpty && others.children.isEmpty
                        ? ofEquatables(one, other) : ""
                }
                return difference(payload.value, counterpart.value, depth + 1)
            case .class:
                guard seen.insert(ObjectIdentifier(one as AnyObject)).inserted else { return nil }
                return one as AnyObject === other as AnyObject
                    ? nil : ofChildren(mirror, others, depth)
            default: return ofEquatables(one, other)
            }
        }

        private mutating func ofChildren(
            _ mirror: Mirror,
            _ others: Mirror,
            _ depth: Int
        ) -> String? {
            guard mirror.children.count == others.children.count else { return "" }
            // Behind a lock, which may be of a type that cannot be copied, other threads may be
            // writing.
            if mirror.displayStyle == .class,
                mirror.children.contains(where: { $0.value is any NSLocking || $0.value is Void })
            {
                return nil
            }
            for (
                index, (child, other)
            ) in zip(mirror.children, others.children).prefix(1000)
                .enumerated()
            {
                let label = child.label ?? (mirror.displayStyle == .collection ? "[\(index)]" : "")
                // What is computed when it is first requested, and who observes.
                if label.hasPrefix("$__lazy_storage_$_") || label == "_$observationRegistrar" {
                    continue
                }
                guard let path = difference(child.value, other.value, depth + 1) else { continue }
                return (label.isEmpty || "[.".contains(label.prefix(1)) ? label : ".\(label)")
                    + path
            }
            guard let parent = mirror.superclassMirror, let otherParent = others.superclassMirror
            else { return nil }
            return isOfSystem(parent.subjectType) ? nil : ofChildren(parent, otherParent, depth)
        }

        private mutating func ofItems(
            _ one: any Unordered,
            _ other: any Unordered,
            _ depth: Int
        ) -> String? {
            guard one.count == other.count else { return "" }
            // NaN is not found.
            for (key, item) in one.firstItems(1000) where one.item(for: key) != nil {
                guard let counterpart = other.item(for: key) else { return "" }
                if let path = difference(item, counterpart, depth + 1) { return "[…]" + path }
            }
            return nil
        }

        private func ofEquatables(_ one: Any, _ other: Any) -> String? {
            func differs<Value: Equatable>(_ one: Value) -> Bool {
                guard let other = other as? Value else { return false }
                return one != other && (one == one || other == other)  // NaN differs from itself.
            }
            return (one as? any Equatable).flatMap { differs($0) ? "" : nil }
        }
    }

    /// Whether the properties of a type say nothing, but its `==` does.
    private func isOfSystem(_ type: Any.Type) -> Bool {
        let module = String(reflecting: type).prefix { $0 != "." }
        return module.hasPrefix("Foundation") || module.hasPrefix("_")
            || [
                "Swift", "Combine", "CoreFoundation", "CoreGraphics", "Dispatch", "ObjectiveC",
                "Observation", "SwiftUI", "Synchronization",
                "simd",
            ]
            .contains(module)
    }

    extension Mirror {
        fileprivate func isSubclass(of other: Mirror) -> Bool {
            !isOfSystem(other.subjectType)
                && sequence(first: self, next: \.superclassMirror).contains {
                    $0.subjectType == other.subjectType
                }
        }
    }

    /// A set, whose elements are their own keys, or a dictionary.
    private protocol Unordered {
        var count: Int { get }
        func firstItems(_ limit: Int) -> [(key: Any, item: Any)]
        func item(for key: Any) -> Any?
    }

    extension Set: Unordered {
        func firstItems(_ limit: Int) -> [(key: Any, item: Any)] {
            prefix(limit).map { ($0, $0) }
        }
        func item(for key: Any) -> Any? {
            (key as? Element).flatMap { contains($0) ? $0 : nil }
        }
    }

    extension Dictionary: Unordered {
        func firstItems(_ limit: Int) -> [(key: Any, item: Any)] {
            prefix(limit).map { ($0, $1) }
        }
        func item(for key: Any) -> Any? {
            (key as? Key).flatMap { self[$0] }
        }
    }
#endif
