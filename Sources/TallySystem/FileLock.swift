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
/// Unlike a POSIX lock, it belongs to the descriptor (flock) and not to the process: closing another descriptor of the file
/// does not release it. It ends with the process, however that ends. A child of a fork holds it
/// together with its parent, so it is released explicitly and not by closing alone.
package final class FileLock: Sendable {
  package enum Mode: Sendable {
    /// Any number of these at once.
    case shared
    /// One holder and no other.
    case exclusive
  }

  // Tests read it.
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

  /// Acquires the lock, or returns false if somebody else has it.
  package func tryAcquire(_ mode: Mode) throws(Errno) -> Bool {
    repeat {
      guard try request(mode) else { return false }
    } while try followPath()
    return true
  }

  /// Releases the lock.
  package func release() {
    // Can fail only if the descriptor is not open.
    _ = flock(descriptor.rawValue, LOCK_UN)
  }

  /// Whether a path still names the locked file.
  package func isOnFile(at path: FilePath) -> Bool {
    guard let there = try? FileIdentity(of: path) else { return false }
    return (try? FileIdentity(of: descriptor)) == there
  }

  /// The processes that hold the lock, as far as the system says: on Linux, in `/proc/locks`.
  package var holders: [Int32] {
    guard let identity = try? FileIdentity(of: descriptor), let text = WholeFile.systemText("/proc/locks") else {
      return []
    }
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

  private func request(_ mode: Mode) throws(Errno) -> Bool {
    while flock(descriptor.rawValue, (mode == .shared ? LOCK_SH : LOCK_EX) | LOCK_NB) != 0 {
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
  /// The former holder may have removed the file while this waited. A lock on a file without a name would keep nobody
  /// out: others lock the file that has been created since.
  private func followPath() throws(Errno) -> Bool {
    guard let path, (try? FileIdentity(of: path)) != (try? FileIdentity(of: descriptor)) else { return false }
    let newer = try Self.open(path)
    // It gets the old number, which is a constant; that also closes the old file, and ends its lock.
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
            // The process's mask may have removed permissions, without which the next process could not open the file.
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

// A process that waits for a lock marks a byte of its file, so that the holder lets it go first and those that come later
// wait a moment. Only on Linux: elsewhere locks of bytes and flock exclude each other, and the mark would keep everybody
// out. The mark is a hint, and ends with the descriptor at the latest.

extension FileLock {
  /// The byte that a waiting process marks; it need not exist.
  private static let waitingByte = 1 << 60

  private var mark: ByteLock {
    ByteLock(descriptor, byte: Self.waitingByte, owner: ByteLock.strongestOwner)
  }

  /// Whether another owner is marked as waiting for the lock.
  package var isAwaitedByOthers: Bool {
    #if os(Linux)
      // The mark is a hint.
      (try? mark.isHeldByOthers()) ?? false
    #else
      false
    #endif
  }

  /// Marks the owner of this lock as waiting for it, or removes the mark.
  package func markWaiting(_ isWaiting: Bool) {
    #if os(Linux)
      if isWaiting { try? mark.acquire(.shared) } else { try? mark.release() }
    #endif
  }
}

/// A lock on one byte of a file; the byte may lie beyond the file's end.
///
/// A lock of the process (the POSIX kind) is lost when the process closes any descriptor of the file, whoever opened it. A
/// lock of the descriptor (an open file description lock) ends only with that descriptor. The two kinds exclude each other
/// even within one process. The child of a fork shares the descriptor and its locks, so they are released explicitly, not
/// just by closing.
package struct ByteLock: Sendable {
  /// The owner of a lock.
  package enum Owner: Sendable {
    case descriptor, process
  }

  /// The open file.
  let descriptor: FileDescriptor
  /// The byte's place in the file.
  let byte: Int
  /// The owner of the lock.
  let owner: Owner

  package init(_ descriptor: FileDescriptor, byte: Int, owner: Owner) {
    (self.descriptor, self.byte, self.owner) = (descriptor, byte, owner)
  }

  /// The strongest owner that the system offers.
  ///
  /// Linux has had locks of descriptors since version 3.15. On other systems they have not been tried.
  package static let strongestOwner: Owner = {
    #if os(Linux)
      guard let root = try? FileDescriptor.open(FilePath("/"), .readOnly, options: [.directory, .closeOnExec]) else {
        return .process
      }
      defer { try? root.close() }
      // Asking fails only where the system does not know the call.
      return (try? ByteLock(root, byte: 0, owner: .descriptor).holder()) == nil ? .process : .descriptor
    #else
      return .process
    #endif
  }()

  /// Acquires the lock, or changes its mode; if another owner has it, waits or throws `resourceTemporarilyUnavailable`.
  ///
  /// For an exclusive lock the file must be open for writing.
  package func acquire(_ mode: FileLock.Mode, waiting: Bool = false) throws(Errno) {
    try call(waiting ? Command.setAndWait : .set, Int16(mode == .shared ? F_RDLCK : F_WRLCK))
  }

  /// Releases the lock; does nothing if it is not held.
  package func release() throws(Errno) {
    try call(.set, Int16(F_UNLCK))
  }

  /// Whether another owner holds a lock on the byte.
  package func isHeldByOthers() throws(Errno) -> Bool {
    try holder() != Int16(F_UNLCK)
  }

  private enum Command: CInt {
    case get, set, setAndWait
  }

  /// The kind of lock that prevents an exclusive lock of this owner; `F_UNLCK` for none.
  private func holder() throws(Errno) -> Int16 {
    try call(.get, Int16(F_WRLCK))
  }

  /// The corresponding C function is `fcntl`.
  @discardableResult
  private func call(_ command: Command, _ type: Int16) throws(Errno) -> Int16 {
    var lock = flock()
    lock.l_type = type
    lock.l_whence = Int16(SEEK_SET)
    (lock.l_start, lock.l_len) = (off_t(byte), 1)
    // The call reads the local that it is given, or writes into it.
    while unsafe fcntl(descriptor.rawValue, number(of: command), &lock) != 0 {
      let error = Errno(rawValue: errno)
      if error != .interrupted { throw error }
    }
    return lock.l_type
  }

  private func number(of command: Command) -> CInt {
    #if os(Linux)
      // F_OFD_GETLK, F_OFD_SETLK and F_OFD_SETLKW, in this order, are names of the GNU library's extensions.
      if owner == .descriptor { return 36 + command.rawValue }
    #endif
    return switch command {
    case .get: F_GETLK
    case .set: F_SETLK
    case .setAndWait: F_SETLKW
    }
  }
}
