package import Foundation

/// What Apple platforms do with the files of a folder: whether they can be read on a locked device,
/// and whether they are backed up.
///
/// Set on the folder, so that new files in it have them, such as the log and the other side files
/// of a database. Without effect on Linux.
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

    /// Sets them on a folder. Files that are already there do not take them over.
    package func apply(to folder: URL) throws(FileError) {
        #if canImport(Darwin)
            if let fileProtection {
                try protect(folder.path, FileProtectionType(rawValue: fileProtection))
            }
            guard isExcludedFromBackup else { return }
            do {
                var folder = folder
                var values = URLResourceValues()
                values.isExcludedFromBackup = true
                try folder.setResourceValues(values)
            } catch {
                throw failure(error, folder.path)
            }
        #endif
    }

    /// Sets the protection of files that exist. Foundation opens and closes them, so this process
    /// must have no lock on them (sqlite.org/howtocorrupt.html, 2.2).
    package func apply(toFiles paths: [String]) throws(FileError) {
        #if canImport(Darwin)
            guard let fileProtection else { return }
            for path in paths where FileManager.default.fileExists(atPath: path) {
                try protect(path, FileProtectionType(rawValue: fileProtection))
            }
        #endif
    }

    /// Sets a weaker protection of a file that is mapped into memory, and has no data of the user:
    /// a page of it that could not be read would end the process.
    package func apply(toMappedFile path: String) throws(FileError) {
        #if canImport(Darwin)
            guard fileProtection != nil else { return }
            try protect(path, .completeUntilFirstUserAuthentication)
        #endif
    }

    #if canImport(Darwin)
        private func protect(_ path: String, _ type: FileProtectionType) throws(FileError) {
            do {
                try FileManager.default.setAttributes([.protectionKey: type], ofItemAtPath: path)
            } catch {
                throw failure(error, path)
            }
        }

        private func failure(_ error: any Error, _ path: String) -> FileError {
            let cause = (error as? CocoaError)?.underlying as? POSIXError
            return FileError(.protecting, cause?.code.rawValue ?? EIO, path)
        }
    #endif
}
