internal import Foundation

/// A wait of a thread that has nothing better to do.
enum Pause {
    static func milliseconds(_ count: Double) { Thread.sleep(forTimeInterval: count / 1000) }
}
