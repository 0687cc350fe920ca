package import Foundation
package import Vellum
internal import VellumFiles

/// Two archives of one file in which each transaction writes the same number under the same key.
package struct Pairs {
    package struct Left: ArchiveCodable {
        package static let archiveName = "left"
        package var primaryKey: String
        package var number: Int
    }

    package struct Right: ArchiveCodable {
        package static let archiveName = "right"
        package var primaryKey: String
        package var number: Int
        package var text = ""
    }

    private let factory: ArchivesFactory
    private let left: ArchiveStore<Left>
    private let right: ArchiveStore<Right>

    package init(in factory: ArchivesFactory) throws {
        self.factory = factory
        left = try whileBusy { try factory.store(for: Left.self) }
        right = try whileBusy { try factory.store(for: Right.self) }
    }

    package init(writingIn folder: URL) throws {
        let factory = ArchivesFactory(directory: folder)
        try whileBusy {
            _ = try factory.store(for: Left.self, diskLimit: .unlimited)
            _ = try factory.store(for: Right.self, diskLimit: .unlimited)
        }
        try self.init(in: factory)
    }

    package func backUp(to url: URL) throws { try whileBusy { try factory.backup(to: url) } }

    package static func restore(from backup: URL, to file: URL) throws -> URL? {
        try ArchiveFile.restore(from: backup, to: file)
    }

    package func close() throws { try whileBusy { try factory.close() } }

    /// Makes the file so large that it is copied in several portions.
    package func fill() throws {
        let text = String(repeating: "filling ", count: 400)
        try right.record(
            contentsOf: (0..<3000).map {
                Right(primaryKey: "filling \($0)", number: $0, text: text)
            }
        )
    }

    package func write(_ number: Int, by writer: Int) throws {
        let key = "\(writer) \(number % 50)"
        try whileBusy {
            try factory.transaction {
                try $0.record(Left(primaryKey: key, number: number), in: left)
                try $0.record(
                    Right(
                        primaryKey: key,
                        number: number,
                        text: String(repeating: "x", count: number % 500)
                    ),
                    in: right
                )
            }
        }
    }

    /// Writes until the process is killed.
    package func writeForever(by writer: Int) throws {
        var number = 0
        while true {
            number += 1
            try write(number, by: writer)
        }
    }

    /// What contradicts that everything is of one moment.
    package func problems() throws -> [String] {
        var problems: [String] = []
        let pairs = try left.accessAll()
        for pair in pairs {
            let other = try right.access(archiveWithKey: pair.primaryKey)?.number
            if other != pair.number {
                problems.append("\(pair.primaryKey) is \(pair.number) and \(other ?? -1)")
            }
        }
        // Each writer writes one number after the other.
        for (writer, found) in Dictionary(grouping: pairs, by: { $0.primaryKey.prefix(2) }) {
            let numbers = found.map(\.number).sorted()
            if let first = numbers.first, numbers != Array(first..<first + numbers.count) {
                problems.append("writer \(writer): \(numbers)")
            }
        }
        if try right.count() != pairs.count + 3000 {
            problems.append("\(try right.count()) and \(pairs.count) objects")
        }
        return problems
    }

    package var count: Int { get throws { try left.count() } }
}
