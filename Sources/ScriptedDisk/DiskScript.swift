package import Foundation
internal import VellumCore

#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Darwin)
    internal import Darwin
#endif

/// Records and counts SQLite's calls on the files of one folder, and makes them fail.
///
/// ```swift
/// let script = DiskScript(folder: folder.url)
/// script.fail(.noSpace, at: 7, lasting: true)
/// …
/// script.heal()
/// ```
///
/// Affects connections that are opened while it is installed; all other calls go directly to the
/// system.
package final class DiskScript: Sendable {
    private let folder: String
    private let isRecording: Bool
    private let state = Locked(State())

    private struct State {
        var operations: [DiskOperation] = []
        /// The number of the file that each name refers to.
        var files: [String: Int] = [:]
        var nextFile = 0
        var calls: [DiskCall: Int] = [:]
        var plan: Plan?
        var isFull = false
        var injected = 0
        var lastInjected: String?
    }

    private struct Plan {
        var fault: DiskFault?
        var callsLeft: Int
        var isLasting: Bool
    }

    /// Installs the script for the folder, which must exist.
    package init(folder: URL, recording: Bool = false) {
        self.folder = ScriptedDisk.resolved(folder.path)
        isRecording = recording
        ScriptedDisk.add(self, for: self.folder)
    }

    /// Releases the folder.
    package func remove() { ScriptedDisk.remove(folder) }

    // MARK: Failing

    /// Makes the call fail that follows `count` others that could fail in this way. With `lasting`,
    /// all later ones fail, too, until ``heal()``.
    package func fail(_ fault: DiskFault, at count: Int, lasting: Bool = false) {
        state.withLock {
            $0.plan = Plan(fault: fault, callsLeft: count, isLasting: lasting)
        }
    }

    /// Kills this process at the call that follows `count` others.
    package func kill(at count: Int) {
        state.withLock {
            $0.plan = Plan(fault: nil, callsLeft: count, isLasting: false)
        }
    }

    /// No block is left: databases keep what they have. Their logs have room.
    package func fill() { state.withLock { $0.isFull = true } }

    /// Lets every call succeed again.
    package func heal() {
        state.withLock {
            $0.plan = nil
            $0.isFull = false
        }
    }

    /// Whether a database may not grow.
    func refusesGrowth() -> Bool {
        state.withLock { state in
            guard state.isFull else { return false }
            state.injected += 1
            state.lastInjected = "no room"
            return true
        }
    }

    /// How many calls failed.
    package var injected: Int { state.withLock { $0.injected } }

    /// A description of the last call that failed.
    package var lastInjected: String? { state.withLock { $0.lastInjected } }

    /// The number of calls so far that could have failed in this way.
    package func calls(fitting fault: DiskFault) -> Int {
        state.withLock { state in
            state.calls.reduce(0) {
                fault.code(for: $1.key) == nil ? $0 : $0 + $1.value
            }
        }
    }

    /// Returns the result code for SQLite in place of a call.
    func nextFault(
        _ call: DiskCall,
        _ name: String
    ) -> (fault: DiskFault, code: Int32)? {
        let (verdict, dies) =
            state.withLock { state -> ((fault: DiskFault, code: Int32)?, Bool) in
                state.calls[call, default: 0] += 1
                guard let plan = state.plan else { return (nil, false) }
                var code: Int32?
                if let fault = plan.fault {
                    code = fault.code(for: call)
                    guard code != nil else { return (nil, false) }
                }
                guard plan.callsLeft == 0 else {
                    state.plan?.callsLeft -= 1
                    return (nil, false)
                }
                guard let fault = plan.fault, let code else { return (nil, true) }
                if !plan.isLasting { state.plan = nil }
                state.injected += 1
                state.lastInjected = "\(fault) of \(call) \(name)"
                return ((fault, code), false)
            }
        if dies { _ = Self.killThisProcess() }
        return verdict
    }

    private static func killThisProcess() -> Int32 {
        #if canImport(Glibc)
            Glibc.kill(getpid(), SIGKILL)
        #else
            Darwin.kill(getpid(), SIGKILL)
        #endif
    }

    // MARK: Recording

    /// What was recorded, in order.
    package var operations: [DiskOperation] { state.withLock { $0.operations } }

    /// Sets a mark among the operations.
    package func mark(_ number: Int) { record(.mark(number)) }

    /// The number of operations so far.
    package var count: Int { state.withLock { $0.operations.count } }

    /// The number of the file that a name refers to from now on.
    func opened(_ name: String, wasThere: Bool, contents: () -> Data) -> Int {
        state.withLock { state in
            if wasThere, let number = state.files[name] { return number }
            let number = state.nextFile
            state.nextFile += 1
            state.files[name] = number
            if isRecording {
                state.operations.append(
                    .create(file: number, name: name, contents: contents())
                )
            }
            return number
        }
    }

    func deleted(_ name: String, syncingFolder: Bool) {
        state.withLock { state in
            guard state.files.removeValue(forKey: name) != nil, isRecording else { return }
            state.operations.append(.delete(name: name))
            if syncingFolder { state.operations.append(.syncFolder(of: name)) }
        }
    }

    func record(_ operation: @autoclosure () -> DiskOperation) {
        guard isRecording else { return }
        state.withLock { $0.operations.append(operation()) }
    }
}
