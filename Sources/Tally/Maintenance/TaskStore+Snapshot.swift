import LMDB
public import SystemPackage

extension TaskStore {
  /// Copies the store, as of one commit, into a single file for others to read, while readers and writers go on.
  ///
  /// For an extension of an application, such as a widget, that may hold no lock and must not write:
  /// ``init(snapshotAt:configuration:)`` opens the file. It takes the place of an older one as a whole, also while that is
  /// being read: whoever has it open goes on with what he has. If anything fails the older one is as it was. Only its
  /// owner may read it.
  ///
  /// Unlike ``backup(to:progress:)`` it does not verify every record, and so costs a fraction of it.
  ///
  /// - Parameter file: The path of the file.
  /// - Returns: The commit that the snapshot shows.
  /// - Throws: `outputNotCreated`, `diskFull`; `remoteFilesystem` where the file would lie on one, as nobody could open it
  ///   there; what `read` throws.
  /// - Complexity: The store is read and written once. The copying is one long snapshot.
  @discardableResult
  public func publishSnapshot(to file: FilePath) throws -> UInt64 {
    try copy(to: file) { staging in
      // As its readers will: what they could not open must not take the place of what they can.
      let copy = try TaskStore(snapshotAt: staging.dataFile, configuration: configuration)
      let sequence = try copy.read { try $0.sequence }
      try copy.close()
      return sequence
    }
  }

  /// Opens a published snapshot, or a backup, for reading: without a lock, and without writing anything anywhere.
  ///
  /// It stays what it was when it was opened. ``suspend(waitingAtMost:)`` and ``resume()`` open the newest one of its name,
  /// and observations then tell the difference.
  ///
  /// - Parameters:
  ///   - file: The path of the file, which becomes the ``directory`` of this store.
  ///   - configuration: How to open it; writes are refused in any case.
  /// - Throws: `storeMissing` if there is no such file; `notAStore`, `newerFormat`, `damagedStore`, `permissionDenied`,
  ///   `remoteFilesystem`, `alreadyOpen`, `storageFailed`.
  /// - Complexity: well under a millisecond, whatever the size of the store.
  public convenience init(snapshotAt file: FilePath, configuration: Configuration = Configuration()) throws {
    var configuration = configuration
    configuration.isReadOnly = true
    try self.init(StoreOpening(directory: file, configuration: configuration, isSnapshot: true))
  }
}

extension StoreOpening {
  /// Opens a file that nobody changes, and that therefore needs no lock.
  func openSnapshot() throws -> OpenStore {
    guard let type = try TallyError.translatingErrno({ try typeOfFile(at: directory) }) else {
      throw TallyError.storeMissing
    }
    guard type == .regular else { throw TallyError.foreignFile }
    try refuseRemoteFilesystem(directory)
    let opened = try openEnvironment(StoreAccess.ofSnapshot)
    do {
      guard let header = try Self.header(in: opened.environment) else { throw try headerFault(in: opened.environment) }
      guard try admission(of: header) != .nothingBeforeMigration else { throw TallyError.olderFormat }
      return OpenStore(opened, try openTables(in: opened.environment))
    } catch {
      opened.close()
      throw error
    }
  }
}
