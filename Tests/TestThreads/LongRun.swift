internal import Foundation

/// How much a test does: a part of it in every run, all of it in `make long`, which sets
/// `VELLUM_LONG`.
///
/// ```swift
/// @Test(arguments: 0..<LongRun.number(60, usually: 6)) func randomStepsMatchAModel(seed: Int)
/// ```
///
/// Every kind of step, fault and input is in the part, too: only seeds, rounds and entries are
/// fewer.
public enum LongRun {
    private static let isOn = ProcessInfo.processInfo.environment["VELLUM_LONG"] != nil

    /// A number of seeds, rounds, threads' steps or entries.
    public static func number(_ all: Int, usually part: Int) -> Int { isOn ? all : part }

    /// Cases: all, or so many of them, evenly spread, with the first and the last.
    public static func cases<Case>(_ all: [Case], usually count: Int) -> [Case] {
        guard !isOn, count > 1, all.count > count else { return all }
        return (0..<count).map { all[$0 * (all.count - 1) / (count - 1)] }
    }
}
