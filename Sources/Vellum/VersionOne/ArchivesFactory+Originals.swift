internal import Foundation
public import VellumCore
internal import VellumEngine

// Objects that version 1 kept in files are taken over when the archive of their type is opened.

extension ArchivesFactory {
    /// The progress of taking over objects of version 1, from now on: a value after each transaction, of every type.
    ///
    /// ```swift
    /// Task { for await takeOver in factory.takeOvers { progress.completedUnitCount = Int64(takeOver.examined) } }
    /// ```
    ///
    /// A store's ``StoreEvent/tookOver(_:)`` has the last one.
    public var takeOvers: some AsyncSequence<TakeOver, Never> & Sendable { takeOverHub.events() }

    /// Deletes the folders in which files of version 1 are kept after their objects were taken over.
    ///
    /// Call it when the program no longer needs them, for example when no user goes back to an older version of it, and when it has opened
    /// every type: a type that is opened later takes over nothing from them. Files that no type could decode, and folders of types that were
    /// never opened, stay. Blocks for the disk.
    ///
    /// - Returns: How many folders were deleted.
    /// - Complexity: O(n) for n files.
    /// - Throws: The error of the file system if a folder cannot be deleted.
    @discardableResult
    public func removeOriginals() throws -> Int {
        guard let originals else { return 0 }
        return try OriginalFolder.removeKept(in: originals)
    }

    /// Takes over what version 1 kept of a type, once for each opening of the file.
    func takeOverOriginals<Archive: Archivable>(
        into store: Store<Archive>, formerNames: [String], _ methods: Methods
    ) throws(VellumError) {
        let type = ObjectIdentifier(Archive.self)
        guard let originals, state.withLock({ !$0.typesWithoutOriginals.contains(type) }) else { return }
        do throws(VellumError) {
            for name in OriginalName.folders(of: Archive.self, formerNames: formerNames) {
                guard let folder = OriginalFolder(named: name, in: originals) else { continue }
                let takeOver = try store.takeOver(folder) { takeOverHub.send($0) }
                guard let takeOver else { continue }
                Report.tookOver(takeOver, folder.path)
            }
        } catch {
            guard methods == .nonThrowing else { throw error }
            // The files are still there; the next opening goes on.
            Report.failure(error, operation: "archives(for:)", Archive.self)
            store.events.keep(.failure(error))
            return
        }
        state.withLock { _ = $0.typesWithoutOriginals.insert(type) }
    }
}
