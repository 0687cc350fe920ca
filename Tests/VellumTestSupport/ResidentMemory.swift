internal import Foundation

/// How much memory of the process is in use.
package enum ResidentMemory {
    /// In bytes; `nil` where the system does not tell it in a file (proc_pid_statm(5)).
    package static var bytes: Int? {
        guard let text = FileManager.default.contents(atPath: "/proc/self/statm") else {
            return nil
        }
        let fields = String(decoding: text, as: UTF8.self).split(separator: " ")
        return fields.count > 1
            ? Int(fields[1]).map { $0 * Int(sysconf(Int32(_SC_PAGESIZE))) } : nil
    }
}

/// Runs an operation with the numbers from 0 on, and returns by how many bytes memory has grown in
/// the last three quarters.
///
/// - Returns: `nil` where memory cannot be measured.
package func growth(
    during operations: Int,
    of operation: (Int) async throws -> Void
) async throws -> Int? {
    var before: Int?
    for number in 0..<operations {
        if number == operations / 4 { before = ResidentMemory.bytes }
        try await operation(number)
    }
    guard let before, let after = ResidentMemory.bytes else { return nil }
    return after - before
}
