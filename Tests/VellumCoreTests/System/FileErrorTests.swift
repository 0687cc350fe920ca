import Foundation
import TestThreads
import Testing
import VellumCore
import VellumTestSupport

@Suite(.ownThreads)
struct FileErrorTests {
    @Test(
        arguments: [
            (ENOSPC, "Free some space, then try again."),
            (EROFS, "The volume is read-only: choose another one."),
            (ENOENT, "Create the folder, or correct the path."),
            (EISDIR, "A folder is in the place of the file: remove it, or correct the path."),
            (
                ENOTDIR,
                """
                A folder is needed there, and it or a folder above it is a file. Choose another \
                path.
                """
            ), (EIO, "Check the disk."),
        ] as [(Int32, String)]
    )
    func theDescriptionContainsThePathTheReasonAndAdvice(code: Int32, advice: String) {
        let error = FileError(.creating, code, "/var/cache/app")
        let reason = String(cString: strerror(code))
        #expect(
            error.description
                == "A file could not be created: \(reason) (\(code)), at /var/cache/app. \(advice)"
        )
    }

    @Test func adviceAboutPermissionsFitsTheStep() {
        #expect(
            FileError(.writing, EACCES, "/a").description.hasSuffix(
                "Check that this program may write there."
            )
        )
        #expect(
            FileError(.reading, EACCES, "/a").description.hasSuffix(
                "Check that this program may read it."
            )
        )
    }

    @Test func anUnknownReasonHasNoAdvice() {
        #expect(FileError(.reading, EPIPE, "/a").description.hasSuffix("at /a."))
    }

    /// A file named after a key is shown as its folder.
    @Test func aHiddenNameAppearsOnlyInTheDebugDescription() {
        let error = FileError(.reading, EIO, "/a/secret", shownAs: "/a")
        #expect(!error.description.contains("secret"))
        #expect(error.debugDescription.contains("/a/secret"))
    }

    @Test func negatedCodesAreAccepted() {
        #expect(FileError(.reading, -EIO, "").code == EIO)
        #expect(FileError(.reading, -EIO, "").underlying.code == .EIO)
    }
}
