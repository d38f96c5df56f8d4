import AsyncHTTPClient
import Foundation
import HubClient
import HubService
import NIOCore
import NIOHTTP1
import NIOSSL
import SystemPackage
import TallySync
import Testing

/// A hub that serves TLS, with certificates that openssl has made.
struct HubTLSTests {
  @Test func aClientThatTrustsTheCertificateIsAnswered() async throws {
    try await withDirectory { directory in
      let pair = try CertificateFiles(in: directory)
      let certificate = try HubCertificate(certificateFile: pair.certificate, keyFile: pair.key)
      try await withHub(certificate: certificate) { hub in
        #expect(hub.url.hasPrefix("https://"))
        let status = try await health(hub.url, trusting: pair.certificate)
        #expect(status == 200)
        let stranger = HubTransport(at: hub.url, space: SpaceID(), token: "x")
        let fault = await #expect(throws: HubFault.self) { try await stranger.heads() }
        #expect(fault?.isRefusal == false)
      }
    }
  }

  @Test func aNewCertificateIsServedAfterReloading() async throws {
    try await withDirectory { directory in
      let old = try CertificateFiles(in: directory.appending("old"))
      let new = try CertificateFiles(in: directory.appending("new"))
      let served = directory.appending("served")
      try FileManager.default.copyItem(atPath: directory.appending("old").string, toPath: served.string)
      let files = (served.appending("certificate.pem").string, served.appending("key.pem").string)
      let certificate = try HubCertificate(certificateFile: files.0, keyFile: files.1)
      try await withHub(certificate: certificate) { hub in
        try Data(contentsOf: URL(filePath: new.certificate)).write(to: URL(filePath: files.0))
        #expect(throws: NIOSSLError.self) { try certificate.reload() }
        #expect(try await health(hub.url, trusting: old.certificate) == 200)
        try Data(contentsOf: URL(filePath: new.key)).write(to: URL(filePath: files.1))
        try certificate.reload()
        #expect(try await health(hub.url, trusting: new.certificate) == 200)
        await #expect(throws: (any Error).self) { try await health(hub.url, trusting: old.certificate) }
      }
    }
  }

  /// The status of the health of a hub, for a client that trusts one certificate.
  private func health(_ url: String, trusting certificate: String) async throws -> UInt {
    var configuration = HTTPClient.Configuration()
    configuration.tlsConfiguration = .makeClientConfiguration()
    configuration.tlsConfiguration?.trustRoots = .file(certificate)
    configuration.connectionPool.retryConnectionEstablishment = false
    let client = HTTPClient(configuration: configuration)
    do {
      let response = try await client.execute(HTTPClientRequest(url: "\(url)/health"), timeout: .seconds(60))
      try await client.shutdown()
      return response.status.code
    } catch {
      try await client.shutdown()
      throw error
    }
  }
}

/// A certificate for this machine that signs itself.
struct CertificateFiles {
  let certificate: String
  let key: String

  struct NoOpenSSL: Error {}

  init(in directory: FilePath) throws {
    try FileManager.default.createDirectory(atPath: directory.string, withIntermediateDirectories: true)
    (certificate, key) = (directory.appending("certificate.pem").string, directory.appending("key.pem").string)
    let process = Process()
    process.executableURL = URL(filePath: "/usr/bin/env")
    process.arguments = [
      "openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2",
      "-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost,IP:127.0.0.1", "-keyout", key, "-out",
      certificate,
    ]
    process.standardError = FileHandle.nullDevice
    try process.run()
    process.waitUntilExit()
    guard process.terminationStatus == 0 else { throw NoOpenSSL() }
  }
}
