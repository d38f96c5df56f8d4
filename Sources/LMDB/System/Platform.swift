import SystemPackage

#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

/// What tells one file or directory from another, whatever path leads there.
struct FileIdentity: Hashable {
  let device: UInt64
  let inode: UInt64

  /// Looks a path up, following links.
  init(of path: FilePath) throws(LMDBError) {
    // `stat` only writes into the local that it is given.
    try self.init { status in unsafe path.withPlatformString { unsafe stat($0, &status) } }
  }

  /// Looks at what is open.
  init(of descriptor: FileDescriptor) throws(LMDBError) {
    // As above.
    try self.init { status in unsafe fstat(descriptor.rawValue, &status) }
  }

  private init(_ look: (inout stat) -> CInt) throws(LMDBError) {
    var status = stat()
    guard look(&status) == 0 else { throw LMDBError(returnCode: errno, operation: "look up the file") }
    device = UInt64(truncatingIfNeeded: status.st_dev)
    inode = UInt64(truncatingIfNeeded: status.st_ino)
  }
}

/// The calling thread, as a number that no other live thread has.
func currentThread() -> UInt {
  #if canImport(Darwin)
    UInt(bitPattern: pthread_self())
  #else
    UInt(pthread_self())
  #endif
}

/// Keeps a descriptor from leaking into programs this process starts; liblmdb opens its data file without that flag.
func closeOnExecution(_ descriptor: Int32) -> Bool {
  let flags = fcntl(descriptor, F_GETFD)
  return flags >= 0 && fcntl(descriptor, F_SETFD, flags | FD_CLOEXEC) >= 0
}

/// Whether the filesystem of a path has no room left, as far as it says.
func isFilesystemFull(at path: FilePath, neededBytes: UInt64) -> Bool {
  var status = statvfs()
  // `statvfs` only writes into the local it is given.
  let result = unsafe path.withPlatformString { unsafe statvfs($0, &status) }
  guard result == 0 else { return false }
  // Some filesystems without a limit claim more than 64 bits can count.
  let (room, isEndless) = UInt64(status.f_bavail).multipliedReportingOverflow(by: UInt64(status.f_frsize))
  return !isEndless && room < neededBytes
}

/// Sleeps, for the pauses between attempts.
func pause(microseconds: UInt32) {
  usleep(microseconds)
}
