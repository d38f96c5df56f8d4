public import Foundation
import LMDB
import SystemPackage
import TallySystem

/// The contents of a backup.
public struct StoreBackup: Hashable, Sendable {
  /// The store's identity.
  public let storeID: UUID
  /// The last commit in the backup.
  public let sequence: UInt64
  /// The number of records of the schema's collections.
  public let recordCount: Int
  /// The size of the file, in bytes.
  public let sizeInBytes: Int64
  /// The store's old file, where a backup was restored over it.
  public internal(set) var safetyCopy: URL?
}

/// The result of a repair.
public struct StoreRepairReport: Hashable, Sendable {
  /// The report before the repair.
  public let before: StoreReport
  /// The report after the repair.
  public let after: StoreReport
  /// The store's old file; `nil` if nothing was wrong.
  public let safetyCopy: URL?
  /// A log that could not be read, whose changes are given up; `nil` if there was none.
  public internal(set) var unreadLog: URL?
}

extension Store {
  /// Compares every index, every measure and the log of changes with the records, in one snapshot.
  ///
  /// - Returns: the report; ``StoreReport/isSound`` says whether there are no faults.
  /// - Throws: `damagedStore` if a page of the file contradicts the others; what `read` throws.
  /// - Complexity: reads everything once, and needs memory for the keys of the largest index.
  public func verify() throws -> StoreReport {
    try session.connection.use { store in
      try store.environment.checkStructure()
      return try StoreCheck.run(on: store.environment, schema)
    }
  }

  /// Verifies a store that may not be openable, because a table or its header is missing.
  ///
  /// It works as ``verify()``. If tables are missing, nothing else has been checked.
  ///
  /// - Throws: what ``verify()`` throws, and what opening a store throws.
  public static func verify(
    at directory: URL, schema: Schema, configuration: StoreConfiguration = StoreConfiguration()
  ) throws -> StoreReport {
    var configuration = configuration
    configuration.isReadOnly = true
    return try StoreOpening(at: directory, schema, configuration).withDamagedStore { store in
      try StoreCheck.run(on: store.environment, schema)
    }
  }

  /// Makes indexes, measures and the log of changes agree with the records again.
  ///
  /// The store must not be open anywhere. Its old file is kept next to the new one. Damaged records are set aside with
  /// all their bytes, and no longer appear anywhere. A record whose bytes are whole but do not fit its type, or whose
  /// upgrade throws, is not damaged: the repair then throws, and leaves the store as it was.
  ///
  /// - Parameters:
  ///   - directory: the store's directory.
  ///   - schema: the collections; others stay as they are.
  ///   - configuration: how to open the store.
  ///   - takesUndecodable: whether such records are set aside, too.
  /// - Returns: the faults before and after; a sound store stays as it is.
  /// - Throws: `damagedStore` if pages or records are lost; `invalidValue` for a record that does not fit its type, and what
  ///   an upgrade throws;
  ///   `newerFormat`, `alreadyOpen`, `storeBusy`, `diskFull`; `duplicateKey` if two records have one key of a unique
  ///   index; as opening a store.
  @discardableResult
  public static func repair(
    at directory: URL, schema: Schema, configuration: StoreConfiguration = StoreConfiguration(),
    settingUndecodableAside takesUndecodable: Bool = false
  ) throws -> StoreRepairReport {
    let opening = try StoreOpening(at: directory, schema, configuration)
    return try opening.withDamagedStore(.exclusive, settingLogAside: true) { store in
      let before = try StoreCheck.run(on: store.environment, schema)
      let unreadLog = store.keptLog.map { URL(filePath: $0.string) }
      guard !before.isSound else {
        return StoreRepairReport(before: before, after: before, safetyCopy: nil, unreadLog: unreadLog)
      }
      let layout = SchemaLayout(schema: schema)
      if let refusal = try before.refusalOfRepair ?? layout.newerVersion(in: store.environment) { throw refusal }
      let kept = try opening.keepSafetyCopy(of: store.environment, because: .repair)
      let repair = StoreRepair(layout: layout, takesUndecodable: takesUndecodable)
      try store.environment.write { transaction in try repair.run(in: &transaction) }
      try store.environment.checkStructure()
      let after = try StoreCheck.run(on: store.environment, schema)
      return StoreRepairReport(
        before: before, after: after, safetyCopy: URL(filePath: kept.string), unreadLog: unreadLog)
    }
  }

  /// Copies the store, as of one commit, into a single file while readers and writers continue.
  ///
  /// The copy is created next to the file, flushed and verified; only then does it get the file's name and replace an
  /// older file. If anything fails, the old file stays unchanged. Only its owner may read it.
  ///
  /// - Returns: the contents of the backup.
  /// - Throws: `outputNotCreated`, `diskFull`; `damagedStore` if the store is damaged; what `read` throws.
  /// - Complexity: the store is read and written once, and its copy is read again. The copying is one long snapshot.
  @discardableResult
  public func backup(to file: URL) throws -> StoreBackup {
    let opening = StoreOpening(directory: path, layout: SchemaLayout(schema: schema), configuration: configuration)
    return try session.connection.copy(to: try FilePath(of: file, else: .outputNotCreated)) { staging in
      let (header, report) = try UnpublishedStore(at: staging.path, like: opening, check: Self.check(schema)).verify()
      return StoreBackup(header, report, sizeInBytes: try TallyError.output { try staging.dataFile.stat().size })
    }
  }

  /// Replaces the store in a directory with a backup, or creates a store from it if there is none.
  ///
  /// The store must not be open anywhere. The backup is copied into the directory and verified there. The old file is
  /// kept next to the new one. After a crash at any step there is either the old store or the new one. Observers read
  /// everything again.
  ///
  /// - Returns: the new contents of the store.
  /// - Throws: `inputUnreadable`; `damagedStore` if the file is damaged or is not a backup; `newerFormat`; `alreadyOpen`,
  ///   `storeBusy`, `diskFull`; as opening a store.
  @discardableResult
  public static func restore(
    from file: URL, to directory: URL, schema: Schema, configuration: StoreConfiguration = StoreConfiguration()
  ) throws -> StoreBackup {
    let opening = try StoreOpening(at: directory, schema, configuration)
    let result = try Restoration(
      file: try FilePath(of: file, else: .inputUnreadable), opening: opening, check: check(schema)
    ).run()
    var backup = StoreBackup(result.header, result.report, sizeInBytes: result.sizeInBytes)
    backup.safetyCopy = result.safetyCopy.map { URL(filePath: $0.string) }
    return backup
  }

  /// Shrinks the store's file to its contents; a file never shrinks by itself.
  ///
  /// The store must not be open anywhere. A copy with full pages is written next to the old file, verified and moved
  /// into its place, so there must be space for both.
  ///
  /// - Returns: the sizes before and after.
  /// - Throws: `alreadyOpen`, `storeBusy`, `diskFull`; `damagedStore` if the store must be repaired first; as opening a
  ///   store.
  @discardableResult
  public static func compact(
    at directory: URL, schema: Schema, configuration: StoreConfiguration = StoreConfiguration()
  ) throws -> CompactionSummary {
    try StoreOpening(at: directory, schema, configuration).compact(check: check(schema))
  }

  /// Removes a store with the copies made by restoring and repairing, and its directory if nothing else is in it.
  ///
  /// The store must not be open anywhere. It may be damaged. A crash at any step leaves the whole store or none.
  ///
  /// - Throws: `storeMissing`, `notAStore`, `alreadyOpen`, `storeBusy`, `permissionDenied`, `storageFailed`.
  public static func remove(at directory: URL, configuration: StoreConfiguration = StoreConfiguration()) throws {
    try StoreOpening(at: directory, Schema(), configuration).remove()
  }

  /// Copies the store into a single file for others to read, while readers and writers continue.
  ///
  /// ``init(snapshotAt:schema:configuration:)`` opens the file, for example in a widget that must hold no lock. Unlike
  /// ``backup(to:)`` it does not verify the records.
  ///
  /// - Returns: the commit that the snapshot shows.
  /// - Throws: `outputNotCreated`, `diskFull`, `remoteFilesystem`; what `read` throws.
  @discardableResult
  public func publishSnapshot(to file: URL) throws -> UInt64 {
    try session.connection.copy(to: try FilePath(of: file, else: .outputNotCreated)) { staging in
      // Opened in the way its readers will, because a file that they cannot open must not replace one that they can.
      let copy = try Store(
        snapshotAt: URL(filePath: staging.dataFile.string), schema: schema, configuration: configuration)
      let sequence = try copy.read { try $0.position }.sequence
      try copy.close()
      return sequence
    }
  }

  /// Opens a published snapshot or a backup for reading, without a lock and without writing anything anywhere.
  ///
  /// It shows what the file contained when it was opened. ``suspend(waitingAtMost:)`` followed by ``resume()`` opens the
  /// newest file of that name.
  ///
  /// - Throws: `storeMissing`, `notAStore`, `newerFormat`, `damagedStore`, `permissionDenied`, `remoteFilesystem`,
  ///   `alreadyOpen`, `storageFailed`.
  public convenience init(
    snapshotAt file: URL, schema: Schema, configuration: StoreConfiguration = StoreConfiguration()
  ) throws {
    var configuration = configuration
    configuration.isReadOnly = true
    var opening = try StoreOpening(at: file, schema, configuration)
    opening.isSnapshot = true
    try self.init(opening, schema)
  }

  /// A check that throws for a store with a fault.
  private static func check(_ schema: Schema) -> (LMDBEnvironment) throws -> StoreReport {
    { environment in
      let report = try StoreCheck.run(on: environment, schema)
      guard report.isSound else {
        throw TallyError.unsound(report.faults.first?.description, count: report.faultCount)
      }
      return report
    }
  }
}

extension StoreBackup {
  fileprivate init(_ header: StoreHeader, _ report: StoreReport, sizeInBytes: Int64) {
    (storeID, sequence) = (header.storeID, header.sequence)
    (recordCount, self.sizeInBytes) = (report.recordCount, sizeInBytes)
  }
}

extension StoreOpening {
  /// The steps to a store of collections.
  init(at directory: URL, _ schema: Schema, _ configuration: StoreConfiguration) throws {
    self.init(
      directory: try FilePath(of: directory, else: .notAStore).absolute, layout: SchemaLayout(schema: schema),
      configuration: configuration)
  }
}

extension FilePath {
  /// The path that a file URL names.
  init(of url: URL, else code: TallyError.Code) throws {
    guard url.isFileURL else {
      throw TallyError(code, "The URL names no file", remedy: "Use a URL that begins with file:///")
    }
    self.init(url.path(percentEncoded: false))
  }
}
