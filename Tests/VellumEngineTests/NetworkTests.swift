import Foundation
import TestThreads
import Testing

import VellumCore

/// Network file systems are recognized by the mount table.
@Suite(.ownThreads)
struct NetworkTests {
    private static let mounts = """
        /dev/vda / ext4 rw 0 0
        tmpfs /dev/shm tmpfs rw 0 0
        server:/home /home nfs4 rw 0 0
        /dev/vdb /home/local ext4 rw 0 0
        //server/share /mnt/share cifs rw 0 0
        host /mnt/host 9p rw 0 0
        user@host: /mnt/ssh fuse.sshfs rw 0 0
        //nas/x /mnt/My\\040Share cifs rw 0 0
        host /mnt/vm virtiofs rw 0 0
        a line of one word or of none is no mount:

        word
        server:/old /mnt/covered nfs rw 0 0
        /dev/vdc /mnt/covered ext4 rw 0 0
        """

    @Test(arguments: [
        ("/var/lib/a.sqlite", false), ("/home/ann/a.sqlite", true), ("/home/local/a.sqlite", false),
        ("/homes/a.sqlite", false),
        ("/mnt/share/deep/a.sqlite", true), ("/mnt/host/a", true), ("/mnt/ssh/a", true),
        ("/dev/shm/a", false),
        ("/mnt/My Share/a", true), ("/mnt/My", false), ("/mnt/vm/a", true),
        ("/mnt/covered/a", false), ("/", false), ("", false), ("a", false),
    ])
    func networkFileSystemsAreRecognized(_ path: String, _ isOnNetwork: Bool) {
        #expect(FileSystem.isOnNetwork(path, mounts: Array(Self.mounts.utf8)) == isOnNetwork)
    }
}
