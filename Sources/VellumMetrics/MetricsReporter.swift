public import MiniCache
public import MiniCacheValkey
public import Vellum
internal import VellumCore
internal import VellumEngine

#if Metrics
    public import CoreMetrics
#endif

/// Reports to swift-metrics what archives and caches do, at an interval.
///
/// ```swift
/// let reporter = MetricsReporter(every: .seconds(10))
/// reporter.add(users)
/// reporter.add(rates)
/// await reporter.run()
/// ```
///
/// A report compares `statistics()` with those of the last one, so that a hit costs no more. Make
/// one reporter in a program, after `MetricsSystem.bootstrap`. The guide *In production* has the
/// names. Dimensions are names of caches and files; no key and no value.
///
/// It keeps no archive and no cache open. The gauges of one that is closed or released are set to
/// zero and destroyed; its counters stay, and go on when it is opened and added again. What cannot
/// be read is left out, and the next report tries again.
public final class MetricsReporter: Sendable {
    private let interval: Duration
    private let sources = Locked<[Source]>([])
    #if Metrics
        private let instruments: Instruments

        /// Creates a reporter without archives and caches.
        ///
        /// - Parameters:
        ///   - interval: How long ``run()`` waits between two reports: a tenth of a second to a
        ///     day.
        ///   - factory: The backend; `nil` for that of `MetricsSystem`.
        public init(
            every interval: Duration = .seconds(10),
            factory: (any MetricsFactory)? = nil
        ) {
            self.interval = min(
                max(interval, .milliseconds(100)),
                .seconds(86_400)
            )
            instruments = Instruments(factory)
        }
    #else
        /// Needs the package trait `Metrics`.
        @available(
            *,
            unavailable,
            message: """
                Metrics need the trait 'Metrics'. In Package.swift, add traits: [\"Metrics\"] to \
                the .package line of Vellum.
                """
        )
        public init(every interval: Duration = .seconds(10)) { self.interval = interval }
    #endif

    /// Reports an archive from now on, whichever handle uses it. Adding it again has no effect.
    public func add<Archive>(_ archive: ArchiveStore<Archive>) {
        let store = archive.engineStore
        add(store) { [weak store] in
            store.map {
                Reading(
                    $0,
                    of: ["cache.name": Log.displayed($0.name), "cache.kind": "archive"]
                )
            }
        }
    }

    /// Reports a cache from now on, whichever handle uses it, and whenever it is open. Adding it
    /// again has no effect.
    public func add<Key, Value>(_ cache: MiniCache<Key, Value>) {
        let (owner, store) = cache.shared
        add(owner) {
            store().map {
                Reading(
                    $0,
                    of: ["cache.name": Log.displayed($0.name), "cache.kind": "cache"]
                )
            }
        }
    }

    /// Reports a shared cache from now on. Adding it again has no effect.
    public func add<Key, Value>(_ cache: SharedCache<Key, Value>) {
        let store = cache.sharedStore
        add(store) { [weak store] in
            guard let store else { return nil }
            var reading = Reading(store: store)
            reading.figures.add(
                store.statistics,
                of: ["cache.name": store.name, "cache.kind": "shared"]
            )
            return reading
        }
    }

    private func add(
        _ owner: any AnyObject & Sendable,
        read: @escaping @Sendable () -> Reading?
    ) {
        let present = sources.withLock { sources in
            let owners = sources.map { $0.owner() }
            sources = zip(sources, owners).filter { $1 != nil }.map(\.0)
            if !owners.contains(where: { $0 === owner }) {
                sources.append(Source(owner: { [weak owner] in owner }, read: read))
            }
            return owners
        }
        withExtendedLifetime(present) {}
    }

    /// Reports once, for tests and for a backend that is asked. Blocks for the disk, some
    /// microseconds for each archive.
    ///
    /// - Complexity: O(archives and caches).
    public func report() {
        let (figures, readings) = sources.withLock { sources in
            var figures = Figures()
            var readings = [Reading]()
            var files = [ObjectIdentifier: DatabaseFile]()
            for index in sources.indices {
                guard let reading = sources[index].read() else { continue }
                // Another store counts from zero.
                let last =
                    sources[index].store === reading.store
                    ? sources[index].last
                    : Figures()
                figures.add(reading.figures.changes(since: last))
                sources[index].store = reading.store
                sources[index].last = reading.figures
                readings.append(reading)
                if let file = reading.file { files[ObjectIdentifier(file)] = file }
            }
            for file in files.values {
                let name = [
                    "vellum.file": file.path.split(separator: "/").last.map(String.init)
                        ?? ""
                ]
                var all = Figures()
                all.add("vellum.file.size", file.fileSize.bytes, .gauge, name)
                all.add("vellum.file.log.size", file.logSize.bytes, .gauge, name)
                all.add("vellum.file.waiting_writers", file.waitingWriters, .gauge, name)
                figures.add(all)
            }
            return (figures, readings)
        }
        // One of them may be the last reference to its store, whose values are not released under
        // the lock, as in `add`.
        withExtendedLifetime(readings) {}
        #if Metrics
            instruments.record(figures)
        #endif
    }

    /// Reports now, at each interval and at the end, until the task is cancelled. Blocks a thread
    /// of tasks at the end only.
    ///
    /// It is the `run()` of a service of swift-service-lifecycle: run it inside of
    /// `cancelWhenGracefulShutdown`.
    public func run() async {
        repeat {
            do {
                try await Lane.visits.run { self.report() }
                try await Task.sleep(for: interval)
            } catch {}  // The task is cancelled.
        } while !Task.isCancelled
        report()
    }
}

/// An archive or a cache, referenced weakly.
private struct Source: Sendable {
    var owner: @Sendable () -> (any AnyObject & Sendable)?
    var read: @Sendable () -> Reading?
    /// What was reported last, and of which store: another may get the address of one that is gone.
    var last = Figures()
    weak var store: (any AnyObject & Sendable)?
}

/// The figures of a store, and its file unless it is closed.
private struct Reading: Sendable {
    var store: any AnyObject & Sendable
    var figures = Figures()
    var file: DatabaseFile?
}

extension Reading {
    init<Value>(
        _ store: Store<Value>,
        of cache: [String: String]
    ) {
        self.init(store: store)
        let counters = store.counters
        figures.add(counters, of: cache)
        // The counters of a closed store are final, and it has no size.
        guard !store.isClosed, !store.isReplaced else { return }
        file = store.fileAndArchive.file
        figures.add(counters.memory, store.capacities.memory, in: "memory", of: cache)
        do throws(VellumError) {
            figures.add(
                try store.statistics().disk,
                store.capacities.disk,
                in: "disk",
                of: cache
            )
        } catch {}  // The file is suspended, or fails: its callers have the error.
    }
}
