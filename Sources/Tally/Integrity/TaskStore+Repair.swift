import LMDB
public import SystemPackage
import TallySystem

/// What a repair did.
public struct RepairReport: Hashable, Sendable {
  /// What was wrong.
  public let before: VerificationReport
  /// What is still wrong: records that break the model's rules, which nobody but their user can mend.
  public let after: VerificationReport
  /// Where the store's file is kept as it was before; `nil` if nothing was wrong.
  public let safetyCopy: FilePath?
}

extension TaskStore {
  /// Mends what ``verify(progress:)`` finds: makes indexes and counters anew from the records and the ledger.
  ///
  /// Nobody may have the store open. The file as it was is kept beside it, and can be restored. All is done in one
  /// transaction; a crash leaves the store as it was, or mended. Nothing of the user's is thrown away: a record that
  /// cannot be read is set aside, a task whose list is gone goes to the inbox or stays on its day, and a completion
  /// whose task is gone counts on.
  ///
  /// - Parameters:
  ///   - directory: The store's directory.
  ///   - configuration: How to open the store.
  ///   - progress: Is told how far the verification has come, and may throw to end it.
  /// - Returns: What was wrong, and what still is.
  /// - Throws: `damagedStore` if a page of the file contradicts the others or the table of tasks is missing, which no
  ///   repair can mend; `storeBusy` while the store is open somewhere; `diskFull`; as opening a store.
  @discardableResult
  public static func repair(
    at directory: FilePath,
    configuration: Configuration = Configuration(),
    progress: VerificationProgress.Observer? = nil
  ) throws -> RepairReport {
    let opening = StoreOpening(directory: directory, configuration: configuration)
    return try opening.withDamagedStore(.exclusive) { store in
      let before = try Verification.run(on: store.environment, observer: progress)
      guard !before.isSound else { return RepairReport(before: before, after: before, safetyCopy: nil) }
      try refuseHopeless(before)
      let kept = try opening.keepSafetyCopy(of: store.environment, because: .repair)
      try mend(before, in: store.environment, now: configuration.now())
      try store.environment.checkStructure()
      let after = try Verification.run(on: store.environment, observer: progress)
      return RepairReport(before: before, after: after, safetyCopy: kept)
    }
  }

  private static func mend(_ report: VerificationReport, in environment: Environment, now: Timestamp) throws {
    let repair = Repair(report: report, now: now)
    try environment.write { transaction in try repair.run(in: &transaction) }
  }

  private static func refuseHopeless(_ report: VerificationReport) throws {
    guard report.faults.contains(where: { $0.kind == .missingTable && $0.table == "tasks" }) else { return }
    throw TallyError(
      .damagedStore, "The table of tasks is missing, from which everything else follows",
      remedy: "Restore a backup or import an export")
  }
}

extension StoreOpening {
  /// Copies the store's file, free pages and all, to where its user finds it.
  func keepSafetyCopy(of environment: Environment, because reason: SafetyCopy.Reason) throws -> FilePath {
    StagingDirectory.sweep(directory)
    let staging = try StagingDirectory(in: directory, for: reason.rawValue)
    try environment.copy(to: staging.path)
    let kept = try SafetyCopy.create(staging.dataFile, because: reason, in: directory, at: configuration.now())
    try SystemCalls.flushDirectory(directory)
    return kept
  }
}
