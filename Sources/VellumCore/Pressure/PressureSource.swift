#if canImport(Darwin)
    internal import Dispatch
#elseif canImport(Glibc)
    internal import Glibc
#elseif canImport(Musl)
    internal import Musl
#endif

/// Waits for the signals of the system that memory is short.
enum PressureSource {
    #if canImport(Darwin)
        static func start(_ holders: MemoryHolders) {
            let source = DispatchSource.makeMemoryPressureSource(eventMask: [.warning, .critical], queue: .global())
            // The source stays for as long as the process: its handler has it.
            source.setEventHandler { holders.systemDidAnnounce(source.data.contains(.critical) ? .critical : .warning) }
            source.activate()
        }
    #else
        static func start(_ holders: MemoryHolders) {
            BlockingPool.startOnNewThread { wait(in: .ofThisProcess(), holders) }
        }

        /// How long at least is between two announcements, in milliseconds: what was given back takes effect first.
        private static let pause: Int32 = 1000

        /// Waits for as long as there is a signal to wait for. Uses no processor meanwhile.
        static func wait(in group: ControlGroup, _ holders: MemoryHolders) {
            var rule = PressureRule(group.events())
            var signals = group.signals()
            while !signals.isEmpty {
                var waits = signals.map { pollfd(fd: $0.descriptor, events: Int16(POLLPRI), revents: 0) }
                guard poll(&waits, nfds_t(waits.count), -1) > 0 else { continue }
                let fired = zip(signals, waits).filter { $1.revents & Int16(POLLPRI) != 0 }.map(\.0.kind)
                if let pressure = rule.pressure(group.events(), fired, anonymousShare: group.anonymousShare) {
                    holders.systemDidAnnounce(pressure)
                    poll(nil, 0, pause)
                }
                // A group that was removed fires without an event.
                for (signal, wait) in zip(signals, waits) where wait.revents != 0 && wait.revents & Int16(POLLPRI) == 0 {
                    close(signal.descriptor)
                }
                signals = zip(signals, waits).filter { $1.revents == 0 || $1.revents & Int16(POLLPRI) != 0 }.map(\.0)
            }
        }
    #endif
}

extension MemoryHolders {
    /// Lets the allocator return to the system what was released: glibc keeps small blocks otherwise.
    static func giveBackUnused() {
        #if canImport(Glibc)
            typealias Trim = @convention(c) (Int) -> Int32
            // Not declared in the module that Swift has of the C library. A null handle searches the whole program.
            if let trim = dlsym(nil, "malloc_trim") { _ = unsafeBitCast(trim, to: Trim.self)(0) }
        #endif
    }
}
