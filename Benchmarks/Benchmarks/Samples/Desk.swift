public import Foundation

/// The folder that a run works in: stores that were filled once for several comparisons, and what was measured.
public struct Desk: Sendable {
    /// Where the run works.
    public let folder: URL
    /// Whether to leave a million entries out and measure for a short while.
    public let isQuick: Bool

    /// The desk that `run.sh` made, or one in the folder for temporary files.
    public init() {
        let environment = ProcessInfo.processInfo.environment
        let path = environment["VELLUM_BENCH_FOLDER"] ?? FileManager.default.temporaryDirectory.path + "/vellum-bench"
        folder = URL(fileURLWithPath: path, isDirectory: true)
        isQuick = environment["VELLUM_BENCH_QUICK"] != nil
    }

    /// A folder inside, made if it is missing.
    public func folder(_ name: String) throws -> URL {
        let url = folder.appendingPathComponent(name, isDirectory: true)
        try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
        return url
    }

    // MARK: What was measured

    /// Records what a comparison measured.
    public func write(_ outcome: Outcome) throws {
        let name = "\(outcome.work.rawValue)-\(outcome.subject)-\(outcome.scale).json".replacing("/", with: "_")
        try JSONEncoder().encode(outcome).write(to: folder("outcomes").appendingPathComponent(name))
    }

    /// What the comparisons measured, in the order of their names.
    public func outcomes() throws -> [Outcome] { try read("outcomes") }

    /// Records figures under a name.
    public func write(_ figures: [Figure], named name: String) throws {
        try JSONEncoder().encode(figures).write(to: folder("figures").appendingPathComponent(name + ".json"))
    }

    /// The recorded figures, in the order of their names.
    public func figures() throws -> [Figure] {
        let lists: [[Figure]] = try read("figures")
        return Array(lists.joined())
    }

    private func read<Value: Decodable>(_ name: String) throws -> [Value] {
        let files = try FileManager.default.contentsOfDirectory(at: folder(name), includingPropertiesForKeys: nil)
        return try files.sorted { $0.path < $1.path }.map { try JSONDecoder().decode(Value.self, from: Data(contentsOf: $0)) }
    }
}
