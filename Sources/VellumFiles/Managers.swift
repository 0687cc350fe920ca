public import MiniCache
public import Vellum
internal import VellumEngine

extension ArchivesFactory {
    /// Returns this factory's file, without the types of what it holds. It is opened, and stays so
    /// until the factory is closed.
    ///
    /// - Throws: ``VellumError`` if the file cannot be opened.
    public func file() throws -> ArchiveFile { ArchiveFile(try openFile()) }

    /// Returns an archive of this factory's file without its type; `nil` if there is none of that
    /// name.
    ///
    /// ```swift
    /// if let users = try factory.rawArchive(named: "User") {
    ///     print(try users.value(forKey: "ann")?.json() ?? "nobody")
    /// }
    /// ```
    ///
    /// - Parameter name: As ``ArchivesFactory/archives()`` lists it.
    /// - Throws: ``VellumError`` if the file cannot be opened or read.
    public func rawArchive(named name: String) throws -> RawArchive? {
        try file().archive(named: name)
    }
}

extension MiniCacheManager {
    /// Returns this manager's file, without the types of what it holds. It is opened, and stays so
    /// until the manager is closed.
    ///
    /// - Throws: ``MiniCacheError`` if the file cannot be opened.
    public func storedFile() throws(MiniCacheError) -> ArchiveFile { ArchiveFile(try openFile()) }

    /// Returns a cache of this manager's file without its types; `nil` if there is none of that
    /// name.
    ///
    /// - Parameter name: As ``MiniCacheManager/caches()`` lists it.
    /// - Throws: ``MiniCacheError`` if the file cannot be opened or read.
    public func rawCache(named name: String) throws(MiniCacheError) -> RawArchive? {
        try storedFile().archive(named: name)
    }
}
