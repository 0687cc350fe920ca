#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Musl)
    internal import Musl
#else
    internal import Darwin
#endif

/// When the call of the current thread came, if it has waited for its turn: a wait that fails after
/// a time counts it from then (decision 98).
package enum CallStart {
    /// Where a thread finds it, in milliseconds of ``CoarseClock``.
    private static let key = ThreadNumber.newKey()

    /// Notes that the call has waited so long, unless that took no time to speak of, or it had come
    /// before.
    package static func note(_ wait: Duration) {
        guard wait > .milliseconds(100), pthread_getspecific(key) == nil else { return }
        let milliseconds = CoarseClock.milliseconds - Int64(wait / .milliseconds(1))
        pthread_setspecific(key, UnsafeRawPointer(bitPattern: Int(milliseconds)))
    }

    package static func forget() {
        if pthread_getspecific(key) != nil { pthread_setspecific(key, nil) }
    }

    /// Returns it once: what the call does afterwards, it has not waited for. By default it is now.
    package static func take() -> Int64 {
        guard let known = pthread_getspecific(key) else { return CoarseClock.milliseconds }
        pthread_setspecific(key, nil)
        return Int64(Int(bitPattern: known))
    }
}
