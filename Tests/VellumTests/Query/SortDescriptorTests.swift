import Foundation
import TestThreads
import Testing
import VellumCore
import VellumEngine

@testable import Vellum

@Suite(.ownThreads)
struct SortDescriptorTests {
    typealias Sample = QuerySample

    private func sorted<Value>(
        _ values: [Value],
        _ descriptors: SortDescriptor<Sample>...,
        by path: WritableKeyPath<Sample, Value>
    ) throws -> [Value] {
        let samples = values.map { value in
            var sample = Sample()
            sample[keyPath: path] = value
            return sample
        }
        return try QueryDescription([.sort(descriptors.map(Ordering.init))]).results(of: samples)
            .map { $0[keyPath: path] }
    }

    @Test func aDescriptorSortsByItsProperty() throws {
        #expect(try sorted([2, 1, 3], SortDescriptor(\.integer), by: \.integer) == [1, 2, 3])
        #expect(
            try sorted([2, 1, 3], SortDescriptor(\.integer, order: .reverse), by: \.integer) == [
                3, 2, 1,
            ]
        )
        #expect(
            try sorted(["b", "a", "C"], SortDescriptor(\.name, comparator: .lexical), by: \.name)
                == ["C", "a", "b"]
        )
    }

    @Test func nilIsFirstAscending() throws {
        #expect(try sorted([2, nil, 1], SortDescriptor(\.small), by: \.small) == [nil, 1, 2])
        #expect(
            try sorted([2, nil, 1], SortDescriptor(\.small, order: .reverse), by: \.small) == [
                2, 1, nil,
            ]
        )
    }

    @Test func nanIsFirstAscending() throws {
        let ratios = [Double.nan, .infinity, 0, -.infinity, -.nan, 1]

        #expect(
            try sorted(ratios, SortDescriptor(\.ratio), by: \.ratio).map(\.isNaN).prefix(2) == [
                true, true,
            ]
        )
        #expect(
            try sorted(ratios, SortDescriptor(\.ratio), by: \.ratio).suffix(4) == [
                -.infinity, 0, 1, .infinity,
            ]
        )
        #expect(
            try sorted(ratios, SortDescriptor(\.ratio, order: .reverse), by: \.ratio).prefix(4) == [
                .infinity, 1, 0, -.infinity,
            ]
        )
    }

    @Test func positiveAndNegativeZeroAreEqual() throws {
        let ordering = Ordering(SortDescriptor(\Sample.ratio))

        #expect(try ordering.compare(Sample(ratio: -0.0), Sample(ratio: 0.0)) == 0)
    }

    @Test func sortingByAPropertyUsesItsIndex() {
        #expect(Ordering(SortDescriptor(\Sample.integer)).property == \Sample.integer)
        #expect(Ordering(SortDescriptor(\Sample.small, order: .reverse)).property == \Sample.small)
        #expect(
            Ordering(SortDescriptor(\Sample.name, comparator: .lexical)).property == \Sample.name
        )
    }
}
