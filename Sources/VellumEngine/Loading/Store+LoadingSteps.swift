internal import VellumCore

// What a reader does whom the store had no valid value for.

extension Store where Value: Sendable {
    func load(_ request: LoadRequest<Value>) async throws -> Loaded<Value?> {
        while true {
            let now = clock.now()
            switch rememberedAnswer(for: request, at: now) {
            case .found: return Loaded(nil, .cached)
            case .failed(let error, _):
                return try oldValue(insteadOf: error, request, staleWhileRevalidate: request.staleWhileRevalidate, at: now)
            case .loaded, nil: break
            }
            if let old = try oldValue(for: request, within: request.staleWhileRevalidate, at: now) {
                // At most one refresh at a time, and none where someone is loading it already.
                if let load = loads.refresh(request.key) { start(load, request) }
                return Loaded(old, .staleWhileRevalidate)
            }
            switch await loads.wait(for: request.key, keepsRunning: request.isKept, start: { start($0, request) }) {
            case .cancelled: throw CancellationError()
            case .recursive: throw VellumError.recursiveLoad
            case .finished(.failed(let error, _), let isStarter):
                let answer = try oldValue(insteadOf: error, request, staleWhileRevalidate: 0, at: clock.now())
                // Every waiter has an old value now or the error: the one who asked the loader tells of it for all.
                if isStarter { report(.loadFailed(error)) }
                return answer
            case .finished(.loaded(let value), let isStarter) where isStarter || takes(value, request): return Loaded(value, .loaded)
            case .finished(.found(let value), true): return Loaded(value, .cached)
            // What another reader takes for an answer may be none for this one, who takes no `nil` or has another age.
            case .finished(.found, false), .finished(.loaded, _): break
            }
            if case .found(let value) = try answerAtHand(request) { return Loaded(value, .cached) }
        }
    }

    /// Whether what another reader's loader returned is an answer to this one.
    private func takes(_ value: Value?, _ request: LoadRequest<Value>) -> Bool {
        guard let value else { return request.takesNothing }
        return if case .found = request.answer(of: value) { true } else { false }
    }

    /// What the store has for the reader without loading anything. A use.
    func answerAtHand(_ request: LoadRequest<Value>) throws(VellumError) -> LoadAnswer<Value>? {
        guard let value = try valueIgnoringCorruption(request.key, under: request.expiration) else { return nil }
        return request.answer(of: value)
    }

    /// What a reader gets where the loader failed: a valid value that someone wrote meanwhile, or the old one, or the error.
    private func oldValue(
        insteadOf error: any Error, _ request: LoadRequest<Value>, staleWhileRevalidate: Int64, at now: WallInstant
    ) throws -> Loaded<Value?> {
        guard request.staleIfError > 0 || staleWhileRevalidate > 0 else { throw error }
        do throws(VellumError) {
            if case .found(let value) = try answerAtHand(request) { return Loaded(value, .cached) }
            if let old = try oldValue(for: request, within: staleWhileRevalidate, at: now) { return Loaded(old, .staleWhileRevalidate) }
            if let old = try oldValue(for: request, within: request.staleIfError, at: now) { return Loaded(old, .staleIfError) }
        } catch let other {
            // The loader's error says more than that there was no old value to be read.
            report(other)
        }
        throw error
    }
}

extension VellumError {
    static var recursiveLoad: VellumError {
        VellumError(
            .recursiveLoad,
            """
            A loader asks for what it is loading itself, directly or by way of other loaders, and would wait forever. \
            Let it ask for other keys only.
            """)
    }

    static func loadFailed(_ cause: any Error) -> VellumError {
        VellumError(.loadFailed, "A loader failed where no caller was told. What was recorded before is still there.", cause: cause)
    }
}
