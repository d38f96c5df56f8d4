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

/// The identity of a file or directory, which does not depend on the path to it.
package struct FileIdentity: Hashable, Sendable {
  package let device: UInt64
  package let inode: UInt64

  /// Reads the status of the file at a path, following links.
  package init(of path: FilePath) throws(Errno) {
    // `stat` only writes into the local that it is given.
    try self.init { status in unsafe path.withPlatformString { unsafe stat($0, &status) } }
  }

  /// Reads the status of an open file.
  package init(of descriptor: FileDescriptor) throws(Errno) {
    // As above.
    try self.init { status in unsafe fstat(descriptor.rawValue, &status) }
  }

  private init(_ read: (inout stat) -> CInt) throws(Errno) {
    var status = stat()
    guard read(&status) == 0 else { throw Errno(rawValue: errno) }
    device = UInt64(truncatingIfNeeded: status.st_dev)
    inode = UInt64(truncatingIfNeeded: status.st_ino)
  }
}

extension FilePath {
  /// The directory of the file that this path names; the current directory for a name alone.
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

  /// Reads a file that the system writes, such as one in `/proc`; `nil` if there is none.
  static func systemText(_ path: FilePath) -> String? {
    guard let file = try? FileDescriptor.open(path, .readOnly, options: .closeOnExec),
      let bytes = try? file.closeAfter({ try file.readToEnd() })
    else { return nil }
    return String(decoding: bytes, as: UTF8.self)
  }
}

extension FileDescriptor {
  /// Reads the rest.
  ///
  /// - Parameter limit: How many bytes there may be.
  /// - Returns: All bytes.
  /// - Throws: `WholeFile.TooLarge`, or an `Errno`.
  package func readToEnd(atMost limit: Int = .max) throws -> [UInt8] {
    var bytes: [UInt8] = []
    while true {
      // Unsafe as the buffer is raw memory: `read` fills its beginning and says how much.
      let chunk = try unsafe [UInt8](unsafeUninitializedCapacity: 1 << 16) { buffer, count in
        count = try unsafe read(into: UnsafeMutableRawBufferPointer(buffer))
      }
      if chunk.isEmpty { return bytes }
      bytes += chunk
      guard bytes.count <= limit else { throw WholeFile.TooLarge(limit: limit) }
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

/// The identity of one run of the system, from boot to shutdown.
package enum BootIdentity {
  /// A number that is the same until the system starts again; 0 where the system does not say.
  package static var current: UInt64 {
    // FNV-1a; the system's text is a UUID.
    text.utf8.reduce(0xCBF2_9CE4_8422_2325) { ($0 ^ UInt64($1)) &* 0x100_0000_01B3 }
  }

  private static var text: String {
    #if canImport(Darwin)
      var size = 64
      var buffer = [UInt8](repeating: 0, count: size)
      // Writes at most `size` bytes into the array.
      guard unsafe sysctlbyname("kern.bootsessionuuid", &buffer, &size, nil, 0) == 0 else { return "" }
      return String(decoding: buffer.prefix { $0 != 0 }, as: UTF8.self)
    #else
      return WholeFile.systemText("/proc/sys/kernel/random/boot_id") ?? ""
    #endif
  }
}

/// Recognises filesystems whose memory maps and locks are not coherent between machines, or not at all.
package enum RemoteFilesystem {
  /// Whether a path that exists lies on such a filesystem.
  ///
  /// Linux names the type of each mounted filesystem in `/proc/self/mountinfo` (proc(5)); Swift does not
  /// import glibc's `statfs`, which has it as a number. If the system does not say, the answer is no.
  package static func contains(_ path: FilePath) -> Bool {
    #if canImport(Darwin)
      var information = statfs()
      // The call only writes into the local it is given.
      let result = unsafe path.withPlatformString { path in unsafe statfs(path, &information) }
      return result == 0 && information.f_flags & UInt32(MNT_LOCAL) == 0
    #else
      guard let device = try? path.stat().deviceID.rawValue,
        let mounts = WholeFile.systemText("/proc/self/mountinfo")
      else { return false }
      return type(ofDevice: UInt64(device), in: mounts).map(isRemote) ?? false
    #endif
  }

  /// The type of the filesystem with a device number, in the lines of a `mountinfo` file.
  ///
  /// A line's third word is the device as `major:minor`; the type is the word after a lone dash.
  package static func type(ofDevice device: UInt64, in mounts: String) -> String? {
    let major = (device >> 8) & 0xFFF | (device >> 32) & ~0xFFF
    let minor = device & 0xFF | (device >> 12) & ~0xFF
    let number = "\(major):\(minor)"
    // Bytes are compared: comparing characters takes longer than all other steps of opening a store.
    for line in mounts.utf8.split(separator: UInt8(ascii: "\n")) {
      let words = line.split(separator: UInt8(ascii: " "))
      guard words.count > 2, words[2].elementsEqual(number.utf8),
        let dash = words.firstIndex(where: { $0.elementsEqual("-".utf8) })
      else { continue }
      return words.dropFirst(dash + 1).first.map { String(Substring($0)) }
    }
    return nil
  }

  /// Whether filesystems of a type lie on another machine or are served by another program.
  package static func isRemote(type: String) -> Bool {
    type.hasPrefix("fuse") || remoteTypes.contains(type)
  }

  private static let remoteTypes: Set<String> = [
    "9p", "afs", "ceph", "cifs", "coda", "gfs2", "glusterfs", "lustre", "ncpfs", "nfs", "nfs4", "ocfs2", "smb3",
    "smbfs", "virtiofs",
  ]
}
