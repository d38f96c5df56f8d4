import NIOCore
package import NIOSSL
import Synchronization

/// The certificate with which a hub serves TLS, and its key.
///
/// Connections that begin after ``reload()`` use the new contents of the files; earlier ones continue with the old
/// ones.
package final class HubCertificate: Sendable {
  private struct Pair {
    let chain: [NIOSSLCertificateSource]
    let key: NIOSSLPrivateKeySource
  }

  private let certificateFile: String
  private let keyFile: String
  private let pair: Mutex<Pair>

  /// Reads the files.
  ///
  /// - Parameters:
  ///   - certificateFile: The certificate and the intermediate ones up to its root, as PEM.
  ///   - keyFile: The private key, as PEM.
  /// - Throws: ``OperatorFile/Unusable``; `NIOSSLError` if a file is not PEM, or if the key is not the certificate's.
  package init(certificateFile: String, keyFile: String) throws {
    (self.certificateFile, self.keyFile) = (certificateFile, keyFile)
    pair = Mutex(try Self.load(certificateFile, keyFile))
  }

  /// Reads the files again.
  ///
  /// - Throws: As ``init(certificateFile:keyFile:)``; the hub then continues with the old ones.
  package func reload() throws {
    let new = try Self.load(certificateFile, keyFile)
    pair.withLock { $0 = new }
  }

  /// The configuration of the server.
  package var configuration: TLSConfiguration {
    var configuration = Self.configuration(of: pair.withLock { $0 })
    configuration.sslContextCallback = { [self] _, promise in
      let pair = pair.withLock { $0 }
      var current = NIOSSLContextConfigurationOverride()
      (current.certificateChain, current.privateKey) = (pair.chain, pair.key)
      promise.succeed(current)
    }
    return configuration
  }

  private static func configuration(of pair: Pair) -> TLSConfiguration {
    var configuration = TLSConfiguration.makeServerConfiguration(certificateChain: pair.chain, privateKey: pair.key)
    configuration.minimumTLSVersion = .tlsv12
    configuration.applicationProtocols = ["http/1.1"]
    return configuration
  }

  private static func load(_ certificateFile: String, _ keyFile: String) throws -> Pair {
    let pair = Pair(
      chain: try NIOSSLCertificate.fromPEMBytes(OperatorFile.bytes(of: certificateFile)).map { .certificate($0) },
      key: .privateKey(try NIOSSLPrivateKey(bytes: OperatorFile.bytes(of: keyFile), format: .pem)))
    // This fails for a key of another certificate.
    _ = try NIOSSLContext(configuration: configuration(of: pair))
    return pair
  }
}
