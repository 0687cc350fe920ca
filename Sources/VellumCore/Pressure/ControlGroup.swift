#if !canImport(Darwin)
    #if canImport(Glibc)
        internal import Glibc
    #elseif canImport(Musl)
        internal import Musl
    #endif

    /// The control group (version 2) of the process, and the files of the kernel that tell how
    /// short of memory it is.
    struct ControlGroup: Sendable {
        /// The folder of the group; `nil` if it cannot be found.
        var folder: String?
        /// The stalls of the whole machine.
        var machine = "/proc/pressure/memory"

        static func ofThisProcess() -> ControlGroup {
            ControlGroup(
                folder: folder(
                    group: text("/proc/self/cgroup") ?? "",
                    mounts: text("/proc/self/mountinfo") ?? ""
                )
            )
        }

        /// Returns the folder of the group, by what `/proc/self/cgroup` and `/proc/self/mountinfo`
        /// say.
        static func folder(group: String, mounts: String) -> String? {
            guard
                let path = group.split(separator: "\n").first(
                    where: { $0.hasPrefix("0::/") }
                )?
                .dropFirst(3)
            else { return nil }
            for mount in mounts.split(separator: "\n") {
                let words = mount.split(separator: " ")
                guard words.count > 6,
                    let dash = words.firstIndex(of: "-"),
                    dash + 1 < words.count,
                    words[dash + 1] == "cgroup2"
                else {
                    continue
                }
                let root = words[3]
                let point = words[4]
                // In a container, the root may be the group itself, or one above it.
                let below =
                    root == "/" ? path : path.hasPrefix(root) ? path.dropFirst(root.count) : ""
                let isAbove = below.split(separator: "/").contains("..")
                return String(point) + (isAbove || below == "/" ? "" : String(below))
            }
            return nil
        }

        // MARK: Reading

        /// The part of a limit that is not of files; `nil` without one.
        func anonymousShare(of limit: PressureRule.Limit) -> Double? {
            guard let folder,
                let most = Self.text("\(folder)/memory.\(limit)").flatMap({
                    Double($0.trimmingNewline)
                }), most > 0,
                let line = Self.text(folder + "/memory.stat")?.split(separator: "\n").first(where: {
                    $0.hasPrefix("anon ")
                }),
                let anonymous = Double(line.dropFirst(5))
            else { return nil }
            return anonymous / most
        }

        static func text(_ path: String) -> String? {
            guard let file = SystemFile(path, O_RDONLY) else { return nil }
            defer { close(file.descriptor) }
            return file.text()
        }

        // MARK: Waiting

        struct Signal: Sendable {
            var kind: PressureRule.Signal
            fileprivate var file: SystemFile

            var descriptor: Int32 { file.descriptor }

            func text() -> String? { file.text() }

            /// What the file says after the kernel has signalled these events; `nil` if it signals
            /// nothing more.
            func text(after events: Int16) -> String? {
                // A file of counts has an error with each signal. Of a stall it means that the
                // group was removed.
                let gone = kind == .events ? POLLNVAL : POLLNVAL | POLLERR
                return events & Int16(gone) == 0 ? text() : nil
            }

            func end() { close(descriptor) }
        }

        /// Opens what can be waited for. Another process may not be allowed to.
        func signals() -> [Signal] {
            var signals: [Signal] = []
            if let events = folder.flatMap({ SystemFile($0 + "/memory.events", O_RDONLY) }) {
                signals.append(Signal(kind: .events, file: events))
            }
            // The windows of two seconds are those that every user may ask for.
            return signals + [PressureRule.Signal.someStall, .fullStall].compactMap(stall)
        }

        /// Asks for a signal when tasks waited for memory for so many of two million microseconds.
        private func stall(_ kind: PressureRule.Signal) -> Signal? {
            let trigger = "\(kind == .fullStall ? "full" : "some") \(kind.threshold) 2000000"
            for path in [folder.map { $0 + "/memory.pressure" }, machine].compactMap(\.self) {
                guard let file = SystemFile(path, O_RDWR | O_NONBLOCK) else { continue }
                if file.request(trigger) { return Signal(kind: kind, file: file) }
                close(file.descriptor)
            }
            return nil
        }
    }

    /// An open file of the kernel.
    private struct SystemFile {
        let descriptor: Int32

        init?(_ path: String, _ flags: Int32) {
            descriptor = StandardStreams.avoiding { open(path, flags | O_CLOEXEC) }
            guard descriptor >= 0 else { return nil }
        }

        /// Its beginning, as long as such files are.
        func text() -> String? {
            var bytes = [UInt8](repeating: 0, count: 65_536)
            let count = pread(descriptor, &bytes, bytes.count, 0)
            return count >= 0 ? String(decoding: bytes[..<count], as: UTF8.self) : nil
        }

        /// A trigger ends with a zero.
        func request(_ trigger: String) -> Bool {
            let bytes = Array(trigger.utf8) + [0]
            return write(descriptor, bytes, bytes.count) == bytes.count
        }
    }

    extension String {
        fileprivate var trimmingNewline: Substring { hasSuffix("\n") ? dropLast() : self[...] }
    }
#endif
