import Foundation
public import LMDB
public import SystemPackage
import TallyEngine
import TallySystem

extension TaskStore {
  /// Removes a store: its file, the copies made by restoring and repairing, and its directory if nothing else is in it.
  ///
  /// The store must not be open anywhere. It may be damaged. A crash at any step leaves the whole store or none.
  ///
  /// ```swift
  /// try store.close()
  /// try TaskStore.remove(at: store.directory)
  /// ```
  ///
  /// - Parameters:
  ///   - directory: The store's directory.
  ///   - configuration: How long to wait for other processes.
  /// - Throws: `storeMissing`, `notAStore`; `alreadyOpen` while this process has the store open, `storeBusy` while
  ///   another one has; `permissionDenied`, `storageFailed`.
  public static func remove(at directory: FilePath, configuration: Configuration = Configuration()) throws {
    let opening = StoreOpening(directory: directory.absolute, configuration: configuration)
    try TallyError.translatingErrno { try opening.remove() }
  }
}

extension StoreOpening {
  fileprivate func remove() throws {
    guard try isStoreThere() else { throw TallyError.storeMissing }
    let access = try StoreAccess(.exclusive, to: directory, configuration: configuration)
    defer { access.end() }
    // A crash must not leave a data file that needs journal records which have been removed.
    try recoverClosedStore()
    try JournalRecovery.removeFiles(in: directory)
    // The data file goes first: what remains after a crash counts as an empty directory.
    try removeIfThere(Self.dataFileName)
    try SystemCalls.flushDirectory(directory)
    TemporaryItem.sweep(directory)
    for name in try FileManager.default.contentsOfDirectory(atPath: directory.string)
    where SafetyCopy.isSafetyCopy(name) { try removeIfThere(name) }
    try removeIfThere(Self.lockFileName)
    try removeIfThere(StoreAccess.fileName)
    do {
      try SystemCalls.removeDirectory(directory)
      try SystemCalls.flushDirectory(directory.parentOrCurrent)
    } catch Errno.directoryNotEmpty {
      try SystemCalls.flushDirectory(directory)
    }
  }

  private func removeIfThere(_ name: String) throws {
    do {
      try SystemCalls.removeFile(directory.appending(name))
    } catch Errno.noSuchFileOrDirectory {
      // The directory was already missing, or another process has removed it.
    }
  }
}

extension StoreTransaction where Base == WriteTransaction {
  /// Deletes all tasks, lists and completions and the history, so that it cannot be undone.
  ///
  /// ```swift
  /// try await store.write { try $0.eraseAll() }
  /// ```
  ///
  /// Observations read their views again. The bytes remain in free pages of the file until these are reused;
  /// ``TaskStore/compact(at:configuration:progress:)`` removes them.
  ///
  /// - Throws: what the storage throws.
  /// - Complexity: linear in the number of the store's pages.
  public mutating func eraseAll() throws {
    forgetImages()
    var header = try header()
    // The log of changes is empty, so nobody can continue from an earlier commit.
    header.logStart = commitSequence
    try changeIfNeeded { (tables, _, base) throws(LMDBError) in
      for name in TableName.allCases where name != .meta {
        let table = try Database<[UInt8], [UInt8]>(opening: name.rawValue, creating: true, in: &base)
        try table.removeAll(in: &base)
      }
      try tables.meta.put(header, forKey: .header, in: &base)
      return true
    }
  }
}
