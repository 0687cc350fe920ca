extension CBORValue {
    /// The value for a key; `nil` if this value is not a map or does not contain the key. Assigning
    /// `nil` removes the key.
    ///
    /// Assigning to a value that is not a map makes it a map, as for `nil` as a dictionary would.
    ///
    /// - Complexity: O(1).
    public subscript(key: CBORValue) -> CBORValue? {
        get {
            guard case .map(let pairs) = self else { return nil }
            return pairs[key]
        }
        set {
            guard case .map(var pairs) = self else {
                if let newValue { self = .map([key: newValue]) }
                return
            }
            self = .null  // The dictionary is not copied.
            pairs[key] = newValue
            self = .map(pairs)
        }
    }

    /// Removes a key and its value.
    ///
    /// - Returns: The value; `nil` if this value is not a map or does not contain the key.
    /// - Complexity: O(1).
    @discardableResult
    public mutating func removeValue(forKey key: CBORValue) -> CBORValue? {
        defer { self[key] = nil }
        return self[key]
    }

    /// Returns the value decoded as a type.
    ///
    /// ```swift
    /// let point = try (["x": 1, "y": 2] as CBORValue).decode(Point.self)
    /// ```
    ///
    /// - Complexity: O(n) in the size of the value, which is encoded first.
    /// - Throws: `EncodingError` or `DecodingError`.
    public func decode<Value: Decodable>(_ type: Value.Type) throws -> Value {
        try CBORDecoder().decode(type, from: try CBOREncoder().encode(self))
    }
}
