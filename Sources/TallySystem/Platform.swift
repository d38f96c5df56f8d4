package import SystemPackage

#if canImport(Darwin)
  import Darwin
#elseif canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif
#if os(Linux)
  import CTallySystem
#endif

/// What identifies a file or directory, whatever path leads there.
package struct FileIdentity: Hashable, Sendable {
  package let device: UInt64
  package let inode: UInt64

  /// Looks a path up, following links.
  package init(of path: FilePath) throws(Errno) {
    // `stat` only writes into the local that it is given.
    try self.init { status in unsafe path.withPlatformString { unsafe stat($0, &status) } }
  }

  /// Reads the status of an open file.
  package init(of descriptor: FileDescriptor) throws(Errno) {
    // As above.
    try self.init { status in unsafe fstat(descriptor.rawValue, &status) }
  }

  private init(_ look: (inout stat) -> CInt) throws(Errno) {
    var status = stat()
    guard look(&status) == 0 else { throw Errno(rawValue: errno) }
    device = UInt64(truncatingIfNeeded: status.st_dev)
    inode = UInt64(truncatingIfNeeded: status.st_ino)
  }
}

extension FilePath {
  /// The directory that holds what this path names; the current one for a lone name.
  package var parentOrCurrent: FilePath {
    let parent = removingLastComponent()
    return parent.isEmpty ? "." : parent
  }
}

/// Reads small files as a whole.
package enum WholeFile {
  /// The path is that of a directory, a device or a pipe.
  package struct NotAFile: Error, CustomStringConvertible {
    package var description: String { "It is not a regular file" }
  }

  /// The file is larger than allowed.
  package struct TooLarge: Error, CustomStringConvertible {
    package let limit: Int
    package var description: String { "It has more than \(limit) bytes" }
  }

  /// Reads a regular file; follows links, and never blocks, as opening a pipe would.
  ///
  /// - Parameters:
  ///   - path: The file.
  ///   - limit: How many bytes it may have.
  /// - Returns: All bytes.
  /// - Throws: `NotAFile`, `TooLarge`, or an `Errno`.
  package static func read(_ path: FilePath, atMost limit: Int) throws -> [UInt8] {
    // Without this flag, opening a pipe waits for its writer; it does not change reads of a file.
    let file = try FileDescriptor.open(path, .readOnly, options: [.closeOnExec, .nonBlocking])
    return try file.closeAfter {
      guard try file.stat().type == .regular else { throw NotAFile() }
      return try file.readToEnd(atMost: limit)
    }
  }
}

extension FileDescriptor {
  /// Reads the rest.
  ///
  /// - Parameter limit: How many bytes there may be.
  /// - Returns: All bytes.
  /// - Throws: `WholeFile.TooLarge`, or an `Errno`.
  package func readToEnd(atMost limit: Int) throws -> [UInt8] {
    var bytes: [UInt8] = []
    while true {
      let chunk = try readChunk()
      if chunk.isEmpty { return bytes }
      bytes += chunk
      guard bytes.count <= limit else { throw WholeFile.TooLarge(limit: limit) }
    }
  }

  /// Reads the rest, of any length.
  package func readToEnd() throws -> [UInt8] {
    var bytes: [UInt8] = []
    while case let chunk = try readChunk(), !chunk.isEmpty { bytes += chunk }
    return bytes
  }

  private func readChunk() throws -> [UInt8] {
    // Unsafe as the buffer is raw memory: `read` fills its beginning and says how much.
    try unsafe [UInt8](unsafeUninitializedCapacity: 1 << 16) { buffer, count in
      count = try unsafe read(into: UnsafeMutableRawBufferPointer(buffer))
    }
  }
}

/// The calling thread, as a number that no other live thread has.
package func currentThread() -> UInt {
  #if canImport(Glibc)
    UInt(pthread_self())
  #else
    UInt(bitPattern: pthread_self())
  #endif
}

/// Names the calling thread for the system and for debuggers; Linux takes 15 bytes.
package func nameCurrentThread(_ name: String) {
  // The call only reads the name.
  #if canImport(Darwin)
    unsafe pthread_setname_np(name)
  #else
    unsafe pthread_setname_np(pthread_self(), name)
  #endif
}

/// Sleeps, for the pauses between attempts.
package func pause(microseconds: UInt32) {
  usleep(microseconds)
}
