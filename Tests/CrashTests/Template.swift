import CrashScript
import Foundation
import RawDatabase
import VellumCore
import VellumEngine
import VellumTestSupport

/// The initial folder of a script: created once and copied.
final class Template: Sendable {
    let folder: String
    let model: Model
    private let root: TemporaryDirectory

    private static let made = Locked<[Script: Template]>([:])

    static func of(_ script: Script) throws -> Template {
        try made.withLock { made in
            if let template = made[script] { return template }
            let template = try Template(script)
            made[script] = template
            return template
        }
    }

    private init(_ script: Script) throws {
        root = try TemporaryDirectory()
        folder = root.file("template").path
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        let model = Model()
        guard !script.preparation().isEmpty else {
            self.model = model
            return
        }
        let performer = Performer(in: folder, model, try Journal(root.file("preparation").path))
        for step in script.preparation() { try performer.perform(step) }
        try performer.close()
        self.model = performer.model
    }
}
