/// How a load ended, for everyone who waited for it.
package enum LoadOutcome<Value> {
    /// There is a valid value, which the loader need not load; `nil`: it is recorded that there is
    /// none.
    ///
    /// `forEveryReader`: whether it is valid for readers with any expiration, and not only for the
    /// caller that started the load. `isDue`: whether it is time to load it again, for a caller
    /// that refreshes ahead.
    case found(Value?, forEveryReader: Bool, isDue: Bool)
    /// The process loaded it while the server was out of reach.
    case rememberedInOutage(Value?)
    /// There is an expired value, for callers that accept one from this source.
    case expired(ExpiredValue<Value>, LoadSource)
    /// The loader returned. `nothingFor`: for how many milliseconds it is remembered that there is
    /// no value.
    case loaded(Value?, nothingFor: Int64)
    /// The loader failed, or the store did. `isNew`: whether the loader has just failed, so that
    /// the failure may be remembered.
    case failed(any Error, old: ExpiredValue<Value>?, isNew: Bool)
}

extension LoadOutcome: Sendable where Value: Sendable {}

/// A value whose age has ended, or may have.
package struct ExpiredValue<Value> {
    package var value: Value
    /// When it expired.
    package var end: WallInstant

    package init(_ value: Value, end: WallInstant) {
        self.value = value
        self.end = end
    }

    /// Whether the value expired less than so many milliseconds ago.
    package func isWithin(_ milliseconds: Int64, at now: WallInstant) -> Bool {
        milliseconds > 0 && now < end.advanced(byMilliseconds: milliseconds)
    }
}

extension ExpiredValue: Sendable where Value: Sendable {}

/// What a store has under a key.
package struct Look<Value> {
    /// The valid value; `.some(nil)` if it is recorded that there is none.
    package var found: Value??
    /// Whether it is time to load the valid value again, for a caller that refreshes ahead.
    package var isDue = false
    /// An expired value that the caller may accept.
    package var expired: ExpiredValue<Value>?

    package init(
        found: Value?? = nil,
        isDue: Bool = false,
        expired: ExpiredValue<Value>? = nil
    ) {
        self.found = found
        self.isDue = isDue
        self.expired = expired
    }
}

extension Look: Sendable where Value: Sendable {}
