internal import VellumCore

// Decision 50.

/// A type that declares its version, and makes objects of older versions into current ones.
///
/// ```swift
/// struct Invoice: ArchiveCodable, VersionedArchive {
///     var primaryKey: String { number }
///     var number: String
///     var client: String  // "customer" in version 0
///
///     static var archiveVersion: Int { 1 }
///
///     static func migrate(_ old: StoredObject) throws -> Migrated<Invoice> {
///         var value = try old.value()
///         value["client"] = value.removeValue(forKey: "customer")
///         return .object(try value.decode(Invoice.self))
///     }
/// }
/// ```
///
/// An object of an older version is migrated whenever it is read, and once in the background, where
/// the result takes its place. Its dates, its age and its place in the eviction order stay. An
/// object of a newer version, which a newer program recorded, is an error with the code
/// ``VellumError/Code/newerVersion``.
///
/// A structure, an enumeration or a final class can conform. The values of a `MiniCache` are
/// migrated when they are read.
public protocol VersionedArchive: SendableMetatype {
    /// `Int`, unless the type only declares ``formerArchiveNames``.
    associatedtype ArchiveVersionNumber: ModelVersionNumber

    /// The version of the type, an `Int`. Raise it by one whenever ``migrate(_:)`` has something
    /// new to do. Without it a type is of version 0, as every type is that does not conform, and
    /// must declare ``formerArchiveNames``.
    static var archiveVersion: ArchiveVersionNumber { get }

    /// Earlier names of the archive, newest first, for a type that was renamed or moved to another
    /// module.
    ///
    /// If there is no archive of the type's own name, or it never held an object, the first of
    /// these is opened in its place, and keeps its name in the file: keep this list as long as
    /// there may be such files. A name without a dot also stands for that type in any module; if
    /// the file has several such archives, opening throws ``VellumError/Code/contradiction``.
    /// Prefer full names.
    static var formerArchiveNames: [String] { get }

    /// Makes an object of an older version into a current one. A type with an
    /// ``archiveVersion`` must implement it; if the old data still fit, it returns
    /// `.object(try old.decode(Self.self))`.
    ///
    /// Must be a function of its argument alone: it may run several times for one object, on any
    /// thread, before its result is recorded. If it throws, the object stays as it is, and is an
    /// error for every reader.
    static func migrate(_ old: StoredObject) throws -> Migrated<Self>
}

// A default is there only where it is what the type means. A slip in a name or a type selects an
// unavailable one, and the compiler says what to write: otherwise old objects would be decoded as
// if nothing had changed, or a renamed archive be begun anew.

extension VersionedArchive where ArchiveVersionNumber == Int {
    /// None.
    public static var formerArchiveNames: [String] { [] }

    /// To be implemented by the type.
    @available(
        *,
        unavailable,
        message: "Write 'static func migrate(_ old: StoredObject) throws -> Migrated<Self>'"
    )
    public static func migrate(_ old: StoredObject) throws -> Migrated<Self> { .remove }
}

extension VersionedArchive where ArchiveVersionNumber == NoModelVersion {
    /// 0.
    public static var archiveVersion: NoModelVersion { NoModelVersion() }

    /// Throws: no object is older than version 0.
    public static func migrate(_ old: StoredObject) throws -> Migrated<Self> {
        throw VellumError(.invalidVersion, "\(Self.self) declares no archiveVersion.")
    }
}

extension VersionedArchive {
    /// To be declared by a type without an ``archiveVersion``.
    @available(
        *,
        unavailable,
        message: "Write 'static var archiveVersion: Int', or only the former names as '[String]'"
    )
    public static var formerArchiveNames: [String] { [] }
}

/// The type of ``VersionedArchive/archiveVersion``: `Int`. No other type should conform.
public protocol ModelVersionNumber: Sendable {}

extension Int: ModelVersionNumber {}

/// The version of a type that only declares ``VersionedArchive/formerArchiveNames``.
public struct NoModelVersion: ModelVersionNumber {}

/// What ``VersionedArchive/migrate(_:)`` makes of an object.
public enum Migrated<Object> {
    /// The object takes the old one's place. If its primary key is another, the object moves there;
    /// if there is an object already, the one that was recorded later stays.
    case object(Object)
    /// The object is deleted.
    case remove
}

extension Migrated: Sendable where Object: Sendable {}
