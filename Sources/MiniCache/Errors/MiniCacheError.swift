public import VellumCore

/// The error of a cache.
///
/// ```swift
/// do {
///     try cache.set(image, forKey: url)
/// } catch where error.code == .tooLarge {
///     // The image is larger than every limit. The old value is still there.
/// }
/// ```
public typealias MiniCacheError = VellumError

extension VellumError.Code {
    /// Equal keys of the type may be encoded differently, or the key contains a number that is
    /// infinite or NaN.
    public static let invalidKey = VellumError.Code("invalidKey")
}
