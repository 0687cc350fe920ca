internal import Foundation
internal import VellumCore
internal import VellumEngine

/// A value as the store of a cache holds it: decoded, or encoded, or a tombstone.
///
/// Handles with different types of values share one store, so a reader checks the type: by
/// identity, without a dynamic cast.
@usableFromInline
package struct CachedValue: Sendable {
    @usableFromInline let form: ValueForm

    @inlinable
    init(_ form: ValueForm) { self.form = form }

    /// A remembered miss.
    static let tombstone = CachedValue(EncodedForm.tombstone)

    var isTombstone: Bool { form === EncodedForm.tombstone }

    /// Returns the decoded value, if it is of this type.
    @inlinable
    func decoded<Value: Codable>(as type: Value.Type) -> DecodedForm<Value>? {
        Swift.type(of: form) == DecodedForm<Value>.self
            ? unsafeDowncast(form, to: DecodedForm<Value>.self) : nil
    }
}

/// The base of the forms of a value.
///
/// Unchecked because a form is protected by never being changed, and ``DecodedForm`` is made of
/// `Sendable` values only.
@usableFromInline
class ValueForm: @unchecked Sendable {
    /// The version of the type that the value was recorded with.
    let version: Int64

    init(version: Int64) { self.version = version }

    /// Compares values of the type; `nil` if the type is not known.
    var comparing: (any ValueComparing)? { nil }

    /// Returns the bytes for the disk.
    func encoded() throws -> Data { preconditionFailure("A subclass must override this.") }
}

/// A decoded value.
///
/// Unchecked because `value` is protected by never being changed, and of a `Sendable` type.
@usableFromInline
final class DecodedForm<Value: Codable>: ValueForm, @unchecked Sendable {
    @usableFromInline let value: Value
    private let coding: ValueCoding<Value>

    init(_ value: Value, _ coding: ValueCoding<Value>) {
        self.value = value
        self.coding = coding
        super.init(version: coding.version)
    }

    override func encoded() throws -> Data { try coding.encode(value) }

    override var comparing: (any ValueComparing)? { coding }
}

/// The bytes of a value, or of a tombstone.
///
/// Unchecked because `bytes` is protected by never being changed.
final class EncodedForm: ValueForm, @unchecked Sendable {
    let bytes: Data

    private let coding: (any ValueComparing)?

    init(_ bytes: Data, version: Int64 = 0, _ coding: (any ValueComparing)? = nil) {
        self.bytes = bytes
        self.coding = coding
        super.init(version: version)
    }

    override func encoded() -> Data { bytes }

    override var comparing: (any ValueComparing)? { coding }

    /// A remembered miss: 64 bytes, so that the limits bound how many there are. No format begins
    /// with such a byte.
    static let tombstone = EncodedForm(Data([2]) + Data(count: 63))
}
