/// A storage as part of a composition.
@usableFromInline
struct Layer<Key: Sendable, Value: Sendable>: Sendable {
    let name: String
    @usableFromInline let operations: StorageOperations<Key, Value>
    /// The names of the storages that it is composed of.
    @usableFromInline let leaves: [String]

    init<Access: StorageAccess>(_ storage: AnyStorage<Access, Key, Value>) {
        name = storage.storageName
        operations = storage.operations
        leaves = storage.leaves
    }
}

extension Layer {
    /// After a set that other layers did not take: sets what was here before, or removes what is here now.
    ///
    /// - Returns: The failure of that set, which no layer has any more unless this fails as well.
    func undo(to before: Value?, _ key: Key, _ call: Call, after error: ShallowsError) -> Reply<Void> {
        // Undone even if the caller was cancelled.
        let call = call.cancelled(by: nil)
        let undoing = before.map { operations.set($0, key, call) } ?? operations.remove(key, call)
        return undoing.map { undone in
            switch undone {
            case .success:
                call.report(StorageReport(.undone, layer: error.layer, error))
                return .failure(error.removing(leaves))
            case .failure(let failure):
                call.report(StorageReport(.undoFailed, layer: failure.layer, failure))
                return .failure(error.removing(failure.succeededLayers))
            }
        }
    }
}

extension ShallowsError {
    /// The same error, after these layers were given back what they had.
    fileprivate func removing(_ layers: [String]) -> ShallowsError {
        var error = self
        for layer in layers {
            // The first of that name: two layers may share one.
            if let index = error.succeededLayers.firstIndex(of: layer) { error.succeededLayers.remove(at: index) }
        }
        if let sides = error.cause as? ZippedResultError {
            error.cause = ZippedResultError(left: sides.left, right: sides.right, succeededLayers: error.succeededLayers)
        }
        return error
    }
}
