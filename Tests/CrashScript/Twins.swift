package import Foundation
package import Vellum
internal import VellumTestSupport

/// Objects that are only ever written two at a time: whoever sees one sees the other, with the same
/// number.
package struct Twin: ArchiveCodable, IndexedArchivable, Equatable, Sendable {
    package static var archiveName: String { "twins" }
    package static var archiveIndexes: [ArchiveIndex<Twin>] { [.index(\.number)] }

    package var primaryKey: String { name }
    package var name: String
    package var number: Int

    package init(_ name: String, _ number: Int) { (self.name, self.number) = (name, number) }
}

/// The number of the last change of a pair, in another archive, written in the same transaction.
package struct Echo: ArchiveCodable, Equatable, Sendable {
    package static var archiveName: String { "echoes" }

    package var primaryKey: String { name }
    package var name: String
    package var number: Int
}

/// Objects of which only the last hundred stay, and some only for a moment.
package struct Leaf: ArchiveCodable, IndexedArchivable, Equatable, Sendable {
    package static var archiveName: String { "leaves" }
    package static var archiveIndexes: [ArchiveIndex<Leaf>] { [.index(\.number)] }
    package static let limit = 4.kiloByte

    package var primaryKey: String { "\(number)" }
    package var number: Int
    package var text = "forty bytes or so of text in each of them"
}

/// Changes twins as a seed says.
package struct TwinWriter {
    package static let pairs = 40
    private let factory: ArchivesFactory
    private let twins: ArchiveStore<Twin>
    private let echoes: ArchiveStore<Echo>
    private let leaves: ArchiveStore<Leaf>
    private var random: SeededGenerator

    package init(in folder: URL, seed: UInt64) throws {
        let factory = ArchivesFactory(directory: folder)
        twins = try whileBusy { try factory.store(diskLimit: .unlimited) }
        echoes = try whileBusy { try factory.store(diskLimit: .unlimited) }
        leaves = try whileBusy { try factory.store(diskLimit: Leaf.limit) }
        self.factory = factory
        random = SeededGenerator(seed: seed)
    }

    package mutating func write() throws {
        let (pair, number) = (
            Int.random(in: 0..<Self.pairs, using: &random), Int.random(in: 0..<1000, using: &random)
        )
        let kind = Int.random(in: 0..<100, using: &random)
        try whileBusy { try write(kind, pair, number) }
    }

    private func write(_ kind: Int, _ pair: Int, _ number: Int) throws {
        switch kind {
        case 0..<70:
            try factory.transaction { transaction in
                try transaction.record(Twin("\(pair).left", number), in: twins)
                try transaction.record(Twin("\(pair).right", number), in: twins)
                try transaction.record(Echo(name: "\(pair)", number: number), in: echoes)
            }
        case 70..<85:
            try factory.transaction { transaction in
                transaction.delete(archiveWithKey: "\(pair).left", in: twins)
                transaction.delete(archiveWithKey: "\(pair).right", in: twins)
            }
        case 85..<93:
            try twins.record(contentsOf: [
                Twin("\(pair).left", number), Twin("\(pair).right", number),
            ])
        case 93..<95: try twins.deleteAll(where: #Predicate { $0.number > 950 })
        case 95..<96: try twins.deleteAll()
        case 96..<97: try echoes.record(Echo(name: "alone", number: number))
        case 97..<99: try leaves.record(Leaf(number: number))
        default: try leaves.record(Leaf(number: number), expiration: .after(.milliseconds(number)))
        }
    }

    package func close() throws { try whileBusy { try factory.close() } }
}
