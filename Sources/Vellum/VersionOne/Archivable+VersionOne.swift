public import Foundation
internal import VellumCore
internal import VellumEngine

// Types written for version 1 have `archiveData()` and `decode(archive:)` only.

extension Archivable {
    /// Returns the data of ``archiveData()``, for types written for version 1.
    ///
    /// - Throws: The error of `archiveData()`; ``VellumError`` with the code
    ///   ``VellumError/Code/notEncodable`` if the type has neither method.
    @available(
        *,
        deprecated,
        message: """
            The type has no 'archive()'. Write it, or make the type Codable; rename an \
            'archiveData()' of Vellum 1.x to it.
            """
    )
    public func archive() throws -> Data { try archiveData() }

    /// Returns the object that ``decode(archive:)`` makes, for types written for version 1.
    ///
    /// - Throws: The error of `decode(archive:)`; ``VellumError`` with the code
    ///   ``VellumError/Code/notDecodable`` if the type has neither method.
    @available(
        *,
        deprecated,
        message: """
            The type has no 'deArchive(fromData:)'. Write it, or make the type Codable; rename a \
            'decode(archive:)' of Vellum 1.x to it.
            """
    )
    public static func deArchive(fromData data: Data) throws -> any Archivable {
        try decode(archive: data)
    }

    /// Throws an error that says which methods the type must have.
    public func archiveData() throws -> Data {
        throw VellumError(.notEncodable, Self.missingMethods)
    }

    /// Throws an error that says which methods the type must have.
    public static func decode(archive data: Data) throws -> any Archivable {
        throw VellumError(.notDecodable, missingMethods)
    }

    private static var missingMethods: String {
        """
        \(Self.self) cannot be archived: it is not Codable and has no 'archive()' and \
        'deArchive(fromData:)'. Conform it to ArchiveCodable, or write both methods.
        """
    }
}

// MARK: Methods of every object

extension Archivable {
    /// Records the object in the archive of its type in ``ArchivesFactory/shared``. Failures are
    /// logged.
    @available(
        *,
        deprecated,
        message: """
            Write 'try ArchivesFactory.shared.archives(for: User.self).update(user)' with your type.
            """
    )
    public func updateArchive() { Self.sharedArchives?.update(self) }

    /// Returns the object with the same key from the archive of its type in
    /// ``ArchivesFactory/shared``, or `nil`. Failures are logged.
    @available(
        *,
        deprecated,
        message: """
            Write 'try ArchivesFactory.shared.archives(for: User.self).access(archiveWithKey: \
            user.primaryKey)' with your type.
            """
    )
    public func archivedVersion() -> Self? {
        Self.sharedArchives?.access(archiveWithKey: primaryKey)
    }

    /// Records the archivable properties of the object in ``ArchivesFactory/shared``, as
    /// ``archivePropertyBehavior`` says. Failures are logged.
    @available(*, deprecated, message: "Recording the object records them.")
    public func archiveArchivablePropertiesIfNeeded() { archiveArchivableProperties() }

    /// Records the archivable properties of the object in ``ArchivesFactory/shared``, as
    /// ``archivePropertyBehavior`` says. Failures are logged.
    @available(*, deprecated, message: "Recording the object records them.")
    public func archiveArchivableProperties() {
        do {
            var transaction = StoreTransaction()
            try NestedArchives<Self>().add(propertiesOf: self, to: &transaction, .shared)
            try transaction.commit()
        } catch {
            Report.unopened(error, Self.self, in: ArchivesFactory.shared.fileURL)
        }
    }

    /// Returns a copy of an object of a class: by `NSCopying`, or by encoding and decoding it.
    /// Returns the object itself if that fails, and a value as it is.
    @available(
        *,
        deprecated,
        message: """
            Archives copy the objects that they return. Write a 'copy()' of your own for other uses.
            """
    )
    public func tryCopy() -> Self {
        guard type(of: self) is AnyObject.Type else { return self }
        if let copying = self as? any NSCopying, let copy = copying.copy(with: nil) as? Self {
            return copy
        }
        do {
            return try Self.deArchive(fromData: archive()) as? Self ?? self
        } catch {
            return self
        }
    }

    private static var sharedArchives: ArchiveManager<Self>? {
        do {
            return try ArchivesFactory.shared.archives()
        } catch {
            Report.unopened(error, Self.self, in: ArchivesFactory.shared.fileURL)
            return nil
        }
    }
}

extension Archivable where Self: Codable {
    /// Returns an object decoded from data of any format.
    ///
    /// - Throws: The error of the decoder.
    @available(
        *,
        deprecated,
        message: "Write 'try User.deArchive(fromData: data)' with your type, or use a decoder."
    )
    public static func decode(codableArchive data: Data) throws -> Self {
        try CodableFormat.decode(Self.self, from: data)
    }
}
