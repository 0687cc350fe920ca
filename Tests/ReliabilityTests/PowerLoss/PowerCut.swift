import Foundation
import ScriptedDisk
import VellumTestSupport

/// A moment at which the power fails, and the fate of each change that was not synced.
struct PowerCut: CustomStringConvertible {
    enum Kind: Hashable {
        case nothing, everything
        /// Every change except one is kept.
        case without(Int)
        /// The first changes are kept, and the next one is torn.
        case prefix(Int)
        /// Files have grown, but the written bytes are missing.
        case zeros
        /// Each change is kept, lost, torn, or grown without its bytes, at random.
        case random(UInt64)
    }

    /// How many operations have happened.
    var point: Int
    var kind: Kind

    var description: String { "power lost after \(point) operations, \(kind)" }

    /// The cuts to try at a moment with so many unsynced changes.
    static func all(at point: Int, unsynced: Int, isSyncPoint: Bool) -> [PowerCut] {
        var kinds: [Kind] = [.nothing, .everything, .zeros]
        if unsynced > 0 {
            kinds += (0..<(isSyncPoint ? 24 : 4)).map { .random(UInt64(point) << 8 | UInt64($0)) }
            let spread = Amount(limit: isSyncPoint ? 48 : 4)
            kinds +=
                spread.sample(below: unsynced).map { .without($0) }
                + spread.sample(below: unsynced).map { .prefix($0) }
        }
        return kinds.map { PowerCut(point: point, kind: $0) }
    }

    /// The files after the power cut.
    func image(of moment: DiskMoment) -> [String: Data] {
        switch kind {
        case .nothing: return moment.image { _ in .lost }
        case .everything: return moment.image { _ in .kept }
        case .without(let one): return moment.image { $0 == one ? .lost : .kept }
        case .zeros:
            return moment.image {
                moment.unsynced[$0].change.isOfNames ? .kept : .grownWithoutBytes
            }
        case .prefix(let count):
            return moment.image { index in
                if index == count, !moment.unsynced[index].change.isOfNames {
                    return .torn { $0 % 2 == 0 }
                }
                return index < count ? .kept : .lost
            }
        case .random(let seed):
            var random = SeededGenerator(seed: seed)
            // A file system keeps the order of name changes, and may lose the last of them.
            let names = Int.random(in: 0...moment.unsynced.count, using: &random)
            let fates = moment.unsynced.indices.map { index -> DiskMoment.Fate in
                if moment.unsynced[index].change.isOfNames { return index < names ? .kept : .lost }
                switch UInt8.random(in: 0..<8, using: &random) {
                case 0..<4: return .kept
                case 4..<6: return .lost
                case 6: return .grownWithoutBytes
                default:
                    let pattern = UInt64.random(in: 0...(.max), using: &random)
                    return .torn { pattern >> UInt64($0 % 64) & 1 == 1 }
                }
            }
            return moment.image { fates[$0] }
        }
    }
}
