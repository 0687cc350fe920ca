import SwiftProtobuf

/// Something that every coder can encode, in the same fields.
protocol Coded: Codable, Equatable, Sendable {
    /// The same fields as protobuf has them.
    associatedtype Message: SwiftProtobuf.Message, Equatable

    static var title: String { get }
    /// How many are coded in one turn: so many that a turn is long enough to be timed.
    static var batch: Int { get }

    /// The `index`-th of endlessly many, each with contents of its own, the same in every run.
    static func make(_ index: Int) -> Self

    var message: Message { get }
}
