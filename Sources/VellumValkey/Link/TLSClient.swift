#if Valkey
    internal import Foundation
    internal import NIOCore
    internal import VellumCore
    internal import VellumRemote
    #if ValkeyTLS
        internal import NIOSSL
    #endif

    /// The TLS configuration of connections. Certificates are read once, when the first connection
    /// is made.
    final class TLSClient: Sendable {
        private let options: ValkeyConfiguration.TLS

        init(_ options: ValkeyConfiguration.TLS) { self.options = options }

        /// Whether each server has to have the name by which it is reached.
        var needsName: Bool { options.serverName == nil }

        #if ValkeyTLS
            private let made = Locked<NIOSSLContext?>(nil)

            private func context() throws -> NIOSSLContext {
                try made.withLock { made in
                    if let made { return made }
                    var configuration = TLSConfiguration.makeClientConfiguration()
                    if let file = options.trustedCertificates {
                        configuration.trustRoots = .file(file.path)
                    }
                    if let file = options.certificateChain {
                        configuration.certificateChain = try NIOSSLCertificate.fromPEMFile(
                            file.path
                        ).map { .certificate($0) }
                    }
                    if let file = options.privateKey {
                        configuration.privateKey = .privateKey(
                            try NIOSSLPrivateKey(file: file.path, format: .pem)
                        )
                    }
                    let context = try NIOSSLContext(configuration: configuration)
                    made = context
                    return context
                }
            }
        #endif

        /// Reads the certificates, before anything is connected.
        ///
        /// - Throws: ``RemoteFailure/refused(_:)`` if they cannot be used.
        func prepare() throws(RemoteFailure) {
            #if ValkeyTLS
                do {
                    _ = try context()
                } catch {
                    throw .refused("The certificates for TLS cannot be used: \(error)")
                }
            #else
                throw .refused("TLS needs the trait ValkeyTLS of this package.")
            #endif
        }

        /// Adds encryption for a host to a channel.
        func encrypt(_ channel: any Channel, to host: String) throws {
            #if ValkeyTLS
                let name = options.serverName ?? host
                // An address is compared with those of the certificate, and is no name.
                let isAddress = name.contains(":") || name.allSatisfy { $0.isNumber || $0 == "." }
                let handler = try NIOSSLClientHandler(
                    context: context(),
                    serverHostname: isAddress ? nil : name
                )
                try channel.pipeline.syncOperations.addHandler(handler)
            #endif
        }
    }
#endif
