// Changing what may be there: atomic among threads and processes.

import Foundation
import Vellum

struct Account: ArchiveCodable {
    var primaryKey: String { owner }
    var owner: String
    var credit = 0
}

let factory = ArchivesFactory.shared
let accounts = try factory.store(for: Account.self)

let credit = try accounts.update(archiveWithKey: "ann") { account in
    var ann = account ?? Account(owner: "ann")
    ann.credit += 5
    account = ann
    return ann.credit
}
// snippet.hide
print(credit)

// Reads by key see what the transaction has written. All of it is committed, or nothing.
try factory.transaction { transaction in
    let key = "ann"
    let found = try transaction.access(archiveWithKey: key, in: accounts)
    guard var ann = found, ann.credit >= 5 else { return }
    var bob =
        try transaction.access(archiveWithKey: "bob", in: accounts)
        ?? Account(owner: "bob")
    ann.credit -= 5
    bob.credit += 5
    try transaction.record(ann, in: accounts)
    try transaction.record(bob, in: accounts)
}

struct Duplicate: Error {}

let cleo = Account(owner: "cleo")
guard try accounts.recordIfAbsent(cleo) else { throw Duplicate() }

try accounts.update(archiveWithKey: "cleo") { $0 = nil }

try accounts.update(
    archiveWithKey: "bob",
    expiration: .after(.seconds(60))
) { _ in }

let page = ["ann", "bob"]
let rows = try accounts.access(allKeys: page)
print(page.compactMap { rows[$0] })

// The same, where only the archive is at hand.
func moving(_ owner: String, in accounts: ArchiveStore<Account>) throws {
    try accounts.transaction { transaction in
        transaction.delete(archiveWithKey: owner, in: accounts)
        try transaction.record(Account(owner: "new"), in: accounts)
    }
    print(accounts.factory.directory)
}

try accounts.deleteAll(prefix: "guest-")

struct Window: ArchiveCodable {
    var primaryKey: String { client }
    var client: String
    var requests = 0
}

let windows = try factory.store(
    for: Window.self,
    diskLimit: 10.megaByte,
    expiration: .after(.seconds(60))
)

/// Whether a client has sent less than a hundred requests since the
/// first one of this window, to any process.
func isAllowed(_ client: String) throws -> Bool {
    try windows.update(archiveWithKey: client) { window in
        var current = window ?? Window(client: client)
        guard current.requests < 100 else { return false }
        current.requests += 1
        window = current
        return true
    }
}

let allowed = try (0..<150).filter { _ in try isAllowed("ann") }
print(allowed.count == 100 ? "100 of 150 requests" : "\(allowed.count) of 150 requests")

struct Address: ArchiveCodable {
    var primaryKey: String { address }
    var address: String
    var owner: String
}

let addresses = try factory.store(
    for: Address.self,
    diskLimit: .unlimited
)

func signUp(_ new: Account, _ address: Address) throws {
    let key = address.primaryKey
    try factory.transaction { transaction in
        let owner = try transaction.access(
            archiveWithKey: key,
            in: addresses
        )
        guard owner == nil else { throw Duplicate() }
        try transaction.record(address, in: addresses)
        try transaction.record(new, in: accounts)
    }
}

try signUp(Account(owner: "dora"), Address(address: "d@example.com", owner: "dora"))
do {
    try signUp(Account(owner: "emil"), Address(address: "d@example.com", owner: "emil"))
    print("two accounts of one address")
} catch is Duplicate {}

try await accounts.perform { accounts in
    try accounts.update(archiveWithKey: "ann") { $0?.credit += 1 }
}
