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

/// The system calls on files that swift-system does not have yet, for all modules of the package.
package enum SystemCalls {
  /// Renames a file or directory, replacing a file, or an empty directory, of the new name.
  ///
  /// The corresponding C function is `rename`.
  package static func rename(_ old: FilePath, to new: FilePath) throws(Errno) {
    // Both strings outlive the call.
    try check(unsafe old.withPlatformString { old in unsafe new.withPlatformString { unsafe platformRename(old, $0) } })
  }

  /// Creates a directory with exactly the given permissions, whatever the process's mask.
  ///
  /// The corresponding C functions are `mkdir` and `chmod`.
  package static func createDirectory(_ path: FilePath, permissions: FilePermissions) throws(Errno) {
    try makeDirectory(path, permissions: permissions)
    try changePermissions(path, to: permissions)
  }

  /// Creates a directory with some permissions, by default all, as far as the process's mask allows them.
  ///
  /// The corresponding C function is `mkdir`.
  package static func makeDirectory(
    _ path: FilePath, permissions: FilePermissions = FilePermissions(rawValue: 0o777)
  ) throws(Errno) {
    // The string outlives the call.
    try check(unsafe path.withPlatformString { unsafe mkdir($0, permissions.rawValue) })
  }

  /// Creates a directory and those above it that are missing, each flushed, so that a power cut does not lose them.
  package static func createDirectories(upTo path: FilePath, permissions: FilePermissions) throws {
    if (try? path.stat()) != nil { return }
    let parent = path.parentOrCurrent
    try createDirectories(upTo: parent, permissions: permissions)
    do {
      try createDirectory(path, permissions: permissions)
    } catch Errno.fileExists {
      // Another process was first.
    }
    try flushDirectory(parent)
  }

  /// Creates an empty file with exactly the given permissions, whatever the process's mask; it must not exist.
  ///
  /// The corresponding C functions are `open` and `fchmod`.
  package static func createFile(_ path: FilePath, permissions: FilePermissions) throws {
    let file = try FileDescriptor.open(
      path, .writeOnly, options: [.create, .exclusiveCreate, .closeOnExec], permissions: permissions)
    try file.closeAfter { try changePermissions(of: file, to: permissions) }
  }

  /// Changes the permissions of an open file.
  ///
  /// The corresponding C function is `fchmod`.
  static func changePermissions(of file: FileDescriptor, to permissions: FilePermissions) throws(Errno) {
    try check(fchmod(file.rawValue, permissions.rawValue))
  }

  /// Changes the permissions of a file or directory.
  ///
  /// The corresponding C function is `chmod`.
  package static func changePermissions(_ path: FilePath, to permissions: FilePermissions) throws(Errno) {
    // The string outlives the call.
    try check(unsafe path.withPlatformString { unsafe chmod($0, permissions.rawValue) })
  }

  /// Changes the group of a file or directory.
  ///
  /// The corresponding C function is `chown`.
  package static func changeGroup(_ path: FilePath, to group: UInt32) throws(Errno) {
    // The string outlives the call; the user stays.
    try check(unsafe path.withPlatformString { unsafe chown($0, .max, group) })
  }

  /// Adds a second name to a file, which must be free.
  ///
  /// The corresponding C function is `link`.
  package static func link(_ old: FilePath, as new: FilePath) throws(Errno) {
    // Both strings outlive the call.
    try check(unsafe old.withPlatformString { old in unsafe new.withPlatformString { unsafe platformLink(old, $0) } })
  }

  /// Removes a file.
  ///
  /// The corresponding C function is `unlink`.
  package static func removeFile(_ path: FilePath) throws(Errno) {
    // The string outlives the call.
    try check(unsafe path.withPlatformString { unsafe unlink($0) })
  }

  /// Removes an empty directory.
  ///
  /// The corresponding C function is `rmdir`.
  package static func removeDirectory(_ path: FilePath) throws(Errno) {
    // The string outlives the call.
    try check(unsafe path.withPlatformString { unsafe rmdir($0) })
  }

  /// The names in a directory, without `.` and `..`, in no order.
  ///
  /// The corresponding C functions are `opendir` and `readdir`.
  package static func names(in directory: FilePath) throws(Errno) -> [String] {
    // Closed below; nobody else has it.
    guard let stream = unsafe directory.withPlatformString({ unsafe opendir($0) }) else {
      throw Errno(rawValue: errno)
    }
    defer { unsafe closedir(stream) }
    var names: [String] = []
    while true {
      // `readdir` returns nil at the end and on failure; only a failure sets `errno`.
      errno = 0
      // Each entry lives until the next call; its name, which ends with a zero byte, is copied.
      guard let entry = unsafe readdir(stream) else {
        guard errno == 0 else { throw Errno(rawValue: errno) }
        return names
      }
      let name = unsafe withUnsafePointer(to: &entry.pointee.d_name) { name in
        unsafe name.withMemoryRebound(to: CChar.self, capacity: 1) { unsafe String(cString: $0) }
      }
      if name != ".", name != ".." { names.append(name) }
    }
  }

  /// The path of an existing file without links, `.` and `..`; `nil` if there is no such file.
  ///
  /// The corresponding C function is `realpath`.
  package static func resolvingLinks(_ path: FilePath) -> FilePath? {
    // The system allocates the result, which is copied and freed here.
    guard let resolved = unsafe path.withPlatformString({ unsafe realpath($0, nil) }) else { return nil }
    defer { unsafe free(resolved) }
    return unsafe FilePath(platformString: resolved)
  }

  /// The path of a file with all links resolved; for a link to a missing file, the path of that file.
  ///
  /// - Throws: `Errno`, as for links in a circle.
  package static func resolvingLinksToWrite(_ path: FilePath) throws -> FilePath {
    var path = path
    // Linux follows this many links, too.
    for _ in 0..<40 {
      if let resolved = resolvingLinks(path) { return resolved }
      guard try isLink(path) else { return path }
      path = path.parentOrCurrent.pushing(try target(ofLink: path))
    }
    throw Errno.tooManySymbolicLinkLevels
  }

  private static func isLink(_ path: FilePath) throws -> Bool {
    do {
      return try path.stat(followTargetSymlink: false).type == .symbolicLink
    } catch Errno.noSuchFileOrDirectory {
      return false
    }
  }

  /// The corresponding C function is `readlink`.
  private static func target(ofLink path: FilePath) throws(Errno) -> FilePath {
    var buffer = [CChar](repeating: 0, count: 4_096)
    // The call writes at most one byte less than there are, so that the last one stays zero.
    let count = unsafe path.withPlatformString { unsafe readlink($0, &buffer, buffer.count - 1) }
    guard count >= 0 else { throw Errno(rawValue: errno) }
    return FilePath(platformString: buffer)
  }

  /// Flushes a file, or a directory's entries, to the disk.
  ///
  /// On Darwin `fsync` leaves the data in the drive's cache, so that `F_FULLFSYNC` is tried first.
  ///
  /// The corresponding C function is `fsync`.
  package static func flush(_ descriptor: FileDescriptor) throws(Errno) {
    #if canImport(Darwin)
      if fcntl(descriptor.rawValue, F_FULLFSYNC) == 0 { return }
    #endif
    try check(fsync(descriptor.rawValue))
  }

  /// Flushes the bytes of a file to the disk, and of what describes it only what reading them needs.
  ///
  /// The corresponding C function is `fdatasync`.
  package static func flushData(_ descriptor: FileDescriptor) throws(Errno) {
    #if os(Linux)
      while fdatasync(descriptor.rawValue) != 0 {
        let error = Errno(rawValue: errno)
        if error != .interrupted { throw error }
      }
    #else
      try flush(descriptor)
    #endif
  }

  /// Asks the system to begin writing a file's changed bytes to the disk, without waiting; a flush then waits less.
  ///
  /// An error is left for the flush, which reports it. Nothing is done for a pipe, nor where there is no such call.
  ///
  /// The corresponding C function is `sync_file_range`.
  package static func startWriteBack(_ descriptor: FileDescriptor) {
    #if os(Linux)
      // SYNC_FILE_RANGE_WRITE; no length means to the end of the file.
      _ = sync_file_range(descriptor.rawValue, 0, 0, 2)
    #endif
  }

  /// Whether an open file is a terminal.
  ///
  /// The corresponding C function is `isatty`.
  package static func isTerminal(_ descriptor: FileDescriptor) -> Bool { isatty(descriptor.rawValue) == 1 }

  /// The columns of a terminal; `nil` for anything else.
  ///
  /// The corresponding C function is `ioctl` with `TIOCGWINSZ`.
  package static func terminalWidth(_ descriptor: FileDescriptor) -> Int? {
    var size = winsize()
    // The call fills exactly the local that it is given.
    guard unsafe ioctl(descriptor.rawValue, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0 else { return nil }
    return Int(size.ws_col)
  }

  /// The session of this process, which usually is that of a terminal; `nil` if it has none.
  ///
  /// The corresponding C function is `getsid`.
  package static var terminalSession: Int32? {
    let session = getsid(0)
    return session > 0 ? session : nil
  }

  /// The user on whose behalf this process acts.
  ///
  /// The corresponding C function is `geteuid`.
  static var userID: UInt32 { geteuid() }

  /// Whether a number is that of an open file.
  ///
  /// The corresponding C function is `fcntl` with `F_GETFD`.
  package static func isOpen(_ descriptor: FileDescriptor) -> Bool { fcntl(descriptor.rawValue, F_GETFD) != -1 }

  /// Flushes a directory, so that a file created or renamed in it is found after a power cut.
  package static func flushDirectory(_ path: FilePath) throws {
    let directory = try FileDescriptor.open(path, .readOnly, options: [.directory, .closeOnExec])
    try directory.closeAfter { try flush(directory) }
  }

  /// Makes a descriptor a duplicate of a second one; programs that are started meanwhile do not inherit it.
  ///
  /// The corresponding C function is `dup3`. Where it does not exist `dup2` is used, which leaves a moment in which they
  /// do.
  static func replace(_ old: FileDescriptor, with new: FileDescriptor) throws(Errno) {
    #if os(Linux)
      let result = dup3(new.rawValue, old.rawValue, O_CLOEXEC)
    #else
      let result = dup2(new.rawValue, old.rawValue)
    #endif
    guard result >= 0 else { throw Errno(rawValue: errno) }
    try closeOnExecution(old)
  }

  /// Keeps a descriptor from programs that this process starts.
  ///
  /// The corresponding C function is `fcntl` with `F_SETFD`.
  package static func closeOnExecution(_ descriptor: FileDescriptor) throws(Errno) {
    let flags = fcntl(descriptor.rawValue, F_GETFD)
    guard flags >= 0, fcntl(descriptor.rawValue, F_SETFD, flags | FD_CLOEXEC) >= 0 else {
      throw Errno(rawValue: errno)
    }
  }

  /// Whether the filesystem of a path reports less free room than is needed; false if it reports nothing.
  ///
  /// The corresponding C function is `statvfs`.
  package static func isFilesystemFull(at path: FilePath, neededBytes: UInt64) -> Bool {
    var status = statvfs()
    // `statvfs` only writes into the local it is given.
    let result = unsafe path.withPlatformString { unsafe statvfs($0, &status) }
    guard result == 0 else { return false }
    // Some filesystems without a limit claim more than 64 bits can count.
    let (room, isEndless) = UInt64(status.f_bavail).multipliedReportingOverflow(by: UInt64(status.f_frsize))
    return !isEndless && room < neededBytes
  }

  /// Reserves room on the disk for the beginning of a file; does nothing where the filesystem cannot.
  ///
  /// Neither the file's bytes nor its length change, even where the room goes beyond its end.
  ///
  /// The corresponding C function is `fallocate`. On Darwin nothing is done: `F_PREALLOCATE` has not been tried there,
  /// and a full disk can still end the process.
  package static func reserve(_ sizeInBytes: Int64, of file: FileDescriptor) throws(Errno) {
    assert(sizeInBytes > 0, "nothing to reserve")
    #if os(Linux)
      // FALLOC_FL_KEEP_SIZE, which only the kernel's own headers name.
      let keepsLength: CInt = 1
      while fallocate(file.rawValue, keepsLength, 0, off_t(sizeInBytes)) != 0 {
        switch Errno(rawValue: errno) {
        case .interrupted: continue
        case .notSupported, .noFunction, .invalidArgument: return
        case let error: throw error
        }
      }
    #endif
  }

  /// Maps the first bytes of a file that other processes map, too; ``unmap(_:byteCount:)`` ends the map.
  ///
  /// The file must be at least that long: beyond its end, an access ends the process.
  ///
  /// The corresponding C function is `mmap`.
  package static func map(_ file: FileDescriptor, byteCount: Int) throws(Errno) -> UnsafeMutableRawPointer {
    // A new map; -1 is the failure, which Swift does not import.
    let address = unsafe mmap(nil, byteCount, PROT_READ | PROT_WRITE, MAP_SHARED, file.rawValue, 0)
    guard let address = unsafe address, Int(bitPattern: address) != -1 else { throw Errno(rawValue: errno) }
    return unsafe address
  }

  /// Ends a map.
  ///
  /// The corresponding C function is `munmap`.
  package static func unmap(_ address: UnsafeMutableRawPointer, byteCount: Int) {
    // The caller has made the map; the call fails for other addresses only.
    _ = unsafe munmap(address, byteCount)
  }

  private static func check(_ result: CInt) throws(Errno) {
    // This thread's own variable.
    if result != 0 { throw Errno(rawValue: errno) }
  }
}

// Inside the enum, its own functions hide those of C. The strings are read within the calls only.

private func platformLink(_ old: UnsafePointer<CChar>, _ new: UnsafePointer<CChar>) -> CInt {
  unsafe link(old, new)
}

private func platformRename(_ old: UnsafePointer<CChar>, _ new: UnsafePointer<CChar>) -> CInt {
  unsafe rename(old, new)
}

extension SystemCalls {
  /// Sleeps until a thread of any process wakes the sleepers on a word in shared memory, unless the word already has
  /// another value; may also wake without a reason.
  ///
  /// The corresponding C function is `futex` with `FUTEX_WAIT`; elsewhere than on Linux this is a pause.
  package static func sleep(on word: UnsafeMutablePointer<UInt32>, while value: UInt32, atMost limit: Duration) {
    #if os(Linux)
      var time = timespec(
        tv_sec: Int(limit.components.seconds), tv_nsec: Int(limit.components.attoseconds / 1_000_000_000))
      // The caller keeps the word, and the time lives for the call.
      let result = unsafe tally_futex(word, FUTEX_WAIT, value, &time)
      // Where the call is forbidden, this is a pause, too.
      if result == 0 || [EAGAIN, EINTR, ETIMEDOUT].contains(errno) { return }
    #endif
    pause(microseconds: 200)
  }

  /// Wakes one thread that sleeps on a word, and returns whether there was one.
  ///
  /// The corresponding C function is `futex` with `FUTEX_WAKE`.
  package static func wakeOne(sleepingOn word: UnsafeMutablePointer<UInt32>) -> Bool {
    #if os(Linux)
      // The caller keeps the word.
      return unsafe tally_futex(word, FUTEX_WAKE, 1, nil) > 0
    #else
      return false
    #endif
  }
}
