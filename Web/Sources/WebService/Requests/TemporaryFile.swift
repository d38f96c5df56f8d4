import Foundation
import SystemPackage

/// A file for a document on its way, which has no name; its space is free again with its last reference.
///
/// An answer that nobody writes, as the browser has left, releases it, too, and so does the end of the program.
final class TemporaryFile: Sendable {
  let descriptor: FileDescriptor

  init() throws {
    let path = FilePath(FileManager.default.temporaryDirectory.path(percentEncoded: false))
      .appending("tally-web-\(UUID().uuidString)")
    descriptor = try FileDescriptor.open(
      path, .readWrite, options: [.create, .exclusiveCreate], permissions: [.ownerRead, .ownerWrite])
    // The descriptor is enough; without a name nothing is left if the program ends.
    try FileManager.default.removeItem(atPath: path.string)
  }

  func append(_ bytes: [UInt8]) throws { try descriptor.writeAll(bytes) }

  /// Goes back to the beginning, for a reader.
  func rewind() throws { _ = try descriptor.seek(offset: 0, from: .start) }

  func size() throws -> Int { Int(try descriptor.seek(offset: 0, from: .end)) }

  func bytes(at position: Int, count: Int) throws -> [UInt8] {
    try [UInt8](unsafeUninitializedCapacity: count) { buffer, initializedCount in
      initializedCount = try descriptor.read(
        fromAbsoluteOffset: Int64(position), into: UnsafeMutableRawBufferPointer(buffer))
    }
  }

  deinit {
    // Nobody could do anything about a failure.
    try? descriptor.close()
  }
}
