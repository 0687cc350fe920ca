#if Valkey
    import Foundation

    /// Starts the server and the processes, kills the server, starts it again, and prints what the
    /// processes did in each second.
    struct Conductor {
        private static let processes = 4
        private static let (killed, restarted) = (6, 10)
        private let port = Int.random(in: 20_000..<30_000)
        private let folder = FileManager.default.temporaryDirectory.appendingPathComponent(
            "Fleet-\(UUID().uuidString)"
        )

        private func startServer() throws -> Process {
            let server = Process()
            server.executableURL = URL(fileURLWithPath: "/usr/bin/env")
            server.arguments = [
                "redis-server", "--port", "\(port)", "--bind", "127.0.0.1", "--dir", folder.path,
                "--save", "",
            ]
            server.standardOutput = FileHandle.nullDevice
            try server.run()
            return server
        }

        private func startWorker(_ number: Int) throws -> (Process, FileHandle) {
            let (worker, output) = (Process(), Pipe())
            worker.executableURL = URL(fileURLWithPath: CommandLine.arguments[0])
            worker.arguments = ["worker", "\(number)", "\(port)"]
            worker.standardOutput = output
            try worker.run()
            return (worker, output.fileHandleForReading)
        }

        func run() throws {
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
            defer {
                do { try FileManager.default.removeItem(at: folder) } catch {
                    print("The folder remains: \(folder.path)")
                }
            }
            var server = try startServer()
            defer { kill(server.processIdentifier, SIGKILL) }
            print(
                """
                \(Self.processes) processes with 8 tasks each ask for 20 prices, which are valid \
                for 3 s and take 200 ms to load.
                Without a cache that they share, each of them would load each price: 80 loads in 3 \
                s. With it, there are 20.

                second     reads   near hits   server   loads   failed   slowest
                """
            )
            let workers = try (1...Self.processes).map { try startWorker($0) }
            var lines = workers.map { Lines($0.1) }
            var loads: [Int] = []
            for second in 1...Worker.seconds {
                if second == Self.killed {
                    kill(server.processIdentifier, SIGKILL)
                    server.waitUntilExit()
                    print("           The server is killed: each process loads by itself, once.")
                }
                if second == Self.restarted {
                    server = try startServer()
                    print("           The server is back, and empty.")
                }
                var sums = [Int](repeating: 0, count: 8)
                for number in lines.indices {
                    guard
                        let fields = lines[number].next()?.split(separator: " ").compactMap({
                            Int($0)
                        }), fields.count == 8
                    else {
                        continue
                    }
                    for field in 2..<7 { sums[field] += fields[field] }
                    sums[7] = max(sums[7], fields[7])
                }
                loads.append(sums[5])
                let share = sums[2] == 0 ? 0 : 100 * sums[3] / sums[2]
                let columns = [
                    (second, 6), (sums[2], 10), (share, 10), (sums[4], 9), (sums[5], 8),
                    (sums[6], 9), (sums[7], 7),
                ]
                let texts = columns.map {
                    String(repeating: " ", count: max(0, $0.1 - String($0.0).count)) + String($0.0)
                }
                print(
                    """
                    \(texts[0])\(texts[1])\(texts[2]) \
                    %\(texts[3])\(texts[4])\(texts[5])\(texts[6]) ms
                    """
                )
                fflush(nil)
            }
            for (worker, _) in workers { worker.waitUntilExit() }
            // Without the first second and that of the kill, in which everything is loaded for the
            // first time.
            let (with, without) = (
                loads[1..<Self.killed - 1], loads[Self.killed..<Self.restarted - 1]
            )
            let (usual, alone) = (
                Double(with.reduce(0, +)) / Double(with.count),
                Double(without.reduce(0, +)) / Double(without.count)
            )
            print(
                """

                Loads per second: \(usual.formatted(.number.precision(.fractionLength(1)))) with \
                the server, \(alone.formatted(.number.precision(.fractionLength(1)))) without it, \
                \((alone / max(usual, 0.1)).formatted(.number.precision(.fractionLength(1)))) \
                times as many: each process remembers what it has loaded.
                """
            )
        }
    }

    /// The lines of a file, as they come.
    struct Lines {
        private let file: FileHandle
        private var rest = Data()

        init(_ file: FileHandle) { self.file = file }

        mutating func next() -> String? {
            while true {
                if let end = rest.firstIndex(of: UInt8(ascii: "\n")) {
                    defer { rest = Data(rest[(end + 1)...]) }
                    return String(decoding: rest[..<end], as: UTF8.self)
                }
                let more = file.availableData
                guard !more.isEmpty else { return nil }
                rest += more
            }
        }
    }
#endif
