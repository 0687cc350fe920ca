import VellumCore
@testable import VellumEngine

extension DatabaseFile {
    /// Makes every transaction fail, until it is given `nil`. Suspending the file makes every call
    /// fail.
    func failWrites(_ code: Int32?) {
        _ = withWriter { writer -> Void? in
            writer.connection.writeRefusal = code.map {
                SQLiteError(code: $0, message: "A test makes it fail.")
            }
        }
    }
}

/// Codes of SQLite.
let (full, busy, inputOutput): (Int32, Int32, Int32) = (13, 5, 10)
