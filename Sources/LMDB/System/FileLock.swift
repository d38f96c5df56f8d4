package import SystemPackage

#if canImport(Darwin)
  import Darwin
#elseif canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// A lock on a file or directory, between processes and between those of one process who open it separately.
///
/// It belongs to the descriptor that took it (flock), not to the process as the locks of liblmdb's own file do: nothing
/// else that opens and closes the file can lose it. It ends with the process, however that ends. A child of a fork
/// holds it together with its parent, so it is given back explicitly and not by closing alone.
package final class FileLock: Sendable {
  package enum Mode {
    /// Any number of these at once.
    case shared
    /// This one and no other.
    case exclusive
  }

  // Not private, as a test looks at it.
  let descriptor: FileDescriptor
  /// The file, which may be removed by whoever holds its lock; `nil` for a directory.
  private let path: FilePath?
  private let processID = getpid()

  /// Opens the file, which is made if it does not exist.
  package init(opening path: FilePath) throws(Errno) {
    descriptor = try Self.open(path)
    self.path = path
  }

  /// Opens a directory that exists.
  package init(openingDirectory path: FilePath) throws(Errno) {
    descriptor = try Self.translating { try .open(path, .readOnly, options: [.directory, .closeOnExec]) }
    self.path = nil
  }

  deinit {
    if getpid() == processID { release() }
    // Nothing was written that closing could fail to write.
    try? descriptor.close()
  }

  /// Takes the lock, or says that somebody else has it.
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

  /// Gives the lock back.
  package func release() {
    // Can fail for a descriptor that is none only.
    _ = flock(descriptor.rawValue, LOCK_UN)
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

  /// Opens the file that has the name now, where it is another one than when this was opened, and says so.
  ///
  /// Its former holder may have removed the file while this waited. The lock on a file without a name would keep nobody
  /// out: others lock the one that has been made since.
  private func followPath() throws(Errno) -> Bool {
    guard let path, (try? FileIdentity(of: path)) != (try? FileIdentity(of: descriptor)) else { return false }
    let newer = try Self.open(path)
    // Put under the old number, which is a constant; that also closes the old file, and ends its lock.
    defer { try? newer.close() }
    try SystemCalls.replace(descriptor, with: newer)
    return true
  }

  private static func open(_ path: FilePath) throws(Errno) -> FileDescriptor {
    try translating {
      do {
        // Reading is enough to lock, and all that some users of a store may do.
        return try .open(path, .readOnly, options: .closeOnExec)
      } catch Errno.noSuchFileOrDirectory {
        return try .open(path, .readOnly, options: [.create, .closeOnExec], permissions: .ownerReadWrite)
      }
    }
  }

  private static func translating<R>(_ body: () throws -> R) throws(Errno) -> R {
    do {
      return try body()
    } catch {
      // The calls on descriptors throw nothing else.
      throw error as? Errno ?? .ioError
    }
  }
}
