// Invoices on a screen, and settings of a server, each told when what it shows has changed.

import Foundation
import Vellum

struct Invoice: ArchiveCodable, IndexedArchivable, Equatable, Sendable {
    static var archiveIndexes: [ArchiveIndex<Invoice>] { [.index(\.isPaid, \.date)] }

    var primaryKey: String { number }
    var number: String
    var title: String
    var date: Date
    var isPaid = false
}

struct Settings: ArchiveCodable, Equatable, Sendable {
    var primaryKey = "settings"
    var requestsPerSecond = 10
}

actor Limits { func apply(_ settings: Settings) { print(settings) } }

func observe(_ invoices: ArchiveStore<Invoice>) async throws {
    for try await invoice in invoices.observe(archiveWithKey: "2026-117") {
        show(invoice)
    }

    let open = #Predicate<Invoice> { !$0.isPaid }
    let byDate = [SortDescriptor(\Invoice.date)]
    let latest = invoices.observe(where: open, sortedBy: byDate, limit: 20)
    for try await list in latest { show(list) }

    for try await count in invoices.observeCount(where: open) { badge(count) }
}

func follow(_ store: ArchiveStore<Settings>, _ limits: Limits) async throws {
    let following = Task {
        for try await settings in store.observe(archiveWithKey: "settings") {
            await limits.apply(settings ?? Settings())
        }
    }
    try await following.value
}

func show(_ invoice: Invoice?) { print(invoice?.title ?? "none") }
func show(_ invoices: [Invoice]) { print(invoices.count) }
func badge(_ count: Int) { print(count) }

#if canImport(SwiftUI)
    import SwiftUI
#else
    // As SwiftUI declares them, so that the example is compiled.
    protocol View {
        associatedtype Body: View
        @MainActor var body: Body { get }
    }

    @propertyWrapper struct State<Value> {
        var wrappedValue: Value
        init(wrappedValue: Value) { self.wrappedValue = wrappedValue }
    }

    extension Never: View { var body: Never { fatalError() } }

    struct Text: View {
        init(_ text: String) {}
        var body: Never { fatalError() }
    }

    struct List<Row: View>: View {
        var body: Never { fatalError() }
        init<Element, ID: Hashable>(
            _ rows: [Element],
            id: KeyPath<Element, ID>,
            row: (Element) -> Row
        ) {}
    }
#endif

@MainActor struct OpenInvoices: View {
    @State private var invoices: ArchiveResults<Invoice>

    init(_ invoices: ArchiveResults<Invoice>) {
        _invoices = State(wrappedValue: invoices)
    }

    var body: some View {
        List(invoices.value, id: \.primaryKey) { Text($0.title) }
    }
}
