public import VellumCore

// Calls that a reader tries first. They do not compile, and the message says what to write.

extension ArchivesFactory {
    /// The archive of a type, with the labels of
    /// ``store(for:memoryLimit:diskLimit:expiration:keepExpiredFor:)``.
    @_disfavoredOverload
    @available(
        *,
        unavailable,
        message: """
            Write trySetMaxMemorySize: and trySetMaxDiskSize:, or call \
            store(for:memoryLimit:diskLimit:)
            """
    )
    public func archives<Archive: Archivable>(
        for type: Archive.Type = Archive.self,
        memoryLimit: DataSize? = nil,
        diskLimit: DataSize? = nil,
        expiration: Expiration? = nil
    ) throws -> ArchiveManager<Archive> {
        preconditionFailure()
    }

    /// An archive whose type is missing.
    @_disfavoredOverload
    @available(
        *,
        unavailable,
        message: "Name the type of the objects: let users = try factory.store(for: User.self)"
    )
    public func store(
        memoryLimit: DataSize? = nil,
        diskLimit: DataSize? = nil,
        expiration: Expiration? = nil
    ) throws -> ArchivesFactory {
        preconditionFailure()
    }
}
