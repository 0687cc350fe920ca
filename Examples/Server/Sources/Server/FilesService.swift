import MiniCache
import ServiceLifecycle
import Vellum

/// Closes the files when everything that uses them has ended: it is
/// the first of the services, and they end in the reverse order.
struct FilesService: Service {
    let factory: ArchivesFactory
    let manager: MiniCacheManager

    func run() async throws {
        // A shutdown that takes too long cancels this task, which closes
        // the files all the same.
        do { try await gracefulShutdown() } catch is CancellationError {}
        try factory.close()
        try manager.close()
    }
}
