internal import Foundation

/// What tests do that takes long, for `Scripts/work.py`: in the file that `VELLUM_WORK` names, if
/// it names one.
package enum Work: String {
    /// Processes that tests start, most of them to be killed.
    case kills
    /// Contents of a disk after power was lost, that were opened.
    case images
    /// Calls of a disk that failed.
    case faults
    /// Files that were damaged, and opened.
    case damages

    package func count(_ number: Int = 1) {
        guard let path = ProcessInfo.processInfo.environment["VELLUM_WORK"],
            let file = fopen(path, "a")
        else { return }
        fputs("\(rawValue) \(number)\n", file)
        fclose(file)
    }
}
