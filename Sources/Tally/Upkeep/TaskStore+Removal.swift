import Foundation
public import LMDB
public import SystemPackage
import TallyEngine
import TallySystem

extension TaskStore {
  /// Shrinks the store's file to its contents; a file never shrinks by itself.
  ///
  /// The store must not be open anywhere. A copy with full pages is written next to the old file, flushed, verified and
  /// moved into its place. The old file stays unchanged until then, so there must be space for both. After a crash at
  /// any step there is either the old file or the new one. Identity and commit sequence stay.
  ///
  /// - Parameters:
  ///   - directory: The store's directory.
  ///   - configuration: How to open the store.
  ///   - progress: Called with the progress of the copy's verification; may throw to end the compaction.
  /// - Returns: The sizes before and after.
  /// - Throws: `alreadyOpen` while this process has the store open, `storeBusy` while another one has; `diskFull`;
  ///   `damagedStore` if the store is inconsistent and must be repaired first; as opening a store.
  @discardableResult
  public static func compact(
    at directory: FilePath,
    configuration: Configuration = Configuration(),
    progress: VerificationProgress.Observer? = nil
  ) throws -> CompactionSummary {
    try compact(
      StoreOpening(directory: directory, configuration: configuration), TaskLayout(configuration), progress: progress)
  }

  /// Compacts a store with other migrations than this version's, for tests.
  static func compact(
    _ opening: StoreOpening, _ layout: TaskLayout = TaskLayout(.init()),
    progress: VerificationProgress.Observer? = nil
  ) throws -> CompactionSummary {
    try opening.compact { try Verification.requireSound($0, layout, observer: progress) }
  }

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
    try opening.remove()
  }
}

extension StoreTransaction where Base == WriteTransaction {
  /// Deletes all tasks, lists and completions and the history, so that it cannot be undone.
  ///
  /// Records of the application's collections stay: delete them first.
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
    state.forgetImages()
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
