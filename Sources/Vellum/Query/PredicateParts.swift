internal import Foundation
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

    /// Returns how Swift describes the key path to the property, and the type that it begins with.
    func chain(from variable: PredicateExpressions.VariableID) -> PropertyChain?
}

extension PredicateExpressions.Variable: PropertyExpression {
    func path(from variable: PredicateExpressions.VariableID) -> AnyKeyPath? { key == variable ? \Output.self : nil }

    func chain(from variable: PredicateExpressions.VariableID) -> PropertyChain? { key == variable ? PropertyChain(Output.self) : nil }
}

extension PredicateExpressions.KeyPath: PropertyExpression {
    func path(from variable: PredicateExpressions.VariableID) -> AnyKeyPath? {
        if let root = root as? PredicateExpressions.Variable<Root.Output> { return root.key == variable ? keyPath : nil }
        return (root as? any PropertyExpression)?.path(from: variable)?.appending(path: keyPath)
    }

    func chain(from variable: PredicateExpressions.VariableID) -> PropertyChain? {
        (root as? any PropertyExpression)?.chain(from: variable)?.appending(PropertyChain(keyPath))
    }
}

// MARK: Optional chains

/// How Swift describes a key path of stored properties: `address?.city`.
///
/// A predicate has the two parts of `$0.address?.city`, of which no key path can be made that is equal to `\.address?.city`. But an index or a
/// field that was declared has one, and is described in the same way.
struct PropertyChain {
    let root: Any.Type
    let names: String

    init(_ root: Any.Type, _ names: String = "") { (self.root, self.names) = (root, names) }

    /// - Returns: `nil` if Swift has no name for one of the properties: two such key paths may differ and be described in the same way.
    init?<Root, Property>(_ path: KeyPath<Root, Property>) {
        let root = (\Root.self as AnyKeyPath).debugDescription.dropLast(".self".count)
        let description = path.debugDescription
        let names = description.dropFirst(root.count)
        guard description.hasPrefix(root), !names.contains("<") else { return nil }
        self.init(Root.self, String(names))
    }

    func appending(_ other: PropertyChain?) -> PropertyChain? { other.map { PropertyChain(root, names + $0.names) } }

    /// Whether the path is described so.
    fileprivate func describes<Root>(_ path: AnyKeyPath, of root: Root.Type) -> Bool {
        path.debugDescription == (\Root.self as AnyKeyPath).debugDescription.dropLast(".self".count) + names
    }

    /// Returns the key path that the root declares for an index or a field, if it declares one.
    fileprivate var declaredPath: AnyKeyPath? {
        func find<Root>(_ root: Root.Type) -> AnyKeyPath? { declaredPaths(of: root).first { describes($0, of: root) } }
        return find(root)
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
        return PropertyChain(outer.root, outer.names + "?" + inner.names + (isWrapped ? "?" : ""))
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
