package import SystemPackage

#if canImport(Darwin)
  import Darwin
#elseif canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// A lock on a file or directory, between processes and between separate openings of it in one process.
///
/// It belongs to the descriptor that took it (flock) and not to the process, as a POSIX lock does: nothing else that
/// opens and closes the file can lose it. It ends with the process, however that ends. A child of a fork holds it
/// together with its parent, so it is released explicitly and not by closing alone.
package final class FileLock: Sendable {
  package enum Mode {
    /// Any number of these at once.
    case shared
    /// This one and no other.
    case exclusive
  }

  // For a test, which looks at it.
  package let descriptor: FileDescriptor
  /// The path, to open the file that has this name now, if it is another one; `nil` to stay with the file that was opened.
  private let path: FilePath?
  private let processID = getpid()

  /// Opens the file, and creates it if it does not exist.
  package init(opening path: FilePath) throws(Errno) {
    descriptor = try Self.open(path)
    self.path = path
  }

  /// Opens a directory that exists.
  package init(openingDirectory path: FilePath) throws(Errno) {
    descriptor = try Self.translating { try .open(path, .readOnly, options: [.directory, .closeOnExec]) }
    self.path = nil
  }

  /// Opens a file or a directory that exists; the lock stays with it even if another one gets its name.
  package init(openingExisting path: FilePath) throws(Errno) {
    descriptor = try Self.translating {
      try .open(path, .readOnly, options: [.closeOnExec, .noFollow, .nonBlocking])
    }
    self.path = nil
  }

  deinit {
    if getpid() == processID { release() }
    // Nothing was written that closing could fail to write.
    try? descriptor.close()
  }

  /// Takes the lock, or returns false if somebody else has it.
  package func tryAcquire(_ mode: Mode) throws(Errno) -> Bool {
    repeat {
      guard try request(mode, LOCK_NB) else { return false }
    } while try followPath()
    return true
  }

  /// Takes the lock, waiting for as long as somebody else has it.
  package func acquire(_ mode: Mode) throws(Errno) {
    repeat { _ = try request(mode, 0) } while try followPath()
  }

  /// Releases the lock.
  package func release() {
    // Can fail only if the descriptor is not open.
    _ = flock(descriptor.rawValue, LOCK_UN)
  }

  /// Whether a path still names what the lock is on.
  package func isOnFile(at path: FilePath) -> Bool {
    guard let there = try? FileIdentity(of: path) else { return false }
    return (try? FileIdentity(of: descriptor)) == there
  }

  /// The processes that hold the lock, as far as the system says: on Linux, in `/proc/locks`.
  package var holders: [Int32] {
    guard let identity = try? FileIdentity(of: descriptor),
      let table = try? FileDescriptor.open(FilePath("/proc/locks"), .readOnly, options: .closeOnExec)
    else { return [] }
    defer { try? table.close() }
    let text = String(decoding: (try? table.readToEnd()) ?? [], as: UTF8.self)
    // 1: FLOCK  ADVISORY  READ  4711 fe:01:1234 0 EOF
    let ids = text.split(separator: "\n").compactMap { line -> Int32? in
      let words = line.split(separator: " ")
      guard words.count > 5, words[1] == "FLOCK", words[5].split(separator: ":").last == "\(identity.inode)" else {
        return nil
      }
      return Int32(words[4])
    }
    return Set(ids).subtracting([processID]).sorted()
  }

  private func request(_ mode: Mode, _ flags: CInt) throws(Errno) -> Bool {
    while flock(descriptor.rawValue, (mode == .shared ? LOCK_SH : LOCK_EX) | flags) != 0 {
      switch Errno(rawValue: errno) {
      case .wouldBlock: return false
      case .interrupted: continue
      case let error: throw error
      }
    }
    return true
  }

  /// Opens the file that has the name now, if that is not the one this has open, and returns whether it did.
  ///
  /// The former holder may have removed the file while this waited. The lock on a file without a name would keep nobody
  /// out: others lock the one that has been created since.
  private func followPath() throws(Errno) -> Bool {
    guard let path, (try? FileIdentity(of: path)) != (try? FileIdentity(of: descriptor)) else { return false }
    let newer = try Self.open(path)
    // It takes the old number, which is a constant; that also closes the old file, and ends its lock.
    defer { try? newer.close() }
    try SystemCalls.replace(descriptor, with: newer)
    return true
  }

  private static func open(_ path: FilePath) throws(Errno) -> FileDescriptor {
    // A link might lead to anyone's file, and a pipe would keep the opener waiting.
    let options: FileDescriptor.OpenOptions = [.closeOnExec, .noFollow, .nonBlocking]
    return try translating {
      while true {
        do {
          // To read is enough to lock, and some users of a store may do no more.
          return try .open(path, .readOnly, options: options)
        } catch Errno.noSuchFileOrDirectory {
          do {
            let file = try FileDescriptor.open(
              path, .readOnly, options: options.union([.create, .exclusiveCreate]), permissions: .ownerReadWrite)
            // Whatever the process's mask takes away; without it, the next one could not open the file.
            try? SystemCalls.changePermissions(of: file, to: .ownerReadWrite)
            return file
          } catch Errno.fileExists {
            // Another process was first.
          }
        }
      }
    }
  }

  private static func translating<R>(_ body: () throws -> R) throws(Errno) -> R {
    // The calls on descriptors throw nothing else.
    try Errno.replacing({ $0 as? Errno ?? .ioError }, body)
  }
}
