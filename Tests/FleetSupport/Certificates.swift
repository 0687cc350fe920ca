#if Valkey
    package import Foundation
    internal import TestThreads
    internal import VellumTestSupport

    /// An authority, and a certificate of it, made by `openssl`.
    package final class Certificates: Sendable {
        private let folder: TemporaryDirectory

        package var authority: URL { folder.file("ca.pem") }
        package var certificate: URL { folder.file("own.pem") }
        package var key: URL { folder.file("own.key") }

        /// - Parameter names: Those of the certificate.
        package init(for names: String = "IP:127.0.0.1,DNS:localhost") throws {
            folder = try TemporaryDirectory()
            try Data("subjectAltName=\(names)".utf8).write(to: folder.file("names"))
            try openssl(
                """
                req -x509 -newkey rsa:2048 -nodes -keyout ca.key -out ca.pem -days 2 -subj \
                /CN=Authority
                """
            )
            try openssl("req -newkey rsa:2048 -nodes -keyout own.key -out own.csr -subj /CN=Server")
            try openssl(
                """
                x509 -req -in own.csr -CA ca.pem -CAkey ca.key -CAcreateserial -out own.pem -days \
                2 -extfile names
                """
            )
        }

        private func openssl(_ arguments: String) throws {
            let words = arguments.split(separator: " ").map(String.init)
            let end = try Child.run("openssl", words, in: folder.url).end
            guard end == .exited(0) else { throw CocoaError(.executableLoad) }
        }
    }
#endif
