import Foundation
import TestThreads
import Testing

@testable import Shallows

/// Folders that the original wrote. Each file holds a city whose name is its key.
@Suite(.ownThreads)
struct OriginalFilesTests {
    private struct City: Codable, Equatable {
        var name: String
        var foundationYear: Int
    }

    private static let samples = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
        .appendingPathComponent("../../../Fixtures/Originals/Shallows").standardizedFileURL

    let scratch: Scratch

    init() throws { scratch = try Scratch() }

    private func copy(_ name: String) throws -> URL {
        let folder = scratch.url.appendingPathComponent(
            name.replacingOccurrences(of: "/", with: "-")
        )
        try FileManager.default.copyItem(at: Self.samples.appendingPathComponent(name), to: folder)
        return folder
    }

    /// The keys of a folder's files, by what is in them.
    private func keys(in folder: URL) throws -> [String] {
        let files = try #require(
            FileManager.default.enumerator(
                at: folder,
                includingPropertiesForKeys: [.isRegularFileKey]
            )
        )
        return try files.compactMap { $0 as? URL }
            .filter { try $0.resourceValues(forKeys: [.isRegularFileKey]).isRegularFile == true }
            .map { try JSONDecoder().decode(City.self, from: Data(contentsOf: $0)).name }
    }

    @Test(arguments: [("cities", TestEncoder.base64), ("cities-url", .base64URL)])
    func everyFileOfBase64IsFound(_ name: String, _ encoder: TestEncoder) throws {
        let folder = try copy("caches/" + name)
        let keys = try keys(in: folder)
        #expect(keys.count == 19)
        let files = FolderFiles(.init(folder: folder, encoder: encoder.encoder))
        for key in keys { #expect(try files.read(Filename(rawValue: key)) != nil, "\(key)") }
        #expect(try Set(files.keys().map(\.rawValue)) == Set(keys))
    }

    /// A key with several slashes in a row had the file of the key with one.
    static let keyWithoutAFile = ">>>///???"

    @Test func everyFileThatTheOriginalKeptApartIsFoundWithoutAnEncoding() throws {
        let folder = try copy("caches/cities-plain")
        let keys = try keys(in: folder)
        #expect(keys.count == 17)
        let files = FolderFiles(.init(folder: folder, encoder: .noEncoding))
        for key in keys {
            #expect(
                try (files.read(Filename(rawValue: key)) != nil) == (key != Self.keyWithoutAFile),
                "\(key)"
            )
        }
        #expect(
            try Set(files.keys().map(\.rawValue))
                == Set(keys.map { $0 == Self.keyWithoutAFile ? ">>>/???" : $0 })
        )
        #expect(try files.string(">>>/???")?.contains("???") == true)
    }

    @Test func everyFileThatTheOriginalKeptApartIsFoundUnderACustomEncoder() throws {
        let folder = try copy("caches/cities-custom")
        let keys = try keys(in: folder)
        #expect(keys.count == 19)
        let files = FolderFiles(
            .init(folder: folder, encoder: .custom { $0.rawValue.uppercased() + ".json" })
        )
        for key in keys {
            #expect(
                try (files.read(Filename(rawValue: key)) != nil) == (key != Self.keyWithoutAFile),
                "\(key)"
            )
        }
    }

    @Test func otherFormatsAreRead() async throws {
        let strings = DiskFolderStorage(folderURL: try copy("caches/strings")).mapString()
        #expect(try await strings.retrieve(forKey: "hello").isEmpty == false)
        let plists = DiskFolderStorage(folderURL: try copy("caches/plists")).mapPlistObject(
            City.self
        )
        #expect(try await plists.retrieve(forKey: "p").name.isEmpty == false)
        let settings = DiskFolderStorage(folderURL: try copy("data/settings"))
        #expect(try await settings.retrieve(forKey: "settings").isEmpty == false)
    }
}
