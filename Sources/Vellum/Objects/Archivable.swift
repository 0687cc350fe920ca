public import Foundation
public import VellumCore
internal import VellumEngine

/// An object that can be recorded in an archive: it has a key, and can be converted to data and
/// back.
///
/// A `Codable` type needs only a key:
///
/// ```swift
/// struct User: ArchiveCodable {
///     var primaryKey: String { userName }
///     var userName: String
///     var age: Int
/// }
/// ```
///
/// Such a type is encoded as CBOR, a binary format, unless it has another ``archiveFormat``.
///
/// Any other type writes its own data. A class need not be final or `Sendable`:
///
/// ```swift
/// class Note: Archivable {
///     var primaryKey: String { title }
///     var title = ""
///
///     func archive() throws -> Data { Data(title.utf8) }
///
///     static func deArchive(fromData data: Data) throws -> Archivable {
///         let note = Note()
///         note.title = String(decoding: data, as: UTF8.self)
///         return note
///     }
/// }
/// ```
///
/// An object of a subclass can be recorded in the archive of its superclass only if
/// ``deArchive(fromData:)`` returns one of that subclass. What the superclass alone would decode is
/// an error: what the subclass adds would be lost.
///
/// The methods run on the thread of the caller that records or accesses an object, and never while
/// a lock is held. A debug build decodes the first object of each type when it is recorded, to
/// compare it.
public protocol Archivable: SendableMetatype {
    /// The key that the object is recorded under: any string of up to 64 KiB.
    ///
    /// Keys are compared by canonical equivalence, like Swift's `==`.
    var primaryKey: String { get }

    /// Returns the object as data. All limits count the bytes of this data.
    func archive() throws -> Data

    /// Returns an object made from data that ``archive()`` returned.
    ///
    /// - Returns: An object of this type; an object of another type is an error.
    static func deArchive(fromData data: Data) throws -> any Archivable

    /// The name of the archive that stores objects of this type. The default is the type's full
    /// name.
    ///
    /// Implement it to keep the archive when the type is renamed. A private or local type must
    /// implement it: its full name contains an address that changes on every launch.
    static var archiveName: String { get }

    /// How properties that are themselves archivable are recorded when an object of this type is
    /// recorded. The default is ``ArchivePropertyBehavior/insertIfNotPresent``.
    static var archivePropertyBehavior: ArchivePropertyBehavior { get }

    /// The format that a `Codable` type is encoded in. The default is CBOR. Data of every format
    /// can be read, whatever the current value.
    ///
    /// ```swift
    /// static var archiveFormat: CodableFormat { .json }
    /// ```
    static var archiveFormat: CodableFormat { get }

    /// The size of the object's data, in bytes. Encodes the object on each call.
    var sizeOfData: DataSize { get }

    /// The name of ``archive()`` in version 1.
    func archiveData() throws -> Data

    /// The name of ``deArchive(fromData:)`` in version 1.
    static func decode(archive data: Data) throws -> any Archivable
}

/// A type that is archived through its `Codable` conformance.
public typealias ArchiveCodable = Archivable & Codable

/// How the archivable properties of a recorded object are recorded.
public enum ArchivePropertyBehavior: Sendable {
    /// Each is recorded in the archive of its type and replaces an object with the same key.
    case replaceExisting
    /// Each is recorded in the archive of its type if that archive has no object with the same key.
    case insertIfNotPresent
    /// They are stored only as parts of the object.
    case ignore
}

extension Archivable {
    /// The full name of the type.
    public static var archiveName: String { String(reflecting: Self.self) }

    /// ``ArchivePropertyBehavior/insertIfNotPresent``.
    public static var archivePropertyBehavior: ArchivePropertyBehavior { .insertIfNotPresent }

    /// CBOR.
    public static var archiveFormat: CodableFormat { .cbor }

    /// The size of the object's data, in bytes; zero if the object cannot be encoded. Encodes the
    /// object on each call.
    public var sizeOfData: DataSize {
        do {
            return try archive().dataSize
        } catch {
            return .zero
        }
    }
}

// MARK: Codable

extension Archivable where Self: Codable {
    /// Returns the object encoded in the type's ``archiveFormat``.
    ///
    /// - Throws: The error of the encoder.
    public func archive() throws -> Data { try archiveData() }

    /// Returns an object decoded from data of any format.
    ///
    /// - Throws: The error of the decoder.
    public static func deArchive(fromData data: Data) throws -> any Archivable {
        try decode(archive: data)
    }

    // The new names call the old ones, so that a type of version 1 that writes its own data is
    // still asked for it.

    /// Returns the object encoded in the type's ``archiveFormat``. The name of ``archive()`` in
    /// version 1.
    public func archiveData() throws -> Data { try Self.archiveFormat.encode(self) }

    /// Returns an object decoded from data of any format. The name of ``deArchive(fromData:)`` in
    /// version 1.
    public static func decode(archive data: Data) throws -> any Archivable {
        try CodableFormat.decode(Self.self, from: data)
    }
}
