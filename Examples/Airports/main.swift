import Foundation
import Vellum

// Records 28,298 airports of the world in an archive of bounded size, and queries them.
//
//     swift run -c release Airports [--fresh] [FOLDER]

let arguments = CommandLine.arguments.dropFirst()
let folder =
    arguments.first { !$0.hasPrefix("-") }.map { URL(fileURLWithPath: $0) }
    ?? FileManager.default.urls(for: .cachesDirectory, in: .userDomainMask)[0]
    .appendingPathComponent("Airports")
if arguments.contains("--fresh"), FileManager.default.fileExists(atPath: folder.path) {
    try FileManager.default.removeItem(at: folder)
}

let report = Report()
let demonstration = Demonstration(folder: folder, report: report)
do {
    try demonstration.run()
} catch {
    print("The demonstration failed: \(error)")
    exit(1)
}
