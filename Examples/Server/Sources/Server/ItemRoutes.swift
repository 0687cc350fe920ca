import Foundation
import Hummingbird
import Vellum

/// Lists, gets, puts and deletes items. `async` keeps the disk away from the threads of Swift's
/// tasks.
struct ItemRoutes {
    let items: ArchiveStore<Item>

    func add(to group: RouterGroup<some RequestContext>) {
        group.get { _, _ in
            try await items.async.fetch(
                sortedBy: [SortDescriptor(\.changed, order: .reverse)],
                limit: 100
            )
        }
        group.get(":id") { _, context in
            let id = try context.parameters.require("id")
            guard let item = try await items.async.access(archiveWithKey: id) else {
                throw HTTPError(.notFound)
            }
            return item
        }
        // The answer says that the item is recorded: it is there after the process was killed.
        group.put(":id") { request, context in
            let id = try context.parameters.require("id")
            let new = try await request.decode(as: NewItem.self, context: context)
            let item = Item(id: id, text: new.text, changed: Date())
            try await items.async.record(item)
            return item
        }
        group.delete(":id") { _, context in
            let id = try context.parameters.require("id")
            let deleted = try await items.async.delete(archiveWithKey: id)
            return deleted ? HTTPResponse.Status.noContent : .notFound
        }
    }
}
