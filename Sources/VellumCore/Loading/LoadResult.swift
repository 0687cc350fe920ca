// Decision 64.

/// What a loader found out: a value, that the present one is still right, or that there is none;
/// and for how long that holds.
///
/// ```swift
/// let page = try await cache.value(forKey: "page") { previous in
///     let answer = try await server.page(ifNoneMatch: previous?.etag)
///     if answer.isUnchanged { return .unchanged(maxAge: answer.age) }
///     return .value(answer.page, maxAge: answer.age)
/// }
/// ```
///
/// An age of `nil` is the one that a loader's plain value would have: that of the call's options,
/// or of the handle. Less than a millisecond rounds up; with a negative age the value has expired
/// at once, and that there is none is not remembered.
public enum LoadResult<Value> {
    /// The source has this value.
    case value(Value, maxAge: Duration? = nil)
    /// The value that the loader received as the previous one is still right. It gets a new date,
    /// and is not written again.
    ///
    /// With no previous value it is an error, ``VellumError/Code/nothingUnchanged``.
    case unchanged(maxAge: Duration? = nil)
    /// The source has no value. An age of `nil` is ``LoadOptions/negativeMaxAge``.
    case none(maxAge: Duration? = nil)
}

extension LoadResult: Sendable where Value: Sendable {}
extension LoadResult: Equatable where Value: Equatable {}

/// What a loader found out, with the ages that follow from the request.
package struct LoaderAnswer<Value: Sendable>: Sendable {
    /// The value, or the previous one if that is unchanged; `nil` if there is none.
    package var value: Value?
    package var isUnchanged = false
    /// How long the value is valid for every reader; `nil` leaves that to each reader.
    package var expiration: Expiration?
    /// For how many milliseconds it is remembered that there is none.
    package var nothingFor: Int64

    /// - Throws: ``VellumError`` if there is no previous value that could be unchanged.
    init(
        _ result: LoadResult<Value>,
        to request: LoadRequest<Value>,
        _ previous: Value?
    ) throws(VellumError) {
        expiration = request.ownExpiration
        nothingFor = request.negativeMaxAge
        switch result {
        case .value(let new, let age):
            value = new
            if let age { expiration = .after(age) }
        case .unchanged(let age):
            guard let previous else { throw .nothingUnchanged }
            value = previous
            isUnchanged = true
            if let age { expiration = .after(age) }
        case .none(let age):
            if let age { nothingFor = Expiration.milliseconds(age) }
        }
    }
}

extension VellumError {
    package static var nothingUnchanged: VellumError {
        VellumError(
            .nothingUnchanged,
            "A loader says that the value is unchanged, and received none. Return the value."
        )
    }
}

extension VellumError.Code {
    /// A loader says that a value is unchanged that it did not receive.
    public static let nothingUnchanged = VellumError.Code("nothingUnchanged")
    /// A load took longer than the caller waits.
    public static let loadTimedOut = VellumError.Code("loadTimedOut")
}
