public import SystemPackage
import TallyEngine

extension TaskStore {
  /// Copies the store, as of one commit, into a single file for others to read, while readers and writers continue.
  ///
  /// It is for an extension of an application, such as a widget, that must not hold a lock or write:
  /// ``init(snapshotAt:configuration:)`` opens the file. The file replaces an older one as a whole, even while that is
  /// being read: a reader continues with the one that it has open. If anything fails, the older file stays unchanged.
  /// Only its owner may read it.
  ///
  /// Unlike ``backup(to:progress:)`` it does not verify every record, so it takes a fraction of the time.
  ///
  /// - Parameter file: The path of the file.
  /// - Returns: The sequence of the commit that the snapshot shows.
  /// - Throws: `outputNotCreated`, `diskFull`; `remoteFilesystem` if the file would be on a remote filesystem, where
  ///   nobody could open it; what `read` throws.
  /// - Complexity: The store is read and written once. The copying is one long snapshot.
  @discardableResult
  public func publishSnapshot(to file: FilePath) throws -> UInt64 {
    try copy(to: file) { staging in
      // Opened in the way its readers will, because a file that they cannot open must not replace one that they can.
      let copy = try TaskStore(snapshotAt: staging.dataFile, configuration: configuration)
      let sequence = try copy.read { try $0.sequence }
      try copy.close()
      return sequence
    }
  }

  /// Opens a published snapshot or a backup for reading, without a lock and without writing anything anywhere.
  ///
  /// It shows the snapshot that the file contained when it was opened. ``suspend(waitingAtMost:)`` followed by
  /// ``resume()`` opens the newest file of that name, and observations then report the difference.
  ///
  /// - Parameters:
  ///   - file: The path of the file, which becomes the ``directory`` of this store.
  ///   - configuration: How to open it; writes are refused in any case.
  /// - Throws: `storeMissing` if there is no such file; `notAStore` for other files, including the data file in a
  ///   store's directory, which writers change; `newerFormat`, `damagedStore`, `permissionDenied`, `remoteFilesystem`,
  ///   `alreadyOpen`, `storageFailed`.
  /// - Complexity: well under a millisecond, whatever the size of the store.
  public convenience init(snapshotAt file: FilePath, configuration: Configuration = Configuration()) throws {
    var configuration = configuration
    configuration.isReadOnly = true
    try self.init(
      StoreOpening(directory: file.absolute, configuration: configuration, isSnapshot: true), configuration)
  }
}
