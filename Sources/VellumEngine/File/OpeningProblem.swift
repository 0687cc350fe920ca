package import Foundation
internal import VellumCore

/// The reason why a file cannot be opened, and advice.
///
/// ``init(path:_:)`` inspects the path; ``advice`` depends only on the stored properties.
package struct OpeningProblem: Equatable {
    enum Kind: Equatable {
        case missing, file, folder, other
    }

    var path: String
    /// The kind of file at the path.
    var kind: Kind
    var isReadable = true
    var isWritable = true
    /// The user to whom the file belongs; `nil` if it is this one, or there is no file.
    var owner: String?
    /// The user to whom `folder` belongs; `nil` if it is this one.
    var folderOwner: String?
    /// The nearest existing path above `path`, normally a folder.
    var folder: String
    var folderKind = Kind.folder
    var isFolderWritable = true
    /// The system's error, if it reported one.
    var systemError: POSIXErrorCode?

    /// Inspects the path and the folders above it.
    package init(path: String, _ error: POSIXErrorCode? = nil) {
        self.path = path
        systemError = error
        kind = Self.kind(of: path)
        isReadable = kind == .missing || access(path, R_OK) == 0
        isWritable = kind == .missing || access(path, W_OK) == 0
        owner = Self.otherOwner(of: path)
        folder = path
        repeat {
            folder = (folder as NSString).deletingLastPathComponent
        } while Self.kind(of: folder) == .missing && folder.count > 1
        folderKind = Self.kind(of: folder)
        isFolderWritable = access(folder, W_OK | X_OK) == 0
        folderOwner = Self.otherOwner(of: folder)
    }

    init(path: String, kind: Kind, folder: String, systemError: POSIXErrorCode? = nil) {
        self.path = path
        self.kind = kind
        self.folder = folder
        self.systemError = systemError
    }

    private static func kind(of path: String) -> Kind {
        var status = stat()
        guard stat(path, &status) == 0 else { return .missing }
        switch status.st_mode & S_IFMT {
        case S_IFREG: return .file
        case S_IFDIR: return .folder
        default: return .other
        }
    }

    /// The user to whom a file belongs; `nil` if it is this one.
    private static func otherOwner(of path: String) -> String? {
        var status = stat()
        guard stat(path, &status) == 0, status.st_uid != geteuid() else { return nil }
        return name(ofUser: status.st_uid)
    }

    /// The name of a user, or the number if it has none.
    private static func name(ofUser number: uid_t) -> String {
        withUnsafeTemporaryAllocation(of: CChar.self, capacity: 4096) { buffer in
            var record = passwd()
            var found: UnsafeMutablePointer<passwd>?
            guard let start = buffer.baseAddress,
                getpwuid_r(number, &record, start, buffer.count, &found) == 0, found != nil,
                let name = record.pw_name
            else { return "\(number)" }
            return String(cString: name)
        }
    }

    /// The problem and what to do about it, in one or two sentences.
    package var advice: String {
        switch systemError {
        case .EMFILE, .ENFILE:
            return
                """
                Too many files are open. Close some, or raise the limit (ulimit -n): a file of \
                this package takes five to seventeen.
                """
        case .ENAMETOOLONG:
            let longest =
                path.split(separator: "/").map(\.utf8.count).max() ?? 0
            if longest > Int(NAME_MAX) {
                return
                    """
                    A name in the path has \(longest) bytes, and at most \(NAME_MAX) are allowed. \
                    Choose a shorter one.
                    """
            }
            let name = path.split(separator: "/").last?.utf8.count ?? 0
            return name > FilePaths.longestName
                ? """
                The name of the file has \(name) bytes, and at most \(FilePaths.longestName) are \
                allowed. Choose a shorter one.
                """
                : """
                The path has \(path.utf8.count) bytes, and SQLite allows \(FilePaths.longestPath). \
                Choose a shorter one.
                """
        case .ENOENT where folder == (path as NSString).deletingLastPathComponent:
            return
                """
                The folder \(folder) exists, but takes no files or folders of a program. Choose \
                another path.
                """
        case .ENOENT where folderKind == .folder:
            return
                """
                The folder \((path as NSString).deletingLastPathComponent) is gone: it was removed \
                or renamed meanwhile. Try again.
                """
        case .EROFS: return "The volume is read-only. Choose a folder on another one."
        case .ELOOP: return "The path has a cycle of symbolic links. Give the path of the file."
        default: break
        }
        switch kind {
        case .folder: return "It is a folder, and a file is needed. Give the path of a file in it."
        case .other:
            return "It is neither a file nor a folder. Move it away, or choose another path."
        case .file where !isReadable: return permissionProblem("read", "chmod u+rw")
        case .file where !isWritable: return permissionProblem("write", "chmod u+w")
        case .file, .missing: break
        }
        if folderKind == .file || folderKind == .other {
            return "\(folder) is a file, and a folder is needed there. Choose another path."
        }
        if !isFolderWritable {
            let problem =
                kind == .missing
                ? "The folder \(folder) does not let this user create files in it."
                : """
                The folder \(folder) does not let this user write, and a database needs side files \
                there.
                """
            guard let folderOwner else {
                return "\(problem) Change its permissions, or choose another folder."
            }
            return
                """
                \(problem) It belongs to the user \(folderOwner): run the program as \
                \(folderOwner), or choose another folder.
                """
        }
        guard let systemError else {
            return "The system refused to open it, and SQLite does not say why."
        }
        return
            """
            The system says: \(String(cString: strerror(systemError.rawValue))). Choose another \
            path.
            """
    }

    private func permissionProblem(_ verb: String, _ command: String) -> String {
        guard let owner else {
            return
                """
                Its permissions do not let this user \(verb) it. Change them (\(command)), or \
                choose another path.
                """
        }
        return """
            It belongs to the user \(owner), and its permissions do not let this user \(verb) it. \
            Run the program as \(owner), have an administrator change the owner (chown), or choose \
            another path.
            """
    }
}
