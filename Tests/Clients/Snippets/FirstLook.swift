// The first lines of the README.

import Foundation
import Vellum

let users = try ArchivesFactory.shared.store(for: User.self, diskLimit: 20.megaByte)
try users.record(User(userName: "ann", age: 30))
let adults = try users.fetch(where: #Predicate { $0.age >= 18 }, sortedBy: [SortDescriptor(\.age)])
// snippet.hide
print(adults.map(\.userName))

struct User: ArchiveCodable {
    var primaryKey: String { userName }
    var userName: String
    var age: Int
}
