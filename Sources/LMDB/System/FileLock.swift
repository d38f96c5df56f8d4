package import SystemPackage

#if canImport(Darwin)
  import Darwin
#elseif canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// A lock on a file of its own, between processes and between the open stores of one.
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

  private let descriptor: FileDescriptor
  private let processID = getpid()

  /// Opens the file, which is made if it does not exist.
  package init(opening path: FilePath) throws(Errno) {
    do {
      descriptor = try Self.open(path)
    } catch {
      // `open` throws nothing but this.
      throw error as? Errno ?? .ioError
    }
  }

  /// Opens a directory that exists.
  package init(openingDirectory path: FilePath) throws {
    descriptor = try FileDescriptor.open(path, .readOnly, options: [.directory, .closeOnExec])
  }

  deinit {
    if getpid() == processID { release() }
    // Nothing was written that closing could fail to write.
    try? descriptor.close()
  }

  /// Takes the lock, or says that somebody else has it.
  package func tryAcquire(_ mode: Mode) throws(Errno) -> Bool {
    let operation = (mode == .shared ? LOCK_SH : LOCK_EX) | LOCK_NB
    while flock(descriptor.rawValue, operation) != 0 {
      switch Errno(rawValue: errno) {
      case .wouldBlock: return false
      case .interrupted: continue
      case let error: throw error
      }
    }
    return true
  }

  /// Takes the lock, waiting for as long as somebody else has it.
  package func acquire(_ mode: Mode) throws(Errno) {
    while flock(descriptor.rawValue, mode == .shared ? LOCK_SH : LOCK_EX) != 0 {
      let error = Errno(rawValue: errno)
      if error != .interrupted { throw error }
    }
  }

  /// Gives the lock back.
  package func release() {
    // Can fail for a descriptor that is none only.
    _ = flock(descriptor.rawValue, LOCK_UN)
  }

  private static func open(_ path: FilePath) throws -> FileDescriptor {
    do {
      // Reading is enough to lock, and all that some users of a store may do.
      return try FileDescriptor.open(path, .readOnly, options: .closeOnExec)
    } catch Errno.noSuchFileOrDirectory {
      return try FileDescriptor.open(
        path, .readOnly, options: [.create, .closeOnExec], permissions: .ownerReadWrite)
    }
  }
}
