import MiniCache
import ServiceLifecycle
import Vellum

/// A service of swift-service-lifecycle: what was written is on the disk
/// when the server has shut down. It is the first of the services,
/// because they end in the reverse order.
struct FilesService: Service {
    let factory: ArchivesFactory
    let manager: MiniCacheManager

    func run() async throws {
        // Also if the shutdown takes too long, and cancels this task.
        do { try await gracefulShutdown() } catch is CancellationError {}
        try factory.close()
        try manager.close()
    }
}
