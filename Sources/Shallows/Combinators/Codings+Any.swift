public import Foundation

// Storages of `Any`, for clients in Swift 5 mode:
// `let storage: Storage<Filename, [String: Any]> = folder.mapJSONDictionary()`. The type of the
// value is the caller's choice, because a function of this module cannot say `Any`, which is not
// `Sendable`.

extension ErasableStorage where Access: ReadableAccess & WritableAccess, ErasedValue == Data {
    /// Returns a storage of JSON values of the type that the caller expects, such as `Any` in Swift
    /// 5 mode.
    public func mapJSON<Object: Sendable>(
        readingOptions: JSONSerialization.ReadingOptions = [],
        writingOptions: JSONSerialization.WritingOptions = []
    ) -> AnyStorage<Access, ErasedKey, Object> {
        mapping(PlainCoding.json(readingOptions, writingOptions).typed())
    }

    /// Returns a storage of JSON dictionaries of the type that the caller expects, such as
    /// `[String: Any]` in Swift 5 mode.
    public func mapJSONDictionary<Object: Sendable>(
        readingOptions: JSONSerialization.ReadingOptions = [],
        writingOptions: JSONSerialization.WritingOptions = []
    ) -> AnyStorage<Access, ErasedKey, [String: Object]> {
        mapping(PlainCoding.json(readingOptions, writingOptions).typed())
    }

    /// Returns a storage of property list values of the type that the caller expects, such as `Any`
    /// in Swift 5 mode.
    public func mapPlist<Object: Sendable>(
        format: PropertyListSerialization.PropertyListFormat = .xml,
        readOptions: PropertyListSerialization.ReadOptions = [],
        writeOptions: PropertyListSerialization.WriteOptions = 0
    ) -> AnyStorage<Access, ErasedKey, Object> {
        mapping(PlainCoding.plist(format, readOptions, writeOptions).typed())
    }

    /// Returns a storage of property list dictionaries of the type that the caller expects, such as
    /// `[String: Any]` in Swift 5 mode.
    public func mapPlistDictionary<Object: Sendable>(
        format: PropertyListSerialization.PropertyListFormat = .xml,
        readOptions: PropertyListSerialization.ReadOptions = [],
        writeOptions: PropertyListSerialization.WriteOptions = 0
    ) -> AnyStorage<Access, ErasedKey, [String: Object]> {
        mapping(PlainCoding.plist(format, readOptions, writeOptions).typed())
    }
}

extension ErasableStorage where Access == StorageKind.ReadOnly, ErasedValue == Data {
    /// Returns a storage of JSON values of the type that the caller expects, such as `Any` in Swift
    /// 5 mode.
    public func mapJSON<Object: Sendable>(
        options: JSONSerialization.ReadingOptions = []
    ) -> ReadOnlyStorage<ErasedKey, Object> {
        mapping(PlainCoding.json(options, []).typed())
    }

    /// Returns a storage of JSON dictionaries of the type that the caller expects, such as
    /// `[String: Any]` in Swift 5 mode.
    public func mapJSONDictionary<Object: Sendable>(
        options: JSONSerialization.ReadingOptions = []
    ) -> ReadOnlyStorage<ErasedKey, [String: Object]> {
        mapping(PlainCoding.json(options, []).typed())
    }

    /// Returns a storage of property list values of the type that the caller expects, such as `Any`
    /// in Swift 5 mode.
    public func mapPlist<Object: Sendable>(
        format: PropertyListSerialization.PropertyListFormat = .xml,
        options: PropertyListSerialization.ReadOptions = []
    ) -> ReadOnlyStorage<ErasedKey, Object> {
        mapping(PlainCoding.plist(format, options, 0).typed())
    }

    /// Returns a storage of property list dictionaries of the type that the caller expects, such as
    /// `[String: Any]` in Swift 5 mode.
    public func mapPlistDictionary<Object: Sendable>(
        format: PropertyListSerialization.PropertyListFormat = .xml,
        options: PropertyListSerialization.ReadOptions = []
    ) -> ReadOnlyStorage<ErasedKey, [String: Object]> {
        mapping(PlainCoding.plist(format, options, 0).typed())
    }
}

extension ErasableStorage where Access == StorageKind.WriteOnly, ErasedValue == Data {
    /// Returns a storage of JSON values of the type that the caller expects, such as `Any` in Swift
    /// 5 mode.
    public func mapJSON<Object: Sendable>(
        options: JSONSerialization.WritingOptions = []
    ) -> WriteOnlyStorage<ErasedKey, Object> {
        mapping(PlainCoding.json([], options).typed())
    }

    /// Returns a storage of JSON dictionaries of the type that the caller expects, such as
    /// `[String: Any]` in Swift 5 mode.
    public func mapJSONDictionary<Object: Sendable>(
        options: JSONSerialization.WritingOptions = []
    ) -> WriteOnlyStorage<ErasedKey, [String: Object]> {
        mapping(PlainCoding.json([], options).typed())
    }

    /// Returns a storage of property list values of the type that the caller expects, such as `Any`
    /// in Swift 5 mode.
    public func mapPlist<Object: Sendable>(
        format: PropertyListSerialization.PropertyListFormat = .xml,
        options: PropertyListSerialization.WriteOptions = 0
    ) -> WriteOnlyStorage<ErasedKey, Object> {
        mapping(PlainCoding.plist(format, [], options).typed())
    }

    /// Returns a storage of property list dictionaries of the type that the caller expects, such as
    /// `[String: Any]` in Swift 5 mode.
    public func mapPlistDictionary<Object: Sendable>(
        format: PropertyListSerialization.PropertyListFormat = .xml,
        options: PropertyListSerialization.WriteOptions = 0
    ) -> WriteOnlyStorage<ErasedKey, [String: Object]> {
        mapping(PlainCoding.plist(format, [], options).typed())
    }
}
