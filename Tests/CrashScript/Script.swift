package import VellumTestSupport

/// The focus of a child's random operations.
package enum Script: String, CaseIterable, Sendable {
    /// Small writes and reads of every kind.
    case mixed
    /// Writes that may be lost.
    case relaxed
    /// Large objects, which fill the log and leave free pages.
    case bulky
    /// Indexes that are declared, built and dropped.
    case indexing
    /// Limits that shrink.
    case shrinking
    /// A cache that is opened with other versions.
    case versions
    /// Opening and closing.
    case opening

    /// Whether a child that starts from an existing folder misses the points that this script is
    /// about.
    package var isAboutBeginnings: Bool { self == .opening }

    /// The folder's contents before the first child starts.
    package func preparation() -> [Step] {
        switch self {
        case .indexing: (0..<5).map { part in put(250, on: .safe, from: part * 250, filling: 10) }
        case .shrinking:
            [.limit(100_000)]
                + (0..<5).map { part in put(260, on: .tight, from: part * 260, filling: 10) }
        case .versions: [put(25, on: .cache, from: 0, filling: 100)]
        case .opening: []
        case .mixed, .relaxed, .bulky:
            [put(20, on: .safe, from: 0, filling: 60), put(12, on: .tight, from: 0, filling: 300)]
        }
    }

    private func put(_ count: Int, on archive: ScriptArchive, from first: Int, filling: Int) -> Step
    {
        .write(
            (first..<first + count).map {
                .init(archive, "k\($0)", .put(filling: filling, age: nil))
            }
        )
    }

    /// Returns the next operation.
    package func next(_ model: Model, _ random: inout SeededGenerator) -> Step {
        let chance = Int.random(in: 0..<100, using: &random)
        switch self {
        case .mixed: return mixed(chance, &random)
        case .relaxed: return relaxed(chance, &random)
        case .bulky: return bulky(chance, &random)
        case .indexing: return indexing(chance, model, &random)
        case .shrinking: return shrinking(chance, model, &random)
        case .versions: return versions(chance, model, &random)
        case .opening: return chance < 40 ? .reopen : mixed(chance, &random)
        }
    }

    // MARK: Scripts

    private static let small: [ScriptArchive] = [
        .safe, .safe, .power, .relaxed, .tight, .tight, .fleeting,
    ]

    private func mixed(_ chance: Int, _ random: inout SeededGenerator) -> Step {
        switch chance {
        case ..<32: .write([change(on: Self.small.randomElement(using: &random) ?? .safe, &random)])
        case ..<36: move(&random)
        case ..<40: .update(Self.small.randomElement(using: &random) ?? .safe, key(&random))
        case ..<58:
            .write(
                (0..<Int.random(in: 2...6, using: &random)).map { _ in
                    change(on: Self.small.randomElement(using: &random) ?? .safe, &random)
                }
            )
        case ..<78: .read(Self.small.randomElement(using: &random) ?? .safe, key(&random))
        case ..<82: .query(Int.random(in: 0..<35, using: &random))
        case ..<85: .flush
        case ..<88: .limit(Int.random(in: 2000...9000, using: &random))
        case ..<90: .forget(Int.random(in: 50...2000, using: &random))
        case ..<93: .sweep
        case ..<94: .settle
        case ..<95: .index(Int.random(in: 0..<Item.catalogs, using: &random))
        case ..<98:
            .starved([
                .init(.safe, key(&random), .put(filling: 50, age: nil)),
                .init(.tight, key(&random), .put(filling: 50, age: nil)),
            ])
        default: .reopen
        }
    }

    private func relaxed(_ chance: Int, _ random: inout SeededGenerator) -> Step {
        switch chance {
        case ..<80:
            .write(
                (0..<Int.random(in: 1...3, using: &random)).map { _ in
                    change(on: .relaxed, &random)
                }
            )
        case ..<86: .update(.relaxed, key(&random))
        case ..<93: .read(.relaxed, key(&random))
        case ..<95: .write([change(on: .safe, &random)])
        case ..<97: .settle
        case ..<98: .flush
        default: .read(.safe, key(&random))
        }
    }

    private func bulky(_ chance: Int, _ random: inout SeededGenerator) -> Step {
        let key = "k\(Int.random(in: 0..<8, using: &random))"
        switch chance {
        case ..<55:
            return .write([
                .init(
                    .bulky,
                    key,
                    .put(filling: .random(in: 100_000...600_000, using: &random), age: nil)
                )
            ])
        case ..<62: return .write([.init(.bulky, key, .delete)])
        case ..<65:
            return .write([
                .init(.bulky, Item.groups.randomElement(using: &random) ?? "", .dissolve)
            ])
        case ..<72: return .write([.init(.bulky, "", .clear)])
        case ..<80: return .read(.bulky, key)
        case ..<90: return .settle
        case ..<93: return .reopen
        default: return mixed(Int.random(in: 0..<90, using: &random), &random)
        }
    }

    private func indexing(_ chance: Int, _ model: Model, _ random: inout SeededGenerator) -> Step {
        switch chance {
        case ..<8: return .raise
        case ..<25:
            return .index(
                (model.catalog + Int.random(in: 1..<Item.catalogs, using: &random)) % Item.catalogs
            )
        case ..<55:
            return .write(
                (0..<Int.random(in: 1...4, using: &random)).map { _ in
                    change(on: .safe, &random, keys: 1250)
                }
            )
        case ..<75: return .settle
        case ..<85: return .query(Int.random(in: 0..<35, using: &random))
        case ..<90: return .reopen
        case ..<91: return .write([.init(.safe, "", .clear)])
        default: return mixed(Int.random(in: 0..<85, using: &random), &random)
        }
    }

    private func shrinking(_ chance: Int, _ model: Model, _ random: inout SeededGenerator) -> Step {
        switch chance {
        case ..<15: return .limit(Int.random(in: 2000...36_000, using: &random))
        case ..<20: return .forget(Int.random(in: 0...300, using: &random))
        case ..<60:
            return .read(
                .tight,
                "k\(Int.random(in: 0..<(Bool.random(using: &random) ? 40 : 1300), using: &random))"
            )
        case ..<80:
            return .write(
                (0..<Int.random(in: 1...9, using: &random)).map { _ in
                    change(on: .tight, &random, keys: 1300)
                }
            )
        case ..<85: return .flush
        case ..<88: return .reopen
        default: return mixed(Int.random(in: 0..<85, using: &random), &random)
        }
    }

    private func versions(_ chance: Int, _ model: Model, _ random: inout SeededGenerator) -> Step {
        switch chance {
        case ..<45: return .write([change(on: .cache, &random)])
        case ..<60: return .read(.cache, key(&random))
        case ..<70: return .replace
        case ..<76: return .drop
        case ..<82: return .wait(days: Bool.random(using: &random) ? 8 : 30)
        case ..<86: return .reopen
        default: return mixed(Int.random(in: 0..<85, using: &random), &random)
        }
    }

    // MARK: Parts

    private func move(_ random: inout SeededGenerator) -> Step {
        let isForth = Bool.random(using: &random)
        return .move(isForth ? .safe : .power, isForth ? .power : .safe, key(&random))
    }

    private func key(_ random: inout SeededGenerator) -> String {
        "k\(Int.random(in: 0..<40, using: &random))"
    }

    private func change(
        on archive: ScriptArchive,
        _ random: inout SeededGenerator,
        keys: Int = 40
    ) -> Step.Change {
        let key = "k\(Int.random(in: 0..<keys, using: &random))"
        let chance = Int.random(in: 0..<100, using: &random)
        if chance < 20 { return .init(archive, key, .delete) }
        if archive.hasGroups, chance < 24 {
            return .init(archive, Item.groups.randomElement(using: &random) ?? "", .dissolve)
        }
        if chance < 22, archive != .safe { return .init(archive, "", .clear) }
        // Never at a time of the clock, which advances in steps of ten.
        let age = archive == .fleeting ? Int.random(in: 1...30, using: &random) * 10 + 5 : nil
        return .init(archive, key, .put(filling: .random(in: 0...400, using: &random), age: age))
    }
}
