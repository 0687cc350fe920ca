package import VellumCore
package import VellumEngine

// For a test kit.

extension ArchiveStore {
    /// The file and the archive.
    package var place: (file: DatabaseFile, archive: VellumEngine.Archive) { store.place }

    /// How many callers wait for loads.
    package var waitingCallers: Int { store.waitingCallers }

    /// Runs `body` with the store of the engine, if the archive is open.
    package func withStore<Result>(_ body: (Store<Archive>) throws(VellumError) -> Result) throws(VellumError) -> Result {
        try withOpenHandle { () throws(VellumError) in try body(store) }
    }
}
