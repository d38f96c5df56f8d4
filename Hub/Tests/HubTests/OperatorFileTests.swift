import Foundation
import HubService
import NIOSSL
import SystemPackage
import Testing

/// Files that the operator of a hub names: none fills the memory or lets the hub wait.
struct OperatorFileTests {
  @Test func aSmallFileIsReadAsAWhole() async throws {
    try await withDirectory { directory in
      let file = directory.appending("secret")
      for count in [0, 1, OperatorFile.mostBytes] {
        let bytes = [UInt8](repeating: 0x61, count: count)
        try Data(bytes).write(to: URL(filePath: file.string))
        #expect(try OperatorFile.bytes(of: file.string) == bytes)
      }
      try "\n  the secret \nmore\n".write(toFile: file.string, atomically: false, encoding: .utf8)
      #expect(try OperatorFile.firstLine(of: file.string) == "thesecret")
      // Systems that keep secrets give links to them.
      let link = directory.appending("link").string
      try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: file.string)
      #expect(try OperatorFile.firstLine(of: link) == "thesecret")
    }
  }

  @Test func whatIsTooLargeOrNoFileIsRefused() async throws {
    try await withUnusableFiles { files in
      for (path, reason) in files {
        let error = #expect(throws: OperatorFile.Unusable.self) { try OperatorFile.text(of: path) }
        #expect(error == OperatorFile.Unusable(path: path, reason: reason))
        #expect(error?.description.contains(path) == true)
      }
    }
  }

  @Test func aSecretWithoutTextIsNone() async throws {
    try await withDirectory { directory in
      let file = directory.appending("secret").string
      for text in ["", " \n\t\n"] {
        try text.write(toFile: file, atomically: false, encoding: .utf8)
        let error = #expect(throws: OperatorFile.Unusable.self) { try OperatorFile.firstLine(of: file) }
        #expect(error?.reason == .empty)
      }
    }
  }

  @Test func keysOfIssuersStayWhereTheNewFileIsRefused() async throws {
    try await withUnusableFiles { files in
      for (path, reason) in files {
        let error = await #expect(throws: OperatorFile.Unusable.self) {
          _ = try await HubIssuers(file: path, audience: "tally")
        }
        #expect(error?.reason == reason)
      }
    }
    try await withDirectory { directory in
      let file = directory.appending("keys.json").string
      let key = String(repeating: "A", count: 43)
      try #"{"keys": [{"kty": "oct", "kid": "1", "alg": "HS256", "k": "\#(key)"}]}"#
        .write(toFile: file, atomically: false, encoding: .utf8)
      let issuers = try await HubIssuers(file: file, audience: "tally")
      try await issuers.reload()
      #expect(truncate(file, off_t(OperatorFile.mostBytes) + 1) == 0)
      let error = await #expect(throws: OperatorFile.Unusable.self) { try await issuers.reload() }
      #expect(error?.reason == .tooLarge)
    }
  }

  @Test func certificatesAreBoundedToo() async throws {
    try await withUnusableFiles { files in
      for (path, reason) in files {
        let error = #expect(throws: OperatorFile.Unusable.self) {
          _ = try HubCertificate(certificateFile: path, keyFile: path)
        }
        #expect(error?.reason == reason)
      }
    }
  }

  /// Runs a body with paths that a hub must not read to their end, and why.
  private func withUnusableFiles(_ body: ([(String, OperatorFile.Unusable.Reason)]) async throws -> Void) async throws {
    try await withDirectory { directory in
      let (large, pipe, zero) = (
        directory.appending("large").string, directory.appending("pipe").string, directory.appending("zero").string
      )
      // Of holes alone: reading all of it would take more memory than there is.
      try Data().write(to: URL(filePath: large))
      try #require(truncate(large, 1 << 40) == 0)
      try #require(mkfifo(pipe, 0o600) == 0)
      try FileManager.default.createSymbolicLink(atPath: zero, withDestinationPath: "/dev/zero")
      try await body([
        (large, .tooLarge), (pipe, .notAFile), (zero, .notAFile), (directory.string, .notAFile),
        (directory.appending("none").string, .system(.noSuchFileOrDirectory)),
      ])
    }
  }
}
