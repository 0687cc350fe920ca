import Foundation
import Testing

@testable import MiniCache

/// The version of a program without and with an `Info.plist`.
@Suite(.timeLimit(.minutes(60)))
struct CacheVersionTests {
    let folder = FileManager.default.temporaryDirectory.appendingPathComponent("CacheVersionTests-\(UUID().uuidString)")

    /// Writes a file like a program of 20 kB, whose beginning differs between builds, and returns its path.
    private func program(build: UInt8, body: UInt8 = 7, date: Double = 1_700_000_000) throws -> String {
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        let file = folder.appendingPathComponent("program")
        try (Data(repeating: build, count: 100) + Data(repeating: body, count: 20_000)).write(to: file)
        try FileManager.default.setAttributes([.modificationDate: Date(timeIntervalSince1970: date)], ofItemAtPath: file.path)
        return file.path
    }

    @Test func theFingerprintOfAProgramChangesWithItsBuildItsSizeAndItsDate() throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        let first = try #require(ProgramVersion.fingerprint(ofFile: program(build: 1)))
        #expect(try ProgramVersion.fingerprint(ofFile: program(build: 1)) == first)
        #expect(try ProgramVersion.fingerprint(ofFile: program(build: 2)) != first)
        #expect(try ProgramVersion.fingerprint(ofFile: program(build: 1, date: 1_700_000_001)) != first)
        #expect(ProgramVersion.fingerprint(ofFile: folder.appendingPathComponent("none").path) == nil)
    }

    @Test func theInfoPlistComesFirst() throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        let app = folder.appendingPathComponent("Some.app")
        try FileManager.default.createDirectory(at: app, withIntermediateDirectories: true)
        let numbers = ["CFBundleShortVersionString": "1.2", "CFBundleVersion": "34"]
        try PropertyListSerialization.data(fromPropertyList: numbers, format: .xml, options: 0).write(
            to: app.appendingPathComponent("Info.plist"))
        let bundle = try #require(Bundle(url: app))
        #expect(ProgramVersion.text(bundle: bundle, executable: nil) == "1.2-34")
    }

    @Test func aProgramWithoutAnInfoPlistHasAVersion() throws {
        #expect(!CacheVersion.appVersion.text.isEmpty)
        #expect(CacheVersion.appVersion.text == CacheVersion.appVersion.text)
    }

    @Test(arguments: ["Counter", "", "\u{0}", "\u{1}", "\u{1}0", "a\u{0}b\u{1}1", "e\u{301}"], ["1", "", "\u{301}"])
    func theNameOfACacheIsPartOfItsArchivesName(name: String, version: String) {
        let archive = CacheLocation(name: name, version: version).archiveName
        #expect(Array(CacheLocation.name(ofArchive: archive).unicodeScalars) == Array(name.unicodeScalars))
    }
}
