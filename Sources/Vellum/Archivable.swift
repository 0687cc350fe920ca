public import Foundation
public import VellumCore
internal import VellumEngine

/// An object that can be recorded in an archive: it has a key, and turns itself into data and back.
///
/// A `Codable` type gets everything but the key for free:
///
/// ```swift
/// struct User: ArchiveCodable {
///     var primaryKey: String { userName }
///     var userName: String
///     var age: Int
/// }
/// ```
///
/// Such a type is encoded as CBOR, a binary format, unless its ``archiveFormat`` says otherwise.
///
/// Any other type writes its own data, and a class need neither be final nor `Sendable`:
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
/// The methods run on the thread of whoever records or accesses, and never under a lock.
public protocol Archivable: SendableMetatype {
    /// The key that the object is recorded under: any string of at most 64 KiB. Keys are compared by canonical equivalence, like Swift's
    /// `==`.
    var primaryKey: String { get }

    /// The object as data. Their count is what every limit counts.
    func archive() throws -> Data

    /// An object from data that ``archive()`` made.
    ///
    /// - Returns: An object of this very type.
    static func deArchive(fromData data: Data) throws -> any Archivable

    /// The name of the archive that objects of this type are recorded in: the type's full name unless a type says otherwise.
    ///
    /// Pin it to be free to rename the type. A private or local type must: its full name holds an address that is another
    /// one at the next start.
    static var archiveName: String { get }

    /// What happens to an object of this type that is a property of one being recorded.
    static var archivePropertyBehavior: ArchivePropertyBehavior { get }

    /// What a `Codable` type is encoded as: CBOR unless a type says otherwise. Data of every format is read, whatever this says.
    ///
    /// ```swift
    /// static var archiveFormat: CodableFormat { .json }
    /// ```
    static var archiveFormat: CodableFormat { get }

    /// How large the object is as data. Encodes it to find out.
    var sizeOfData: DataSize { get }

    /// The name of ``archive()`` in version 1.
    func archiveData() throws -> Data

    /// The name of ``deArchive(fromData:)`` in version 1.
    static func decode(archive data: Data) throws -> any Archivable
}

/// A type that is archived by its `Codable` conformance.
public typealias ArchiveCodable = Archivable & Codable

/// What happens to an archivable property of an object that is being recorded.
public enum ArchivePropertyBehavior: Sendable {
    /// It is recorded in its own archive, over what is there.
    case replaceExisting
    /// It is recorded in its own archive if nothing is there.
    case insertIfNotPresent
    /// It is only part of the object that holds it.
    case ignore
}

extension Archivable {
    public static var archiveName: String { String(reflecting: Self.self) }

    public static var archivePropertyBehavior: ArchivePropertyBehavior { .insertIfNotPresent }

    public static var archiveFormat: CodableFormat { .cbor }

    /// Zero for an object that cannot be encoded.
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
    public func archive() throws -> Data { try archiveData() }

    public static func deArchive(fromData data: Data) throws -> any Archivable { try decode(archive: data) }

    // Below the new names and not above them, so that a type of version 1 that writes its own data is asked for it.
    public func archiveData() throws -> Data { try Self.archiveFormat.encode(self) }

    public static func decode(archive data: Data) throws -> any Archivable { try CodableFormat.decode(Self.self, from: data) }
}
