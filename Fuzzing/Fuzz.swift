import Foundation

/// What libFuzzer calls with every input. `FUZZ_TARGET` says which reader is tried.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzOneInput(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    FuzzTarget.chosen.run(Data(bytes: start ?? UnsafePointer(bitPattern: 1)!, count: count))
    return 0
}

/// The program itself: what the package manager takes for `main`.
@_cdecl("Fuzz_main")
public func fuzzMain(_ count: CInt, _ arguments: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>) -> CInt {
    var (count, arguments) = (count, Optional(arguments))
    return runDriver(&count, &arguments, fuzzOneInput)
}

/// libFuzzer's way to be called (compiler-rt/lib/fuzzer/FuzzerInterface.h).
@_silgen_name("LLVMFuzzerRunDriver")
private func runDriver(
    _ count: UnsafeMutablePointer<CInt>, _ arguments: UnsafeMutablePointer<UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>?>,
    _ input: @convention(c) (UnsafePointer<UInt8>?, Int) -> CInt
) -> CInt

/// A reader of bytes that anyone may have written.
enum FuzzTarget: String, CaseIterable {
    /// Files of archives with any number of damages.
    case files
    /// The elements of a collection in an index.
    case elements
    /// Names of files in the folders of Shallows.
    case names
    /// Files whose key is too long for a name.
    case longKeys
    /// Keys of entries, and their laws.
    case keys
    /// Keys of MiniCache, and those of the original's file.
    case cacheKeys
    /// Values of MiniCache.
    case values
    /// The page in which processes tell each other of changes.
    case page
    /// Bytes that may be CBOR.
    case cbor

    static let chosen: FuzzTarget = {
        let name = ProcessInfo.processInfo.environment["FUZZ_TARGET"] ?? ""
        guard let target = FuzzTarget(rawValue: name) else {
            fatalError("FUZZ_TARGET must be one of \(allCases.map(\.rawValue).joined(separator: ", ")).")
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
        }
    }
}

/// Ends the process with the input that broke the rule, which libFuzzer keeps.
func require(_ condition: Bool, _ rule: String) {
    guard condition else { fatalError(rule) }
}
