internal import Foundation
internal import VellumFiles

/// What is known of how large the limit of an archive should be.
struct LimitAdvice: Sendable, Equatable {
    /// What the limit means now, in a sentence or two.
    var sentence: String
    /// How large the limit would have to be to keep for thirty days what is not used; `nil` if that
    /// is not known, or is the case.
    var needed: Int?

    private static let days = 30.0

    /// `nil` for an archive without a limit.
    init?(_ archive: RawArchive.Summary, now: Date) {
        guard let limit = archive.limit?.bytes, limit > 0 else { return nil }
        guard Double(archive.size.bytes) >= 0.95 * Double(limit), let oldest = archive.oldest else {
            sentence = "Nothing is evicted: the archive is below its limit."
            return
        }
        let age = now.timeIntervalSince(oldest)
        guard age >= 60 else {
            sentence = "The archive is at its limit: the least recently used entries are evicted."
            return
        }
        sentence =
            "The archive is at its limit: what is not used for \(Numbers.seconds(age)) is evicted."
        let bytes = Double(limit) * Self.days * 86_400 / age
        guard age < Self.days * 86_400, bytes < 1e15 else { return }
        needed = Int(bytes)
        sentence +=
            """
             To keep it for 30 days, about \(Numbers.size(Int(bytes))) is needed at the present \
            rate.
            """
    }
}
