import Foundation
import SystemPackage

/// A file for a document on its way, which only its owner can read; deleted with its last reference.
///
/// An answer that nobody writes, as the browser has left, releases it, too.
final class TemporaryFile: Sendable {
  let path: FilePath
  let descriptor: FileDescriptor

  init() throws {
    path = FilePath(FileManager.default.temporaryDirectory.path(percentEncoded: false))
      .appending("tally-web-\(UUID().uuidString)")
    descriptor = try FileDescriptor.open(
      path, .readWrite, options: [.create, .exclusiveCreate], permissions: [.ownerRead, .ownerWrite])
  }

  func append(_ bytes: [UInt8]) throws { try descriptor.writeAll(bytes) }

  func size() throws -> Int { Int(try descriptor.seek(offset: 0, from: .end)) }

  func bytes(at position: Int, count: Int) throws -> [UInt8] {
    try [UInt8](unsafeUninitializedCapacity: count) { buffer, initializedCount in
      initializedCount = try descriptor.read(
        fromAbsoluteOffset: Int64(position), into: UnsafeMutableRawBufferPointer(buffer))
    }
  }

  deinit {
    // A failure is ignored, since the system deletes temporary files.
    try? descriptor.close()
    try? FileManager.default.removeItem(atPath: path.string)
  }
}
