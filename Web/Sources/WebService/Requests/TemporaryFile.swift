import Foundation
import SystemPackage

#if canImport(Darwin)
  import Darwin
#elseif canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// A nameless file for a document in transit; the last reference frees its space.
///
/// An answer that nobody writes because the browser has left releases it, too, and so does the end of the program.
final class TemporaryFile: Sendable {
  let descriptor: FileDescriptor

  private static let nameStart = "tally-web-"

  /// Makes an empty file, and removes those that killed programs have left beside it.
  ///
  /// - Parameter parent: The directory for it; `nil` for the system's temporary one.
  /// - Throws: `Errno`.
  init(in parent: FilePath? = nil) throws {
    let parent = parent ?? FilePath(FileManager.default.temporaryDirectory.path(percentEncoded: false))
    Self.removeOrphans(in: parent)
    let path = parent.appending(Self.nameStart + UUID().uuidString)
    let file = try FileDescriptor.open(
      path, .readWrite, options: [.create, .exclusiveCreate, .closeOnExec], permissions: [.ownerRead, .ownerWrite])
    do {
      // The descriptor is enough, and a file without a name does not outlive the program.
      try Self.removeName(path)
    } catch {
      try? file.close()
      throw error
    }
    descriptor = file
  }

  /// Removes the empty files of programs that were killed before they removed the name.
  ///
  /// The name of another program's file may be removed, too, because that program no longer needs it.
  private static func removeOrphans(in parent: FilePath) {
    for name in (try? FileManager.default.contentsOfDirectory(atPath: parent.string)) ?? [] {
      guard name.hasPrefix(nameStart), UUID(uuidString: String(name.dropFirst(nameStart.count))) != nil else {
        continue
      }
      let path = parent.appending(name)
      var status = stat()
      let isOrphan =
        lstat(path.string, &status) == 0 && status.st_mode & S_IFMT == S_IFREG && status.st_size == 0
        && status.st_uid == geteuid()
      if isOrphan { try? removeName(path) }
    }
  }

  private static func removeName(_ path: FilePath) throws {
    guard unlink(path.string) != 0, errno != ENOENT else { return }
    throw Errno(rawValue: errno)
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
    // There is no remedy for a failure here.
    try? descriptor.close()
  }
}
