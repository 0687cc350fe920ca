internal import Foundation
internal import VellumCore
internal import VellumEngine

// The parts of a predicate that an index understands: properties and constants.

extension PredicateScope {
    /// Returns the key path of the part if it is a property of the scope's own variable.
    func propertyPath<Part: PredicateExpression>(
        of part: Part
    ) -> KeyPath<Environment, Part.Output>? {
        ownPath(of: part) ?? path(of: part) as? KeyPath<Environment, Part.Output>
    }

    /// Returns the tests of the part if it is a property of the scope's own variable, or the value
    /// of an optional one that is not `nil` here.
    func propertyTests<Part: PredicateExpression>(
        of part: Part
    ) -> PropertyTests<Environment, Part.Output>? {
        if let path = ownPath(of: part) { return PropertyTests(path) }
        return switch path(of: part) {
        case let path as KeyPath<Environment, Part.Output>: PropertyTests(path)
        case let path as KeyPath<Environment, Part.Output?>: PropertyTests(optional: path)
        default: nil
        }
    }

    /// Returns the key path of `$0.name`, the most frequent part, for which a cast to a type is
    /// faster than one to a protocol.
    private func ownPath<Part: PredicateExpression>(
        of part: Part
    ) -> KeyPath<Environment, Part.Output>? {
        typealias OwnProperty = PredicateExpressions.KeyPath<Variable<Environment>, Part.Output>
        guard let part = part as? OwnProperty, part.root.key == own?.variable else { return nil }
        return part.keyPath
    }

    private func path(of part: some PredicateExpression) -> AnyKeyPath? {
        guard let own, let part = part as? any PropertyExpression else { return nil }
        return part.path(from: own)
    }
}

/// The variable whose properties a scope knows.
struct PropertyRoot {
    let variable: PredicateExpressions.VariableID
    /// The properties that are not `nil` where the scope is used.
    var notNil: [AnyKeyPath] = []
}

/// A variable or a property of one.
protocol PropertyExpression: PredicateExpression {
    /// Returns the key path of the property, or of the optional whose value it is.
    func path(from root: PropertyRoot) -> AnyKeyPath?

    /// Returns the way to the property, which may lead through optionals.
    func chain(from root: PropertyRoot) -> PropertyChain?
}

extension PredicateExpressions.Variable: PropertyExpression {
    func path(from root: PropertyRoot) -> AnyKeyPath? { key == root.variable ? \Output.self : nil }

    func chain(from root: PropertyRoot) -> PropertyChain? {
        key == root.variable ? PropertyChain(steps: []) : nil
    }
}

extension PredicateExpressions.KeyPath: PropertyExpression {
    func path(from root: PropertyRoot) -> AnyKeyPath? {
        if let variable = self.root as? PredicateExpressions.Variable<Root.Output> {
            return variable.key == root.variable ? keyPath : nil
        }
        guard let outer = self.root as? any PropertyExpression else { return nil }
        return outer.path(from: root)?.appending(path: keyPath)
            ?? chain(from: root)?.wrappingEnd(Output.self).declaredPath
    }

    func chain(from root: PropertyRoot) -> PropertyChain? {
        (self.root as? any PropertyExpression)?.chain(from: root)?.appending([.property(keyPath)])
    }
}

// MARK: Optional chains

/// The way to a property through optionals: `address?.city`.
///
/// A predicate has the two parts of `$0.address?.city`, of which no key path can be made that is
/// equal to `\.address?.city`. But an index has one, which Swift describes in the same way.
///
/// Unchecked because key paths are protected by never changing.
struct PropertyChain: Hashable, @unchecked Sendable {
    enum Step: Hashable {
        case property(AnyKeyPath)
        /// The wrapped value, or `nil` at the end.
        case unwrapping
        /// Into an optional, at the end.
        case wrapping
    }

    var steps: [Step]

    func appending(_ others: [Step]) -> PropertyChain { PropertyChain(steps: steps + others) }

    /// Returns the chain to an optional: a property behind an optional is wrapped at the end,
    /// unless it is optional itself.
    func wrappingEnd<Property>(_ type: Property.Type) -> PropertyChain {
        steps.contains(.unwrapping) && !(type is any AnyOptional.Type)
            ? appending([.wrapping]) : self
    }

    /// The declared key paths of chains, because describing them takes longer than a query for one
    /// object. One for each chain in the source.
    private static let found = Locked<[PropertyChain: PropertyChain?]>([:])

    /// The key path that the root declares for an index, if it declares one.
    var declaredPath: AnyKeyPath? {
        let known = Self.found.withLock { $0[self] }
        let answer = known ?? find().map { PropertyChain(steps: [.property($0)]) }
        if known == nil { Self.found.withLock { _ = $0.updateValue(answer, forKey: self) } }
        guard case .property(let path) = answer?.steps.first else { return nil }
        return path
    }

    private func find() -> AnyKeyPath? {
        guard case .property(let first) = steps.first, let description else { return nil }
        return declaredPaths(of: type(of: first).rootType).first {
            $0.debugDescription == description
        }
    }

    /// How Swift describes such a key path; `nil` if it has no name for one of the properties: two
    /// such paths may differ and be described in the same way.
    private var description: String? {
        var description = ""
        for step in steps {
            guard case .property(let path) = step else {
                description += "?"
                continue
            }
            let root = Self.description(ofRoot: type(of: path).rootType)
            let names = path.debugDescription.dropFirst(root.count)
            guard path.debugDescription.hasPrefix(root), !names.contains("<") else { return nil }
            description += (description.isEmpty ? root : "") + names
        }
        return description
    }

    /// Returns "\User".
    private static func description(ofRoot type: Any.Type) -> Substring {
        func path<Root>(_ type: Root.Type) -> AnyKeyPath { \Root.self }
        return path(type).debugDescription.dropLast(".self".count)
    }
}

/// Returns the key paths of the type's indexes.
private func declaredPaths(of type: Any.Type) -> [AnyKeyPath] {
    func paths<Value: IndexedArchivable>(_ type: Value.Type) -> [AnyKeyPath] {
        type.archiveIndexes.flatMap(\.paths)
    }
    return (type as? any IndexedArchivable.Type).map { paths($0) } ?? []
}

/// `$0.address?.city`
extension PredicateExpressions.OptionalFlatMap: PropertyExpression {
    func path(from root: PropertyRoot) -> AnyKeyPath? { chain(from: root)?.declaredPath }

    func chain(from root: PropertyRoot) -> PropertyChain? {
        guard let outer = (wrapped as? any PropertyExpression)?.chain(from: root),
            let inner = (transform as? any PropertyExpression)?.chain(
                from: PropertyRoot(variable: variable.key)
            )
        else { return nil }
        // A property that is not optional is wrapped at the end.
        let isWrapped = (transform as? any PredicateExpression<Result>) != nil
        return outer.appending(
            [.unwrapping] + inner.steps + (isWrapped ? [.wrapping] : [])
        )
    }
}

/// `$0.due!`, where `$0.due` is not `nil`.
extension PredicateExpressions.ForcedUnwrap: PropertyExpression {
    func path(from root: PropertyRoot) -> AnyKeyPath? {
        (inner as? any PropertyExpression)?.path(from: root).flatMap {
            root.notNil.contains($0) ? $0 : nil
        }
    }

    func chain(from root: PropertyRoot) -> PropertyChain? {
        path(from: root) == nil
            ? nil : (inner as? any PropertyExpression)?.chain(from: root)?.appending([.unwrapping])
    }
}

// MARK: Properties with a value in the place of nil

/// `$0.due ?? later`, with a constant.
struct CoalescedProperty<Root, Property> {
    let tests: PropertyTests<Root, Property>
    /// The value in the place of `nil`.
    let defaultValue: Property

    /// Returns the condition that the property, or the value in its place, satisfies a test.
    func condition(_ condition: ValueCondition<Root>, matchesDefault: Bool) -> ValueCondition<Root>
    {
        matchesDefault ? .any([condition, tests.isNil]) : condition
    }
}

extension PredicateScope {
    /// Returns the part as an optional property with a constant in the place of `nil`, if it is
    /// one.
    func coalescedProperty<Part: PredicateExpression>(
        of part: Part
    ) -> CoalescedProperty<Environment, Part.Output>? {
        (part as? any CoalescingExpression)?.coalesced(in: self)
            as? CoalescedProperty<Environment, Part.Output>
    }
}

private protocol CoalescingExpression {
    func coalesced<Environment>(in scope: PredicateScope<Environment>) -> Any?
}

extension PredicateExpressions.NilCoalesce: CoalescingExpression {
    fileprivate func coalesced<Environment>(in scope: PredicateScope<Environment>) -> Any? {
        guard let path = scope.propertyPath(of: lhs) as? KeyPath<Environment, RHS.Output?>
        else { return nil }
        return constant(of: rhs).map {
            CoalescedProperty(tests: PropertyTests(optional: path), defaultValue: $0)
        }
    }
}

// MARK: Constants

/// Returns the value of the part if it is the same for every object.
func constant<Part: PredicateExpression>(of part: Part) -> Part.Output? {
    if let part = part as? PredicateExpressions.Value<Part.Output> { return part.value }
    return (part as? any ConstantExpression).flatMap { Constant<Part.Output>.of($0)?.value }
}

/// Wraps a value, so that it can be cast even if it is optional.
private struct Constant<Value> {
    let value: Value

    static func of<Part: ConstantExpression>(_ part: Part) -> Self? {
        part.constant.flatMap { Constant<Part.Output>(value: $0) as? Self }
    }
}

private protocol ConstantExpression: PredicateExpression {
    var constant: Output? { get }
}

extension PredicateExpressions.Value: ConstantExpression {
    fileprivate var constant: Output? { value }
}

extension PredicateExpressions.NilLiteral: ConstantExpression {
    fileprivate var constant: Output? { .some(nil) }
}

extension PredicateExpressions.KeyPath: ConstantExpression {
    fileprivate var constant: Output? {
        Vellum.constant(of: root).map {
            $0[keyPath: keyPath as KeyPath<Root.Output, Output>]
        }
    }
}

extension PredicateExpressions.UnaryMinus: ConstantExpression {
    fileprivate var constant: Output? {
        guard let value = Vellum.constant(of: wrapped) else { return nil }
        // Negating the minimum traps. Foundation traps for the first object, not here.
        if let value = value as? any FixedWidthInteger, value.isMinimum { return nil }
        return -value
    }
}

extension PredicateExpressions.Range: ConstantExpression {
    fileprivate var constant: Output? {
        guard let lower = Vellum.constant(of: lower), let upper = Vellum.constant(of: upper),
            lower <= upper
        else { return nil }
        return lower..<upper
    }
}

extension PredicateExpressions.ClosedRange: ConstantExpression {
    fileprivate var constant: Output? {
        guard let lower = Vellum.constant(of: lower), let upper = Vellum.constant(of: upper),
            lower <= upper
        else { return nil }
        return lower...upper
    }
}

extension FixedWidthInteger {
    fileprivate var isMinimum: Bool { self == .min }
}
