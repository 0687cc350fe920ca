internal import VellumCore
internal import VellumEngine

extension DatabaseFile {
    /// How far data of the original libraries was imported into this file: an archive of its own,
    /// whose entries are written in the transactions that import.
    func importProgress<Progress: Codable & Sendable>(
        of type: Progress.Type
    ) throws(VellumError) -> Store<Progress> {
        var options = StoreOptions<Progress>()
        options.policy = .share
        return try store(named: importProgressName, codec: CodableCodec<Progress>(), options)
    }
}

/// The name of that archive. No type has one that begins so.
package let importProgressName = "\u{1}originals"

extension ImportCounts {
    /// Counts something that cannot be imported. The first one is logged.
    mutating func skip(_ message: String, _ error: any Error) {
        if skipped == 0 { Log.notice("\(message): \(codingReason(error)).") }
        skipped += 1
    }
}
