import Foundation
import Shallows

// What the tests of Shallows share. Compiled in three modes, so nothing here leaves its isolation
// to the default.

/// What completions were called with, in the order in which it came: a test waits for as much of it
/// as it expects.
nonisolated struct Answers<Answer: Sendable>: Sendable {
    private let stream: AsyncStream<Answer>
    private let continuation: AsyncStream<Answer>.Continuation

    init() {
        (stream, continuation) = AsyncStream.makeStream()
    }

    func give(_ answer: Answer) { continuation.yield(answer) }

    func first(_ count: Int) async -> [Answer] {
        var answers: [Answer] = []
        for await answer in stream {
            answers.append(answer)
            if answers.count == count { break }
        }
        return answers
    }

    var first: Answer? { get async { await first(1).first } }
}

/// A folder that bears the name of a document's and is a test's own. Removed with the object.
nonisolated final class OwnFolder: Sendable {
    let name: String
    let url: URL

    init(_ name: String, in directory: FileManager.SearchPathDirectory = .cachesDirectory) {
        self.name = "\(name)-\(UUID().uuidString)"
        url = FileManager.default.urls(for: directory, in: .userDomainMask)[0]
            .appendingPathComponent(self.name, isDirectory: true)
    }

    deinit { try? FileManager.default.removeItem(at: url) }
}

/// Stands for UIKit's type of that name, which belongs to no actor either.
nonisolated struct UIImage: Equatable, Sendable {
    let pixels: String

    init?(data: Data) {
        guard let text = String(data: data, encoding: .utf8), text.hasPrefix("PNG ") else {
            return nil
        }
        pixels = String(text.dropFirst(4))
    }
}

/// Stands for UIKit's function of that name.
nonisolated func UIImagePNGRepresentation(_ image: UIImage) -> Data? {
    Data("PNG \(image.pixels)".utf8)
}

/// What a test lets a storage fail with.
nonisolated struct Broken: Error, Equatable {
    var reason = "broken"
}
