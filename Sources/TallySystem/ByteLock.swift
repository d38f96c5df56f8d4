package import SystemPackage

#if canImport(Darwin)
  import Darwin
#elseif canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// A lock on one byte of a file; the byte may lie beyond the file's end.
///
/// A lock of the process (the POSIX kind) is lost when the process closes any descriptor of the file, whoever opened it. A
/// lock of the descriptor (an open file description lock) ends only with that descriptor. The two kinds exclude each other
/// even within one process. The child of a fork shares the descriptor and its locks, so they are released explicitly, not
/// just by closing.
package struct ByteLock: Sendable {
  /// What a lock belongs to.
  package enum Owner: Sendable {
    case descriptor, process
  }

  package enum Mode: Sendable {
    /// Any number of these at once.
    case shared
    /// This one and no other; the file must be open for writing.
    case exclusive
  }

  /// The open file.
  let descriptor: FileDescriptor
  /// The byte's place in the file.
  let byte: Int
  /// What the lock belongs to.
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

  /// Takes the lock, or changes the mode in which it is held; if another owner has it, waits or throws
  /// `resourceTemporarilyUnavailable`.
  package func acquire(_ mode: Mode, waiting: Bool = false) throws(Errno) {
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

  private enum Command {
    case get, set, setAndWait
  }

  /// The kind of lock that keeps this owner from an exclusive one; `F_UNLCK` for none.
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
      if owner == .descriptor {
        // F_OFD_GETLK, F_OFD_SETLK and F_OFD_SETLKW, which are names of the GNU library's extensions.
        return switch command {
        case .get: 36
        case .set: 37
        case .setAndWait: 38
        }
      }
    #endif
    return switch command {
    case .get: F_GETLK
    case .set: F_SETLK
    case .setAndWait: F_SETLKW
    }
  }
}
