import LMDB
public import SystemPackage
import TallyEngine
import TallySystem

/// The result of a repair.
public struct RepairReport: Hashable, Sendable {
  /// The faults found before the repair.
  public package(set) var before: VerificationReport
  /// The remaining faults: records that break the model's rules, which only their user can correct.
  public let after: VerificationReport
  /// The path of the copy of the store's old file; `nil` if there was no fault.
  public let safetyCopy: FilePath?
}

extension TaskStore {
  /// Repairs what ``verify(progress:)`` finds, by rebuilding indexes and counters from the records and the ledger.
  ///
  /// The store must not be open anywhere. A copy of the old file is kept next to it, and can be restored. The repair is
  /// one transaction; after a crash the store is either unchanged or repaired. No data of the user is lost: an
  /// unreadable record is set aside, a task whose list is missing moves to the inbox or stays on its day, and a
  /// completion whose task is missing still counts.
  ///
  /// - Parameters:
  ///   - directory: The store's directory.
  ///   - configuration: How to open the store.
  ///   - progress: Called with the progress of the verification; may throw to end it.
  /// - Returns: The faults before and after.
  /// - Throws: `damagedStore` if a page of the file contradicts the others or the table of tasks is missing, which no
  ///   repair can fix; `alreadyOpen` while this process has the store open, `storeBusy` while another one has;
  ///   `diskFull`; as opening a store.
  @discardableResult
  public static func repair(
    at directory: FilePath,
    configuration: Configuration = Configuration(),
    progress: VerificationProgress.Observer? = nil
  ) throws -> RepairReport {
    let opening = StoreOpening(directory: directory, configuration: configuration)
    let layout = TaskLayout(configuration)
    return try opening.withDamagedStore(.exclusive) { store in
      let before = try Verification.run(on: store.environment, layout, observer: progress)
      guard !before.isSound else { return RepairReport(before: before, after: before, safetyCopy: nil) }
      guard !before.faults.contains(where: { $0.kind == .missingTable && $0.table == "tasks" }) else {
        throw TallyError(
          .damagedStore, "The table of tasks is missing, from which everything else follows",
          remedy: "Restore a backup or import an export")
      }
      if let refusal = try layout.collections.refusalOfRepair(on: store.environment) { throw refusal }
      let kept = try opening.keepSafetyCopy(of: store.environment, because: .repair)
      let repair = Repair(report: before, collections: layout.collections, now: configuration.now())
      try store.environment.write { transaction in try repair.run(in: &transaction) }
      try store.environment.checkStructure()
      let after = try Verification.run(on: store.environment, layout, observer: progress)
      return RepairReport(before: before, after: after, safetyCopy: kept)
    }
  }
}
