import LMDB
public import SystemPackage
import TallyEngine

/// One verification of a store, in many short snapshots and a long one only for doubtful results.
///
/// Counts of entries and counters are compared only with records of the same snapshot. Snapshots are the same if they
/// show the same acknowledged transaction. The newest transaction in the file cannot serve for this: it may be written
/// but not yet acknowledged, so two snapshots may differ although it is the same.
struct Verification {
  let environment: LMDBEnvironment
  let tables: Tables
  var observer: VerificationProgress.Observer?

  /// A check, and the snapshots that it has read so far.
  private struct Scan {
    var check: IntegrityCheck
    var snapshots: Set<Int> = []
  }

  /// The number of records or entries that are checked in one snapshot.
  private static let recordsPerSnapshot = 4_096

  /// Checks everything; if that finds a fault, checks everything again in one snapshot, whose result counts.
  func run() throws -> VerificationReport {
    var scan = Scan(check: IntegrityCheck(tables: tables))
    try checkHeader(&scan)
    try run(IntegrityCheck.recordPasses, of: &scan)
    let isFinished = try read(&scan) { scan, transaction in
      guard scan.snapshots.count == 1 else { return false }
      try scan.check.finish(in: transaction)
      return true
    }
    if isFinished {
      for index in scan.check.surplusIndexes { try run([.entries(ofIndexAt: index)], of: &scan) }
    } else {
      // Counts from one snapshot cannot be compared with another one, so the entries are checked one by one.
      try run(tables.indexes.indices.map { .entries(ofIndexAt: $0) }, of: &scan)
      try read(&scan) { scan, transaction in try scan.check.checkCountersAnew(in: transaction) }
    }
    return scan.check.report.isSound ? scan.check.report : try runInOneSnapshot()
  }

  /// Checks everything in one snapshot.
  private func runInOneSnapshot() throws -> VerificationReport {
    var scan = Scan(check: IntegrityCheck(tables: tables))
    try checkHeader(&scan)
    try read(&scan) { scan, transaction in
      try scan.check.runWhole(in: transaction)
      // If another program has ended the snapshot, the snapshot's pages may have been overwritten.
      guard scan.check.report.isSound || transaction.hasReaderSlot else { throw TallyError.lostSnapshot }
    }
    return scan.check.report
  }

  /// Runs a closure in a new snapshot, and records which one it is.
  private func read<R>(
    _ scan: inout Scan, _ body: (inout Scan, borrowing ReadTransaction) throws -> R
  ) throws -> R {
    try environment.read { transaction in
      scan.snapshots.insert(transaction.snapshotNumber)
      return try body(&scan, transaction)
    }
  }

  private func run(_ passes: [IntegrityCheck.Pass], of scan: inout Scan) throws {
    let total = try read(&scan) { _, transaction in
      try tables.lists.count(in: transaction) + tables.tasks.count(in: transaction)
        + tables.completions.count(in: transaction)
    }
    for pass in passes {
      var position: [UInt8]?
      repeat {
        try TallyError.checkCancellation()
        position = try read(&scan) { scan, transaction in
          try scan.check.run(pass, from: position, limit: Self.recordsPerSnapshot, in: transaction)
        }
        let report = scan.check.report
        let count = report.listCount + report.taskCount + report.completionCount
        try observer?(VerificationProgress(recordCount: count, totalRecordCount: max(count, total)))
      } while position != nil
    }
  }

  private func checkHeader(_ scan: inout Scan) throws {
    let header = try read(&scan) { _, transaction in try? tables.meta.value(forKey: .header, in: transaction) }
    if header?.hasNextSequence != true { scan.check.add(.damagedHeader, "meta", nil) }
    scan.check.report.sequence = header?.sequence
    if let setAside = try SetAsideTable(openingIn: environment) {
      scan.check.report.setAsideCount = try read(&scan) { _, transaction in try setAside.rows.count(in: transaction) }
    }
  }
}

extension Verification {
  /// Verifies an environment that may not be a complete store but whose pages have been checked.
  ///
  /// It first checks which tables exist, then their contents. What an application has declared is compared with its
  /// declarations.
  static func run(
    on environment: LMDBEnvironment, _ layout: TaskLayout, observer: VerificationProgress.Observer?
  ) throws -> VerificationReport {
    let missing = try layout.missingTableNames(in: environment)
    guard missing.isEmpty else {
      var report = VerificationReport()
      for name in missing { report.add(StoreFault(kind: .missingTable, table: name, id: nil)) }
      return report
    }
    let tables = try Tables(openingIn: environment, registering: layout.indexes)
    var report = try Verification(environment: environment, tables: tables, observer: observer).run()
    report.add(try layout.collections.report(on: environment))
    return report
  }

  /// Verifies a store whose pages have been checked, and throws if anything is wrong.
  ///
  /// - Throws: `damagedStore` with the first fault; what the observer throws.
  static func requireSound(
    _ environment: LMDBEnvironment, _ layout: TaskLayout, observer: VerificationProgress.Observer?
  ) throws -> VerificationReport {
    let report = try run(on: environment, layout, observer: observer)
    guard report.isSound else {
      throw TallyError.unsound(report.faults.first?.description, count: report.faultCount)
    }
    return report
  }
}

/// The result of a verification.
public struct VerificationReport: Hashable, Sendable {
  /// The faults, at most the first thousand; empty for a sound store.
  public internal(set) var faults: [StoreFault] = []
  /// The number of faults, including those after the first thousand.
  public internal(set) var faultCount = 0
  /// The sequence of the last snapshot that was checked; `nil` if the header cannot be read.
  public internal(set) var sequence: UInt64?
  /// The number of tasks checked.
  public internal(set) var taskCount = 0
  /// The number of lists checked.
  public internal(set) var listCount = 0
  /// The number of completions checked, including those of deleted tasks.
  public internal(set) var completionCount = 0
  /// The number of unreadable records that earlier repairs have set aside; they are kept, and appear in no view.
  public internal(set) var setAsideCount = 0
  /// The number of records of the application's collections that were checked.
  public internal(set) var recordCount = 0
  /// The collections in the store that were not checked, because the store was opened without them.
  public internal(set) var unknownCollections: [String] = []

  /// Whether no faults were found.
  public var isSound: Bool { faultCount == 0 }

  /// The most faults that a report lists.
  static let maximumListedFaults = 1_000

  /// Adds what a check of the application's collections has found; header and history have a check of their own.
  mutating func add(_ collections: StoreReport) {
    (recordCount, unknownCollections) = (collections.recordCount, collections.unknownCollections)
    for fault in collections.faults where fault.kind != .damagedHeader && fault.kind != .unreadableHistory {
      add(StoreFault(kind: .init(description: fault.kind.rawValue), table: fault.place, id: nil))
    }
    faultCount += collections.faultCount - collections.faults.count
  }

  package mutating func add(_ fault: StoreFault) {
    faultCount += 1
    if faults.count < Self.maximumListedFaults { faults.append(fault) }
  }
}

/// The progress of a verification.
public struct VerificationProgress: Hashable, Sendable {
  /// The number of records checked so far.
  public let recordCount: Int
  /// The total number of records, as known at the beginning.
  public let totalRecordCount: Int

  /// A closure that is called from time to time; if it throws, the verification ends.
  public typealias Observer = (VerificationProgress) throws -> Void
}

extension TaskStore {
  /// Compares every index, the ledger and every counter with the records, while readers and writers continue.
  ///
  /// It checks a few thousand records in each snapshot, so that it prevents hardly any pages from being reused.
  /// Checking the file's pages, and what concurrent writes have left in doubt, takes one long snapshot.
  ///
  /// - Parameter progress: Called from time to time; may throw to end the verification.
  /// - Returns: The report; ``VerificationReport/isSound`` says whether there are no faults.
  /// - Throws: `damagedStore` if a page of the file contradicts the others, with a message that names it; `cancelled`;
  ///   what `progress` throws, and what `read` throws.
  /// - Complexity: reads everything once, which takes some microseconds for each task.
  public func verify(progress: VerificationProgress.Observer? = nil) throws -> VerificationReport {
    try connection.use { store in
      try store.environment.checkStructure()
      var report = try Verification(environment: store.environment, tables: store.tables, observer: progress).run()
      report.add(try CollectionsBeside(configuration.schema).report(on: store.environment))
      return report
    }
  }

  /// Verifies the store in a directory, even one that cannot be opened because a table or its header is missing.
  ///
  /// - Parameters:
  ///   - directory: The store's directory.
  ///   - configuration: How to open it; it is opened for reading.
  ///   - progress: Called from time to time; may throw to end the verification.
  /// - Returns: The report. If tables are missing, nothing else has been checked.
  /// - Throws: As ``verify(progress:)``, and as opening a store.
  public static func verify(
    at directory: FilePath,
    configuration: Configuration = Configuration(),
    progress: VerificationProgress.Observer? = nil
  ) throws -> VerificationReport {
    var configuration = configuration
    configuration.isReadOnly = true
    return try StoreOpening(directory: directory, configuration: configuration).withDamagedStore { store in
      try Verification.run(on: store.environment, TaskLayout(configuration), observer: progress)
    }
  }
}
