/// A storage as part of a composition.
@usableFromInline
struct Layer<Key: Sendable, Value: Sendable>: Sendable {
    let name: String
    @usableFromInline let verbs: StorageVerbs<Key, Value>
    /// The names of the storages that it is composed of.
    @usableFromInline let leaves: [String]

    init<Access: StorageAccess>(_ storage: AnyStorage<Access, Key, Value>) {
        name = storage.storageName
        verbs = storage.verbs
        leaves = storage.leaves
    }
}

extension Layer {
    /// After a set that other layers did not take: sets what was here before, or removes what is here now.
    ///
    /// - Returns: The failure of that set, which no layer has reached any more unless this fails, too.
    func undo(to before: Value?, _ key: Key, _ call: Call, after error: ShallowsError) -> Reply<Void> {
        // What it was asked to take back, a cancelled caller is owed, too.
        let call = call.cancelled(by: nil)
        let undoing: Reply<Void>
        if let value = before {
            undoing = verbs.set(value, key, call)
        } else {
            undoing = verbs.remove(key, call)
        }
        return undoing.map { undone in
            switch undone {
            case .success:
                call.report(StorageReport(.undone, layer: error.layer, error))
                return .failure(error.leaving(leaves))
            case .failure(let failure):
                call.report(StorageReport(.undoFailed, layer: failure.layer, failure))
                return .failure(error.leaving(failure.reached))
            }
        }
    }
}

extension ShallowsError {
    /// The same error, after these layers were given back what they had.
    fileprivate func leaving(_ layers: [String]) -> ShallowsError {
        var error = self
        for layer in layers {
            // The first of that name: two layers may share one.
            if let index = error.reached.firstIndex(of: layer) { error.reached.remove(at: index) }
        }
        if let sides = error.cause as? ZippedResultError {
            error.cause = ZippedResultError(left: sides.left, right: sides.right, reached: error.reached)
        }
        return error
    }
}
