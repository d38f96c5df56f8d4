import SystemPackage
import TallySystem

/// The room that the file of locks takes on the disk.
///
/// liblmdb extends that file without writing to it, and then writes to it through its map, where a full disk is not an
/// error but a signal that ends the process. Readers do so, too. So the room is reserved before liblmdb maps the file.
///
/// The file's length is left to liblmdb: its first user sets it, and later users derive the number of readers from it.
/// If it were extended here, they would count readers beyond the end of another process's map; a lock that kept others
/// out meanwhile would make them wait, and then take the file for one that is in use. So the room is reserved even
/// beyond the file's end, and no byte of the file changes.
extension LMDBEnvironment {
  /// The size of one reader.
  ///
  /// The parts of the head take as much, or a little more where mutexes are larger.
  private static let readerSizeInBytes = 64
  /// The largest head that any system has, in readers.
  private static let headSizeInReaders = 3

  /// Reserves room on the disk for the file of locks.
  ///
  /// Must run while this process has no environment open in the directory: closing the file ends this process's locks.
  ///
  /// Throws `diskFull`, `ioFailure`.
  static func reserveLockFile(in directory: FilePath, options: Options) throws(LMDBError) {
    guard !options.isFrozenFile, let file = openLockFile(in: directory, options: options) else { return }
    // Nothing was written that closing could fail to write.
    defer { try? file.close() }
    let neededBytes = Int64((options.maxReaders + headSizeInReaders) * readerSizeInBytes)
    try LMDBError.translating("open") {
      let status = try file.stat()
      let sizeInBytes = max(neededBytes, status.size)
      // A full disk may have no room to note that nothing has changed.
      if status.sizeAllocated >= sizeInBytes { return }
      try SystemCalls.reserve(sizeInBytes, of: file)
    }
  }

  /// Opens the file as liblmdb does right afterwards; `nil` where that fails, which liblmdb then deals with.
  private static func openLockFile(in directory: FilePath, options: Options) -> FileDescriptor? {
    // If opened only for reading, liblmdb creates no file where there is nothing to read.
    if options.isReadOnly && (try? directory.appending(dataFileName).stat()) == nil { return nil }
    return try? FileDescriptor.open(
      directory.appending(lockFileName), .readWrite, options: [.create, .closeOnExec, .noFollow, .nonBlocking],
      permissions: options.fileMode)
  }
}
