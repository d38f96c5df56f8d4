package import LMDB
package import SystemPackage
package import TallySystem

/// A store's file in a staging directory, for example a copy that has not been moved into place yet.
package struct UnpublishedStore<Report> {
  private let opening: StoreOpening
  /// Compares all tables of a store whose pages are intact; throws if it finds a fault.
  private let check: (LMDBEnvironment) throws -> Report

  /// A store in another directory than the one that is to be opened, but of the same kind.
  ///
  /// - Parameters:
  ///   - directory: the staging directory.
  ///   - opening: how the store is opened.
  ///   - check: compares all tables of a store whose pages are intact; throws if it finds a fault.
  package init(
    at directory: FilePath, like opening: StoreOpening, check: @escaping (LMDBEnvironment) throws -> Report
  ) {
    self.opening = StoreOpening(
      directory: directory, layout: opening.layout, configuration: opening.configuration,
      migrations: opening.migrations)
    self.check = check
  }

  /// Checks the format and every page and table; the pages first, because liblmdb trusts them.
  ///
  /// An older format is migrated before its tables are checked, because only the current tables can be checked.
  ///
  /// - Returns: the header, and what the check returns.
  /// - Throws: `newerFormat`; `damagedStore`, also if the file is not that of a store; what the check throws.
  package func verify() throws -> (header: StoreHeader, report: Report) {
    let file = DataFile(inDirectory: opening.directory)
    guard try file.kind() == .environment else { throw TallyError.noBackup }
    try file.checkStructure()
    return try withEnvironment { environment in
      guard var header = try StoreOpening.header(in: environment) else { throw TallyError.noBackup }
      let admission = try opening.admission(of: header)
      guard admission != .reading else { throw TallyError.unknownWriterFeature }
      header = try StoreOpening.removeMarks(from: header, in: environment)
      let migrations = opening.migrations
      header = try migrations.run(migrations.steps(from: header), from: header, in: environment)
      return (header, try check(environment))
    }
  }

  /// Raises the sequence above that of the replaced store, so that no sequence is used twice.
  ///
  /// - Returns: the new header.
  /// - Throws: `damagedStore` if there is no higher sequence, which only a damaged file can come near.
  package func advanceSequence(beyond replaced: UInt64) throws -> StoreHeader {
    try withEnvironment { environment in
      guard var header = try StoreOpening.header(in: environment) else { throw TallyError.noBackup }
      let sequence = max(header.sequence, replaced) + 1
      guard sequence <= StoreHeader.lastSequence else { throw TallyError.noSequenceLeft }
      header.sequence = sequence
      header.logStart = sequence
      let meta = try StoreHeader.table(in: environment)
      try environment.write { transaction in try meta.put(header, forKey: .header, in: &transaction) }
      return header
    }
  }

  private func withEnvironment<R>(_ body: (LMDBEnvironment) throws -> R) throws -> R {
    var options = opening.environmentOptions
    options.isReadOnly = false
    options.durability = .full
    let environment = try LMDBEnvironment(path: opening.directory, options: options)
    defer { try? environment.close() }
    let result = try body(environment)
    try environment.close()
    return result
  }
}

extension StoreOpening {
  /// Removes the marks of the store's files from a copy, which has none of them.
  fileprivate func removeMarks(fromCopyIn directory: FilePath) throws {
    var options = environmentOptions
    options.isReadOnly = false
    let copy = try LMDBEnvironment(path: directory, options: options)
    defer { try? copy.close() }
    guard let header = try Self.header(in: copy) else { return }
    _ = try Self.removeMarks(from: header, in: copy)
    try copy.close()
    // A file beside a lock file counts as the file of a store.
    try TallyError.output { try SystemCalls.removeFile(directory.appending(Self.lockFileName)) }
  }
}

extension StoreConnection {
  /// Replaces a file with a flushed copy of the store, after a closure has checked the copy.
  ///
  /// The copy is created next to the file, and gets its name only when the closure has returned.
  ///
  /// - Throws: `outputNotCreated`, `diskFull`; what the closure throws, and what `read` throws.
  package func copy<R>(to file: FilePath, lookingAt look: (TemporaryItem) throws -> R) throws -> R {
    try useForLong { store in
      try StoreFiles.refuseAsOutput(file)
      try TallyError.output { try AtomicFile.requireReplaceable(file) }
      let parent = file.parentOrCurrent
      let staging = try TallyError.output { try TemporaryItem(.directory, in: parent, for: ".tally-copy") }
      try store.environment.copyStore(to: staging.path)
      if store.environment.hasLog { try opening.removeMarks(fromCopyIn: staging.path) }
      let result = try look(staging)
      try TallyError.output { try SystemCalls.rename(staging.dataFile, to: file) }
      try TallyError.flush(parent, after: "The file is complete and in its place")
      return result
    }
  }
}

extension LMDBEnvironment {
  /// Copies the store without its free pages, or with them if liblmdb finds that some free pages are lost.
  func copyStore(to directory: FilePath) throws(LMDBError) {
    do throws(LMDBError) {
      try copy(to: directory, compacting: true)
    } catch {
      guard error.code == .incompatible else { throw error }
      try copy(to: directory, compacting: false)
    }
  }
}

extension TallyError {
  /// Turns the errors of a file that is being written into the store's.
  package static func output<R>(_ body: () throws -> R) throws -> R {
    try replacing(unwritableOutput, body)
  }

  fileprivate static let noBackup = TallyError(
    .damagedStore, "The file is not a backup of a Tally store", remedy: "Give a file that a backup has written")

  fileprivate static let noSequenceLeft = TallyError(
    .damagedStore, "The backup, or the store that it would replace, has no number left for another commit",
    remedy: "Restore an older backup, or keep an export of what can be read")

  /// The error for a store in which a check has found faults.
  package static func unsound(_ first: String?, count: Int) -> TallyError {
    let more = count > 1 ? ", and \(count - 1) more" : ""
    return TallyError(
      .damagedStore, "The store contradicts itself: \(first ?? "")\(more)",
      remedy: "Repair it, restore a backup, or keep an export of what can be read")
  }
}
