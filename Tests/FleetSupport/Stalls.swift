internal import VellumCore

/// Returns how long a call takes beside what a busy machine costs: a task that waits for nothing notes for how long it did not get to run, and each
/// such stall may have ended an attempt to connect.
package func timeWithoutStalls(_ body: () async throws -> Void) async rethrows -> Duration {
    let clock = ContinuousClock()
    let stalls = Locked(Duration.zero)
    let control = Task {
        while !Task.isCancelled {
            let turn = await clock.measure { await Task.yield() }
            if turn > .milliseconds(20) { stalls.withLock { $0 += turn } }
        }
    }
    defer { control.cancel() }
    let time = try await clock.measure(body)
    // At most half, so that the limits of the tests hold on every machine, up to twice their length.
    return time - min(stalls.withLock { $0 * 3 }, time / 2)
}
