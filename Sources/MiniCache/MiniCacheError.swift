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
    /// Equal keys of the type may be encoded differently, or the key contains a number that is infinite or NaN.
    public static let invalidKey = VellumError.Code("invalidKey")
}

extension CacheCore {
    /// Runs `body`. An error of it names this cache and its file.
    func locatingErrors<Result>(_ body: () throws(VellumError) -> Result) throws(VellumError) -> Result {
        do throws(VellumError) {
            return try body()
        } catch {
            throw located(error)
        }
    }

    @usableFromInline
    func located(_ error: VellumError) -> VellumError {
        error.located(archive: "\(location.name), version \(location.version)", path: path)
    }
}
