public import Foundation

/// The folder of a run: stores that are filled once for several comparisons, and the measurements.
public struct Workspace: Sendable {
    /// The folder.
    public let folder: URL
    /// Whether to skip the stores of a million entries and to measure for a short time.
    public let isQuick: Bool

    /// Creates the workspace of `run.sh`, or one in the temporary folder.
    public init() {
        let environment = ProcessInfo.processInfo.environment
        let path =
            environment["VELLUM_BENCH_FOLDER"] ?? FileManager.default.temporaryDirectory.path
            + "/vellum-bench"
        folder = URL(fileURLWithPath: path, isDirectory: true)
        isQuick = environment["VELLUM_BENCH_QUICK"] != nil
    }

    /// Returns a subfolder, which is created if it is missing.
    public func folder(_ name: String) throws -> URL {
        let url = folder.appendingPathComponent(name, isDirectory: true)
        try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
        return url
    }

    // MARK: Measurements

    /// Writes the measurements of a comparison.
    public func write(_ outcome: Outcome) throws {
        let name = "\(outcome.work.rawValue)-\(outcome.subject)-\(outcome.scale).json".replacing(
            "/",
            with: "_"
        )
        try JSONEncoder().encode(outcome).write(to: folder("outcomes").appendingPathComponent(name))
    }

    /// Reads the measurements of all comparisons, in the order of their names.
    public func outcomes() throws -> [Outcome] { try read("outcomes") }

    /// Writes figures under a name.
    public func write(_ figures: [Figure], named name: String) throws {
        try JSONEncoder().encode(figures).write(
            to: folder("figures").appendingPathComponent(name + ".json")
        )
    }

    /// Reads all figures, in the order of their names.
    public func figures() throws -> [Figure] {
        let lists: [[Figure]] = try read("figures")
        return Array(lists.joined())
    }

    private func read<Value: Decodable>(_ name: String) throws -> [Value] {
        let files = try FileManager.default.contentsOfDirectory(
            at: folder(name),
            includingPropertiesForKeys: nil
        )
        return try files.sorted { $0.path < $1.path }.map {
            try JSONDecoder().decode(Value.self, from: Data(contentsOf: $0))
        }
    }
}
