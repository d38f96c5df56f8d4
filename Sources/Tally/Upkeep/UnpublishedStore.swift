import LMDB
import SystemPackage
import TallyEngine

/// A store's file in a staging directory, for example a copy that has not been moved into place yet.
struct UnpublishedStore {
  let directory: FilePath
  let configuration: StoreConfiguration
  var migrations = MigrationTable.ofTasks

  /// Checks the format and every page and table; the pages first, because liblmdb trusts them.
  ///
  /// An older format is migrated before its tables are checked, because only the current tables can be checked.
  ///
  /// - Returns: the header, and the report with its counts.
  /// - Throws: `newerFormat`; `damagedStore`, also if the file is not that of a store.
  func verify(progress: VerificationProgress.Observer?) throws -> (header: StoreHeader, report: VerificationReport) {
    let file = DataFile(inDirectory: directory)
    guard try file.kind() == .environment else { throw TallyError.noBackup }
    try file.checkStructure()
    return try withEnvironment { environment in
      guard var header = try StoreOpening.header(in: environment) else { throw TallyError.noBackup }
      let admission = try opening.admission(of: header)
      guard admission != .reading else { throw TallyError.unknownWriterFeature }
      header = try StoreOpening.removeMark(from: header, in: environment)
      header = try migrations.run(migrations.steps(from: header), from: header, in: environment)
      let report = try Verification.run(on: environment, observer: progress)
      guard report.isSound else { throw TallyError.unsound(report) }
      return (header, report)
    }
  }

  /// Raises the sequence above that of the replaced store, so that no sequence is used twice.
  ///
  /// - Returns: the new header.
  /// - Throws: `damagedStore` if there is no higher sequence, which only a damaged file can come near.
  func advanceSequence(beyond replaced: UInt64) throws -> StoreHeader {
    try withEnvironment { environment in
      guard var header = try StoreOpening.header(in: environment) else { throw TallyError.noBackup }
      let sequence = max(header.sequence, replaced) + 1
      guard sequence <= StoreHeader.lastSequence else { throw TallyError.noSequenceLeft }
      header.sequence = sequence
      header.logStart = sequence
      let meta = try Database<MetaKey, StoreHeader>(opening: "meta", in: environment)
      try environment.write { transaction in try meta.put(header, forKey: .header, in: &transaction) }
      return header
    }
  }

  private var opening: StoreOpening {
    StoreOpening(
      directory: directory, layout: TaskLayout(indexes: []), configuration: configuration, migrations: migrations)
  }

  private func withEnvironment<R>(_ body: (LMDBEnvironment) throws -> R) throws -> R {
    var options = opening.environmentOptions
    options.isReadOnly = false
    options.durability = .full
    let environment = try LMDBEnvironment(path: directory, options: options)
    defer { try? environment.close() }
    let result = try body(environment)
    try environment.close()
    return result
  }
}

extension TallyError {
  static let noFile = TallyError(
    .inputUnreadable, "The backup is a directory, a pipe or a device, not a file",
    remedy: "Give a file that 'tally backup' has written")

  static let ownFile = TallyError(
    .inputUnreadable, "The backup is the file of the store itself",
    remedy: "Give a file that 'tally backup' has written")

  static let noBackup = TallyError(
    .damagedStore, "The file is not a backup of a Tally store", remedy: "Give a file that 'tally backup' has written")

  static let noSequenceLeft = TallyError(
    .damagedStore, "The backup, or the store that it would replace, has no number left for another commit",
    remedy: "Restore an older backup, or keep an export of what can be read")

  /// The error for a failed verification, with the first fault.
  static func unsound(_ report: VerificationReport) -> TallyError {
    let first = report.faults.first.map(\.description) ?? ""
    let more = report.faultCount > 1 ? ", and \(report.faultCount - 1) more" : ""
    return TallyError(
      .damagedStore, "The store contradicts itself: \(first)\(more)",
      remedy: "Repair it, restore a backup, or keep an export of what can be read")
  }
}
