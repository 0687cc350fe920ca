internal import Foundation
internal import VellumFiles
extension ArchiveFile {
    func backup(to url: URL, progress: (Progress) throws -> Void = { _ in }) throws { throw Failure(.failed, "not yet") }
    static func restore(from backup: URL, to url: URL) throws -> URL? { throw Failure(.failed, "not yet") }
    func compact() throws { throw Failure(.failed, "not yet") }
}
