internal import Foundation
internal import VellumCore

/// The reason why a file cannot be opened, and advice.
///
/// ``init(path:_:)`` inspects the path; ``advice`` depends only on the stored properties.
struct OpeningProblem: Equatable {
    enum Kind: Equatable {
        case missing, file, folder, other
    }

    var path: String
    /// The kind of file at the path.
    var kind: Kind
    var isReadable = true
    var isWritable = true
    /// The nearest existing path above `path`, normally a folder.
    var folder: String
    var folderKind = Kind.folder
    var isFolderWritable = true
    /// The system's error, if it reported one.
    var systemError: POSIXErrorCode?

    /// Inspects the path and the folders above it.
    init(path: String, _ error: POSIXErrorCode? = nil) {
        self.path = path
        systemError = error
        kind = Self.kind(of: path)
        isReadable = kind == .missing || access(path, R_OK) == 0
        isWritable = kind == .missing || access(path, W_OK) == 0
        folder = path
        repeat {
            folder = (folder as NSString).deletingLastPathComponent
        } while Self.kind(of: folder) == .missing && folder.count > 1
        folderKind = Self.kind(of: folder)
        isFolderWritable = access(folder, W_OK | X_OK) == 0
    }

    init(path: String, kind: Kind, folder: String, systemError: POSIXErrorCode? = nil) {
        (self.path, self.kind, self.folder, self.systemError) = (path, kind, folder, systemError)
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

    /// The problem and what to do about it, in one or two sentences.
    var advice: String {
        switch systemError {
        case .EMFILE, .ENFILE: return "Too many files are open. Close some, or raise the limit (ulimit -n)."
        case .ENAMETOOLONG:
            let longest = path.split(separator: "/").map(\.utf8.count).max() ?? 0
            return longest > Int(NAME_MAX)
                ? "A name in the path has \(longest) bytes, and at most \(NAME_MAX) are allowed. Choose a shorter one."
                : "The path of \(path.utf8.count) bytes is longer than the system allows. Choose a shorter one."
        case .ENOENT where folder == (path as NSString).deletingLastPathComponent:
            return "The folder \(folder) exists, but takes no files or folders of a program. Choose another path."
        case .EROFS: return "The volume is read-only. Choose a folder on another one."
        case .ELOOP: return "The path has a cycle of symbolic links. Give the path of the file."
        default: break
        }
        switch kind {
        case .folder: return "It is a folder, and a file is needed. Give the path of a file in it."
        case .other: return "It is neither a file nor a folder. Move it away, or choose another path."
        case .file where !isReadable:
            return "Its permissions do not let this user read it. Change them (chmod u+rw), or choose another path."
        case .file where !isWritable:
            return "Its permissions do not let this user write it. Change them (chmod u+w), or choose another path."
        case .file, .missing: break
        }
        if folderKind == .file || folderKind == .other { return "\(folder) is a file, and a folder is needed there. Choose another path." }
        if !isFolderWritable {
            return kind == .missing
                ? "The folder \(folder) does not let this user create files in it. Change its permissions, or choose another folder."
                : "The folder \(folder) does not let this user write, and a database needs side files there. Change its permissions."
        }
        guard let systemError else { return "The system refused to open it. See the underlying error." }
        return "The system says: \(String(cString: strerror(systemError.rawValue))). Choose another path."
    }
}
