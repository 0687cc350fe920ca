import Foundation

/// The entry point that libFuzzer calls with each input. `FUZZ_TARGET` selects the reader under
/// test.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzOneInput(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    FuzzTarget.chosen.run(Data(UnsafeBufferPointer(start: start, count: start == nil ? 0 : count)))
    return 0
}

/// The `main` function of the executable.
@_cdecl("Fuzz_main")
public func fuzzMain(
    _ count: CInt,
    _ arguments: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>
) -> CInt {
    var (count, arguments) = (count, Optional(arguments))
    return runDriver(&count, &arguments, fuzzOneInput)
}

/// libFuzzer's driver (compiler-rt/lib/fuzzer/FuzzerInterface.h).
@_silgen_name("LLVMFuzzerRunDriver")
private func runDriver(
    _ count: UnsafeMutablePointer<CInt>,
    _ arguments: UnsafeMutablePointer<UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>?>,
    _ input: @convention(c) (UnsafePointer<UInt8>?, Int) -> CInt
) -> CInt

/// A reader of untrusted bytes.
enum FuzzTarget: String, CaseIterable {
    /// Database files of archives with random damage.
    case files
    /// The elements of a collection in an index.
    case elements
    /// Names of files in the folders of Shallows.
    case names
    /// Files whose key is too long for a file name.
    case longKeys
    /// Entry keys: equality, hashing and normalization.
    case keys
    /// Keys of MiniCache, and those of the original's file.
    case cacheKeys
    /// Values of MiniCache.
    case values
    /// The shared page in which processes announce changes.
    case page
    /// CBOR data.
    case cbor
    /// What a server of shared caches sends.
    case resp
    /// Entries on such a server, and their keys.
    case records
    /// Times and dates that such a server may claim.
    case times

    static let chosen: FuzzTarget = {
        let name = ProcessInfo.processInfo.environment["FUZZ_TARGET"] ?? ""
        guard let target = FuzzTarget(rawValue: name) else {
            fatalError(
                "FUZZ_TARGET must be one of \(allCases.map(\.rawValue).joined(separator: ", "))."
            )
        }
        return target
    }()

    func run(_ input: Data) {
        switch self {
        case .files: DamagedFiles.shared.run(input)
        case .elements: FuzzedReaders.elements(input)
        case .names: FuzzedReaders.names(input)
        case .longKeys: FuzzedReaders.longKeys(input)
        case .keys: FuzzedReaders.keys(input)
        case .cacheKeys: FuzzedReaders.cacheKeys(input)
        case .values: FuzzedReaders.values(input)
        case .page: FuzzedReaders.page(input)
        case .cbor: FuzzedCoder.run(input)
        case .resp: FuzzedServer.replies(input)
        case .records: FuzzedServer.records(input)
        case .times: FuzzedServer.times(input)
        }
    }
}

/// Stops the process if the condition is false. libFuzzer then saves the input.
func require(_ condition: Bool, _ rule: String) {
    guard condition else { fatalError(rule) }
}
