// The screens of an app: a list, a search field, paging, a form, a badge, and a preview.

import Foundation
import Vellum

struct City: ArchiveCodable, IndexedArchivable, Identifiable, Sendable {
    static var archiveIndexes: [ArchiveIndex<City>] {
        [
            .index(\.name), .index(\.name, ignoring: .caseAndDiacritics),
            .index(\.isVisited),
        ]
    }

    var primaryKey: String { id }
    var id = UUID().uuidString
    var name: String
    var people = 0
    var isVisited = false
}

#if canImport(SwiftUI)
    import SwiftUI
#else
    // As SwiftUI declares them, so that the examples are compiled.
    @MainActor protocol View {
        associatedtype Body: View
        @ViewBuilder @MainActor var body: Body { get }
    }

    extension Never: View { var body: Never { fatalError() } }

    @propertyWrapper struct State<Value> {
        var wrappedValue: Value {
            get { stored }
            nonmutating set {}
        }
        var projectedValue: Binding<Value> { Binding() }
        private let stored: Value
        init(wrappedValue: Value) { stored = wrappedValue }
    }

    @dynamicMemberLookup struct Binding<Value> {
        subscript<Member>(dynamicMember path: WritableKeyPath<Value, Member>) -> Binding<Member> {
            Binding<Member>()
        }
    }

    @MainActor protocol Leaf: View where Body == Never {}
    extension Leaf { var body: Never { fatalError() } }
    extension Optional: View, Leaf where Wrapped: View { typealias Body = Never }
    struct Text: Leaf { init(_ text: String) {} }
    struct TextField: Leaf { init(_ title: String, text: Binding<String>) {} }
    struct Toggle: Leaf { init(_ title: String, isOn: Binding<Bool>) {} }
    struct Button: Leaf { init(_ title: String, action: @escaping @MainActor () -> Void) {} }
    struct ProgressView: Leaf {}
    struct Changed: Leaf {
        func onDelete(perform: @escaping @MainActor (IndexSet) -> Void) -> Changed { Changed() }
    }
    struct Pair<One: View, Other: View>: Leaf {}
    @MainActor @resultBuilder enum ViewBuilder {
        static func buildBlock<One: View>(_ one: One) -> One { one }
        static func buildBlock<One: View, Other: View>(
            _ one: One,
            _ other: Other
        ) -> Pair<One, Other> { Pair() }
        static func buildBlock<One: View, Two: View, Three: View>(
            _ one: One,
            _ two: Two,
            _ three: Three
        ) -> Pair<One, Pair<Two, Three>> {
            Pair()
        }
        static func buildOptional<One: View>(_ one: One?) -> One? { one }
    }
    struct List: Leaf { init(@ViewBuilder _ content: @MainActor () -> some View) {} }
    struct Form: Leaf { init(@ViewBuilder _ content: @MainActor () -> some View) {} }
    struct ForEach: Leaf {
        init<Element: Identifiable>(
            _ elements: [Element],
            @ViewBuilder _ row: @escaping @MainActor (Element) -> some View
        ) {}
        func onDelete(perform: @escaping @MainActor (IndexSet) -> Void) -> Changed { Changed() }
    }
    @MainActor extension View {
        func onAppear(_ action: @escaping @MainActor () -> Void) -> Changed { Changed() }
        func searchable(text: Binding<String>) -> Changed { Changed() }
        func onChange<Value: Equatable>(
            of value: Value,
            _ action: @escaping @MainActor () -> Void
        ) -> Changed { Changed() }
        func task(_ action: @escaping @MainActor @Sendable () async -> Void) -> Changed {
            Changed()
        }
        func badge(_ count: Int) -> Changed { Changed() }
        func overlay(@ViewBuilder _ content: @MainActor () -> some View) -> Changed { Changed() }
    }
#endif

@MainActor enum Screens {
    struct CityList: View {
        let store: ArchiveStore<City>
        @State private var cities: ArchiveResults<City>?
        @State private var text = ""

        init(_ store: ArchiveStore<City>) { self.store = store }

        var body: some View {
            let shown = cities?.value ?? []
            List {
                ForEach(shown) { city in
                    Text(city.name)
                        .onAppear { cities?.showMore(after: city) }
                }
                .onDelete { rows in
                    let keys = rows.map { shown[$0].id }
                    attempt { try cities?.delete(allKeys: keys) }
                }
            }
            .overlay { if cities?.isAsking ?? true { ProgressView() } }
            .searchable(text: $text)
            .onChange(of: text) { search() }
            .task {
                // Once, and not whenever the view is made anew.
                if cities == nil {
                    cities = ArchiveResults(
                        store,
                        sortedBy: [SortDescriptor(\.name)],
                        limit: 50
                    )
                }
            }
        }

        private func search() {
            let text = text.ignoringCaseAndDiacritics
            let isFound = #Predicate<City> {
                $0.name.ignoringCaseAndDiacritics.starts(with: text)
            }
            cities?.ask(
                where: text.isEmpty ? nil : isFound,
                sortedBy: [SortDescriptor(\.name)],
                limit: 50
            )
        }
    }

    struct CityForm: View {
        let cities: ArchiveResults<City>
        @State private var draft: City

        init(_ city: City, in cities: ArchiveResults<City>) {
            self.cities = cities
            _draft = State(wrappedValue: city)
        }

        var body: some View {
            Form {
                TextField("Name", text: $draft.name)
                Toggle("Visited", isOn: $draft.isVisited)
                Button("Save") { attempt { try cities.record(draft) } }
            }
        }
    }

    struct VisitedBadge: View {
        let store: ArchiveStore<City>
        @State private var visited: ArchiveCount<City>?

        init(_ store: ArchiveStore<City>) { self.store = store }

        var body: some View {
            Text("Cities").badge(visited?.value ?? 0)
                .task {
                    if visited == nil {
                        visited = ArchiveCount(
                            store,
                            where: #Predicate { $0.isVisited }
                        )
                    }
                }
        }
    }

    static func attempt(_ action: () throws -> Void) {
        do { try action() } catch { failures.append(error) }
    }

    static var failures: [any Error] = []
}

@MainActor final class Library {
    let cities: ArchiveStore<City>

    init(_ archives: ArchivesFactory = .shared) throws {
        cities = try archives.store(diskLimit: .unlimited)
    }
}

@MainActor func preview() throws -> Screens.CityList {
    let library = try Library(.inMemory())
    try library.cities.record(
        contentsOf: [City(name: "Bern"), City(name: "Zug")])
    return Screens.CityList(library.cities)
}
