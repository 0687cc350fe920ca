package import Foundation

/// What Apple platforms do with the files of a folder: whether they can be read on a locked device, and whether they are backed up.
///
/// Set on the folder, so that new files in it have them, such as the log and the other side files of a database. Without effect on Linux.
package struct FolderAttributes: Equatable, Sendable {
    /// The raw value of Foundation's type; `nil` leaves the folder as it is.
    private let fileProtection: String?
    private let isExcludedFromBackup: Bool

    /// Leaves a folder as it is.
    package static let unchanged = FolderAttributes(fileProtection: nil, excludedFromBackup: false)

    package init(fileProtection: FileProtectionType?, excludedFromBackup: Bool) {
        self.fileProtection = fileProtection?.rawValue
        isExcludedFromBackup = excludedFromBackup
    }

    /// Sets them on a folder, and the protection also on the files that are already there: they do not take it over.
    package func apply(to folder: URL, _ files: [String]) throws {
        #if canImport(Darwin)
            if let fileProtection {
                let attributes = [FileAttributeKey.protectionKey: FileProtectionType(rawValue: fileProtection)]
                try FileManager.default.setAttributes(attributes, ofItemAtPath: folder.path)
                for file in files where FileManager.default.fileExists(atPath: file) {
                    try FileManager.default.setAttributes(attributes, ofItemAtPath: file)
                }
            }
            if isExcludedFromBackup {
                var (folder, values) = (folder, URLResourceValues())
                values.isExcludedFromBackup = true
                try folder.setResourceValues(values)
            }
        #endif
    }
}
