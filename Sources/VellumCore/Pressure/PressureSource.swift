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
            let source = DispatchSource.makeMemoryPressureSource(
                eventMask: [.warning, .critical],
                queue: .global()
            )
            // The source stays for as long as the process: its handler has it.
            source.setEventHandler {
                holders.systemDidAnnounce(source.data.contains(.critical) ? .critical : .warning)
            }
            source.activate()
        }
    #else
        static func start(_ holders: MemoryHolders) {
            Lane().start { wait(in: .ofThisProcess(), holders) }
        }

        /// How long the thread rests after each signal, in milliseconds: what was given back takes
        /// effect first.
        private static let pause: Int32 = 1000

        /// Waits for as long as there is a signal to wait for. Uses no processor meanwhile.
        static func wait(in group: ControlGroup, _ holders: MemoryHolders) {
            var rule = PressureRule()
            var signals = group.signals()
            rule.begin(signals.map { ($0.kind, $0.text() ?? "") })
            while !signals.isEmpty {
                var waits = signals.map {
                    pollfd(fd: $0.descriptor, events: Int16(POLLPRI), revents: 0)
                }
                guard poll(&waits, nfds_t(waits.count), -1) > 0 else {
                    if errno == EINTR { continue }
                    return signals.forEach { $0.end() }
                }
                var fired: [(PressureRule.Signal, String)] = []
                signals = zip(signals, waits).compactMap { signal, wait in
                    guard wait.revents != 0 else { return signal }
                    // The kernel clears the signal when this very descriptor is read. Of a group
                    // that was removed it cannot be.
                    guard let text = signal.text(after: wait.revents) else {
                        signal.end()
                        return nil
                    }
                    fired.append((signal.kind, text))
                    return signal
                }
                let pressure = rule.pressure(fired, at: CoarseClock.milliseconds) {
                    group.anonymousShare(of: $0)
                }
                if let pressure { holders.systemDidAnnounce(pressure) }
                poll(nil, 0, pause)
            }
        }
    #endif
}

extension MemoryHolders {
    /// Lets the allocator return to the system what was released: glibc keeps small blocks
    /// otherwise.
    static func giveBackUnused() {
        #if canImport(Glibc)
            typealias Trim = @convention(c) (Int) -> Int32
            // Not declared in the module that Swift has of the C library. A null handle searches
            // the whole program.
            if let trim = dlsym(nil, "malloc_trim") {
                _ = unsafeBitCast(trim, to: Trim.self)(0)
            }
        #endif
    }
}
