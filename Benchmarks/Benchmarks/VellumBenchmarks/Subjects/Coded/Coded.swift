import SwiftProtobuf

/// A type that every coder can encode, with the same fields.
protocol Coded: Codable, Equatable, Sendable {
    /// The same fields as a protobuf message.
    associatedtype Message: SwiftProtobuf.Message, Equatable

    static var title: String { get }
    /// The number of objects of one turn, so that a turn is long enough to be timed.
    static var batch: Int { get }

    /// Returns the object of an index, each with different contents, the same in every run.
    static func make(_ index: Int) -> Self

    var message: Message { get }
}
