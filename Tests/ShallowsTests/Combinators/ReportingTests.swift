import Foundation
import Shallows
import TestThreads
import Testing
import VellumCore

/// A set whose caller wants no answer, and which fails, is reported through every transform (D12).
@Suite(.ownThreads)
struct ReportingTests {
    private let reports = Reports()
    private var failing: Scripted { Scripted("own").always(.set, .failing(Outage())) }

    private func expectReport<Access: WritableAccess, Key, Value>(
        of storage: AnyStorage<Access, Key, Value>,
        setting value: Value,
        forKey key: Key,
        in layer: String? = nil
    ) async {
        // In an asynchronous function the compiler would choose the `set` that answers.
        func set() { storage.set(value, forKey: key) }
        set()
        await until("the failure is reported") { !reports.events.isEmpty }
        #expect(reports.events == [.setFailed])
        if let layer { #expect(reports.all.first?.error?.layer == layer) }
    }

    enum Transform: String, CaseIterable, CustomTestStringConvertible {
        case none, mapKeys, asyncMapKeys, mapValues, asyncMapValues, validate, asyncValidate,
            fallback, defaulting, strict, synchronized
        case expiringByDates, renaming, unsupported, asStorage, removable
        var testDescription: String { rawValue }

        func callAsFunction(
            _ storage: RemovableStorage<String, Int>
        ) -> RemovableStorage<String, Int> {
            switch self {
            case .none, .asStorage, .removable: storage
            case .mapKeys: storage.mapKeys { $0 }
            case .asyncMapKeys: storage.asyncMapKeys { key async in key }
            case .mapValues: storage.mapValues(transformIn: { $0 }, transformOut: { $0 })
            case .asyncMapValues:
                storage.asyncMapValues(
                    transformIn: { value async in value },
                    transformOut: { value async in value }
                )
            case .validate: storage.validate { (_: Int) in true }
            case .asyncValidate: storage.validate { (_: Int) async in true }
            case .fallback: storage.fallback { throw $0 }
            case .defaulting: storage.defaulting(to: 0)
            case .strict: storage.strict()
            case .synchronized: storage.synchronizedCalls()
            case .expiringByDates:
                storage.expiring(after: .seconds(60), datedBy: MemoryStorage<String, Date>())
            case .renaming: storage.renaming(to: "other")
            case .unsupported: storage.usingUnsupportedTransformation { $0.mapKeys { $0 } }
            }
        }
    }

    @Test(arguments: Transform.allCases)
    func aTransformKeepsTheReporter(_ transform: Transform) async {
        await expectReport(
            of: transform(failing.removable.reporting(reports.take)),
            setting: 1,
            forKey: "a",
            in: "own"
        )
    }

    @Test(arguments: Transform.allCases)
    func aTransformOfWhichTheOperationsAreWrittenByHandKeepsTheReporter(
        _ transform: Transform
    ) async {
        let storage = transform(failing.removable.reporting(reports.take)).asStorage()
        await expectReport(of: storage.asWriteOnlyStorage(), setting: 1, forKey: "a", in: "own")
    }

    @Test
    func aSingleKeyAndRawValuesKeepTheReporter() async {
        await expectReport(
            of: failing.reporting(reports.take).singleKey("a"),
            setting: 1,
            forKey: ()
        )
    }

    @Test
    func storagesOfBytesKeepTheReporter() async {
        let bytes = failing.mapValues(
            transformIn: { Data("\($0)".utf8) },
            transformOut: { $0.count }
        ).reporting(reports.take)
        await expectReport(
            of: bytes.expiring(after: .seconds(60)).mapJSONObject([Int].self),
            setting: [1],
            forKey: "a",
            in: "own"
        )
    }

    @Test
    func aTransformThatFailsIsReported() async {
        let storage = Scripted("own").reporting(reports.take)
            .mapValues(transformIn: { $0 }, transformOut: { (_: Int) throws in throw Outage() })
        await expectReport(of: storage, setting: 1, forKey: "a")
    }

    @Test
    func aWriteOnlyTransformKeepsTheReporter() async {
        let storage = failing.asWriteOnlyStorage().reporting(reports.take)
        await expectReport(
            of: storage.mapValues { (value: String) in value.count },
            setting: "one",
            forKey: "a"
        )
    }

    @Test
    func aStorageThatReadsFromOneAndWritesToAnotherReportsToTheOneItWritesTo() async {
        let storage = Storage(
            storageName: "both",
            read: Scripted("read").asReadOnlyStorage(),
            write: failing.reporting(reports.take).asWriteOnlyStorage()
        )
        await expectReport(of: storage, setting: 1, forKey: "a")
    }

    // MARK: Compositions

    @Test(arguments: [true, false])
    func aCompositionReportsToBothLayers(_ frontReports: Bool) async {
        let (front, back) = (Scripted("front").removable, failing.removable)
        let composed =
            frontReports
            ? front.reporting(reports.take).combined(with: back)
            : front.combined(with: back.reporting(reports.take))
        await expectReport(of: composed, setting: 1, forKey: "a", in: "own")
    }

    @Test
    func aStorageThatPullsKeepsTheReporter() async {
        await expectReport(
            of: failing.reporting(reports.take).backed(by: MemoryStorage<String, Int>()),
            setting: 1,
            forKey: "a"
        )
    }

    @Test
    func aStorageThatIsPushedToKeepsTheReporter() async {
        await expectReport(
            of: Scripted("front").pushing(to: failing.reporting(reports.take)),
            setting: 1,
            forKey: "a"
        )
    }

    @Test
    func aLoadingStorageKeepsTheReporter() async {
        await expectReport(
            of: failing.reporting(reports.take).loading { _ in 1 },
            setting: 1,
            forKey: "a"
        )
    }

    @Test(arguments: [true, false])
    func aPairReportsToBothSides(_ leftReports: Bool) async {
        let other = Scripted("other").removable
        let reporting = failing.removable.reporting(reports.take)
        await expectReport(
            of: leftReports ? zip(reporting, other) : zip(other, reporting),
            setting: (1, 1),
            forKey: "a"
        )
    }
}
