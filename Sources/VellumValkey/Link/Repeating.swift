#if Valkey
    extension Task where Success == Void, Failure == Never {
        /// Calls `body` again and again, each time after a pause in milliseconds, until it returns
        /// `false` or the task is cancelled.
        static func repeating(
            every pause: @escaping @Sendable () -> Int64,
            _ body: @escaping @Sendable () async -> Bool
        ) -> Self {
            Task {
                do {
                    repeat {
                        try await Task<Never, Never>.sleep(for: .milliseconds(pause()))
                    } while await body()
                } catch {}  // Cancelled.
            }
        }
    }
#endif
