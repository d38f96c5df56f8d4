import CLMDB
public import SystemPackage
import TallySystem

extension LMDBEnvironment {
  /// Writes a consistent copy into another directory while readers and writers continue.
  ///
  /// The directory must exist and hold no environment. When this returns the copy is on the disk; if it throws, no file
  /// is left. The copy is a long reader: pages freed meanwhile cannot be used again until it is done.
  ///
  /// Compacting leaves free pages out and renumbers the others, which takes longer, and restarts transaction ids.
  ///
  /// Throws `fileExists` if the target has an environment; `reentrantWrite` within this thread's write transaction,
  /// whose lock copying needs; `diskFull`, `noSuchFile`, `permissionDenied`, `ioFailure`; `incompatible` if a compacting
  /// copy finds that pages were lost; `closed`, `forked`, `busy`.
  ///
  /// The corresponding C function is `mdb_env_copyfd2`.
  public func copy(to directory: FilePath, compacting: Bool = false) throws(LMDBError) {
    let file = directory.appending(Self.dataFileName)
    let descriptor = try create(file)
    do throws(LMDBError) {
      // After a successful flush closing has nothing left to report.
      defer { try? descriptor.close() }
      try copy(into: descriptor, of: file, compacting: compacting)
      try LMDBError.translating("copy", file) {
        try SystemCalls.flush(descriptor)
        // The name of the file is in the directory, which is flushed on its own.
        try SystemCalls.flushDirectory(directory)
      }
    } catch {
      // The file is ours: it was created here and by nobody else. The first error explains more than a failure here.
      try? SystemCalls.removeFile(file)
      throw error
    }
  }

  private func create(_ file: FilePath) throws(LMDBError) -> FileDescriptor {
    try checkProcess("copy")
    return try LMDBError.translating("copy", file) {
      try FileDescriptor.open(
        file,
        .writeOnly,
        options: [.create, .exclusiveCreate, .closeOnExec],
        permissions: options.fileMode
      )
    }
  }

  /// Lets liblmdb write the copy.
  private func copy(
    into descriptor: FileDescriptor, of file: FilePath, compacting: Bool
  ) throws(LMDBError) {
    let thread = currentThread()
    while true {
      let result = try whileOpen("copy") { () throws(LMDBError) -> Int32 in
        guard state.withLock({ $0.writer != thread }) else { throw LMDBError(.reentrantWrite, operation: "copy") }
        // The descriptor stays open during the call, and liblmdb does not keep it.
        return unsafe mdb_env_copyfd2(handle, descriptor.rawValue, compacting ? UInt32(MDB_CP_COMPACT) : 0)
      }
      // Nothing has been written yet when the map turns out to be too small.
      guard result == MDB_MAP_RESIZED else {
        return try Self.check(result, "copy", file)
      }
      try adoptMapSize()
    }
  }
}
