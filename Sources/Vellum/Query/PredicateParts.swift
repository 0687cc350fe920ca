internal import Foundation
internal import VellumCore
internal import VellumEngine

// The parts of a predicate that an index understands: properties and constants.

/// Returns the key path of the part if it is a property of the scope's own variable.
func propertyPath<Part: PredicateExpression, Environment>(
    of part: Part, in scope: PredicateScope<Environment>
) -> KeyPath<Environment, Part.Output>? {
    guard let own = scope.own, let part = part as? any PropertyExpression else { return nil }
    return part.path(from: own) as? KeyPath<Environment, Part.Output>
}

/// A variable or a property of one.
protocol PropertyExpression: PredicateExpression {
    func path(from variable: PredicateExpressions.VariableID) -> AnyKeyPath?

    /// Returns the way to the property, which may lead through optionals.
    func chain(from variable: PredicateExpressions.VariableID) -> PropertyChain?
}

extension PredicateExpressions.Variable: PropertyExpression {
    func path(from variable: PredicateExpressions.VariableID) -> AnyKeyPath? { key == variable ? \Output.self : nil }

    func chain(from variable: PredicateExpressions.VariableID) -> PropertyChain? { key == variable ? PropertyChain(steps: []) : nil }
}

extension PredicateExpressions.KeyPath: PropertyExpression {
    func path(from variable: PredicateExpressions.VariableID) -> AnyKeyPath? {
        if let root = root as? PredicateExpressions.Variable<Root.Output> { return root.key == variable ? keyPath : nil }
        return (root as? any PropertyExpression)?.path(from: variable)?.appending(path: keyPath)
    }

    func chain(from variable: PredicateExpressions.VariableID) -> PropertyChain? {
        (root as? any PropertyExpression)?.chain(from: variable)?.appending([.property(keyPath)])
    }
}

// MARK: Optional chains

/// The way to a property through optionals: `address?.city`.
///
/// A predicate has the two parts of `$0.address?.city`, of which no key path can be made that is equal to `\.address?.city`. But an index or a
/// field that was declared has one, which Swift describes in the same way.
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

    /// The declared key paths of chains, because describing them takes longer than a query for one object. One for each chain in the source.
    private static let found = Locked<[PropertyChain: DeclaredPath]>([:])

    private enum DeclaredPath { case path(PropertyChain), none }

    /// The key path that the root declares for an index or a field, if it declares one.
    var declaredPath: AnyKeyPath? {
        let known = Self.found.withLock { $0[self] }
        let answer = known ?? find().map { .path(PropertyChain(steps: [.property($0)])) } ?? .none
        if known == nil { Self.found.withLock { $0[self] = answer } }
        guard case .path(let chain) = answer, case .property(let path) = chain.steps.first else { return nil }
        return path
    }

    private func find() -> AnyKeyPath? {
        guard case .property(let first) = steps.first, let description else { return nil }
        return declaredPaths(of: type(of: first).rootType).first { $0.debugDescription == description }
    }

    /// How Swift describes such a key path; `nil` if it has no name for one of the properties: two such paths may differ and be described in
    /// the same way.
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

/// Returns the key paths of the type's indexes and fields.
private func declaredPaths(of type: Any.Type) -> [AnyKeyPath] {
    func indexed<Value: IndexedArchivable>(_ type: Value.Type) -> [AnyKeyPath] { type.archiveIndexes.flatMap(\.paths) }
    func fields<Value: FieldReadable>(_ type: Value.Type) -> [AnyKeyPath] { type.archiveFields.map(\.property) }
    return ((type as? any IndexedArchivable.Type).map { indexed($0) } ?? []) + ((type as? any FieldReadable.Type).map { fields($0) } ?? [])
}

/// `$0.address?.city`
extension PredicateExpressions.OptionalFlatMap: PropertyExpression {
    func path(from variable: PredicateExpressions.VariableID) -> AnyKeyPath? { chain(from: variable)?.declaredPath }

    func chain(from variable: PredicateExpressions.VariableID) -> PropertyChain? {
        guard let outer = (wrapped as? any PropertyExpression)?.chain(from: variable),
            let inner = (transform as? any PropertyExpression)?.chain(from: self.variable.key)
        else { return nil }
        // A property that is not optional is wrapped at the end.
        let isWrapped = (transform as? any PredicateExpression<Result>) != nil
        return outer.appending([.unwrapping] + inner.steps + (isWrapped ? [.wrapping] : []))
    }
}

// MARK: Properties with a value in the place of nil

/// `$0.due ?? later`, with a constant.
struct CoalescedProperty<Root, Property> {
    let tests: PropertyTests<Root, Property>
    /// The value in the place of `nil`.
    let standard: Property

    /// Returns the condition that the property, or the value in its place, satisfies a test.
    func condition(_ condition: Condition<Root>, holdsForStandard: Bool) -> Condition<Root> {
        holdsForStandard ? .any([condition, tests.isNil]) : condition
    }
}

/// Returns the part as an optional property with a constant in the place of `nil`, if it is one.
func coalescedProperty<Part: PredicateExpression, Environment>(
    of part: Part, in scope: PredicateScope<Environment>
) -> CoalescedProperty<Environment, Part.Output>? {
    (part as? any CoalescingExpression)?.coalesced(in: scope) as? CoalescedProperty<Environment, Part.Output>
}

private protocol CoalescingExpression {
    func coalesced<Environment>(in scope: PredicateScope<Environment>) -> Any?
}

extension PredicateExpressions.NilCoalesce: CoalescingExpression {
    fileprivate func coalesced<Environment>(in scope: PredicateScope<Environment>) -> Any? {
        guard let path = propertyPath(of: lhs, in: scope) as? KeyPath<Environment, RHS.Output?> else { return nil }
        return constant(of: rhs).map { CoalescedProperty(tests: PropertyTests(optional: path), standard: $0) }
    }
}

// MARK: Constants

/// Returns the value of the part if it is the same for every object.
func constant<Part: PredicateExpression>(of part: Part) -> Part.Output? {
    (part as? any ConstantExpression).flatMap { Constant<Part.Output>.of($0)?.value }
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
        Vellum.constant(of: root).map { $0[keyPath: keyPath as KeyPath<Root.Output, Output>] }
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
        guard let lower = Vellum.constant(of: lower), let upper = Vellum.constant(of: upper), lower <= upper else { return nil }
        return lower..<upper
    }
}

extension PredicateExpressions.ClosedRange: ConstantExpression {
    fileprivate var constant: Output? {
        guard let lower = Vellum.constant(of: lower), let upper = Vellum.constant(of: upper), lower <= upper else { return nil }
        return lower...upper
    }
}

extension FixedWidthInteger {
    fileprivate var isMinimum: Bool { self == .min }
}
