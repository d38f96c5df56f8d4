import LMDB

/// One verification of a store: many short snapshots, and a long one only for doubtful results.
struct Verification {
  let environment: LMDBEnvironment
  let tables: Tables
  var observer: VerificationProgress.Observer?

  /// How many records or entries are checked in one snapshot.
  private static let recordsPerSnapshot = 4_096

  /// Checks everything.
  func run() throws -> VerificationReport {
    let before = try environment.information().lastTransactionID
    var check = IntegrityCheck(tables: tables)
    try checkHeader(&check)
    try run(IntegrityCheck.recordPasses, of: &check)
    if try environment.information().lastTransactionID == before {
      try environment.read { try check.finish(in: $0) }
      for index in check.surplusIndexes { try run([.entries(ofIndexAt: index)], of: &check) }
    } else {
      // Counts from one snapshot say nothing about the next: entries are checked one by one.
      try run(tables.indexes.indices.map { .entries(ofIndexAt: $0) }, of: &check)
      try environment.read { try check.checkCountersAnew(in: $0) }
    }
    if !check.report.isSound, try environment.information().lastTransactionID != before {
      // A fault seen across two snapshots may not be one in either; a single snapshot decides.
      check = IntegrityCheck(tables: tables)
      try checkHeader(&check)
      try environment.read { try check.runWhole(in: $0) }
    }
    return check.report
  }

  private func run(_ passes: [IntegrityCheck.Pass], of check: inout IntegrityCheck) throws {
    let total = try environment.read { transaction in
      try tables.lists.count(in: transaction) + tables.tasks.count(in: transaction)
        + tables.completions.count(in: transaction)
    }
    for pass in passes {
      var position: [UInt8]?
      repeat {
        try TallyError.checkCancellation()
        position = try environment.read { transaction in
          try check.run(pass, from: position, limit: Self.recordsPerSnapshot, in: transaction)
        }
        let count = check.report.listCount + check.report.taskCount + check.report.completionCount
        try observer?(VerificationProgress(recordCount: count, totalRecordCount: max(count, total)))
      } while position != nil
    }
  }

  private func checkHeader(_ check: inout IntegrityCheck) throws {
    let header = try environment.read { transaction in try? tables.meta.value(forKey: .header, in: transaction) }
    if header?.hasNextSequence != true { check.add(.damagedHeader, "meta", nil) }
    check.report.sequence = header?.sequence
    if let setAside = try SetAsideTable(openingIn: environment) {
      check.report.setAsideCount = try environment.read { try setAside.count(in: $0) }
    }
  }
}

extension Verification {
  /// Verifies what may not be a whole store, but whose pages have been checked: first which tables there are, then
  /// their contents.
  ///
  /// The indexes of an application are compared with their functions where those are given.
  static func run(
    on environment: LMDBEnvironment, registering indexes: [TaskIndex] = [], observer: VerificationProgress.Observer?
  ) throws -> VerificationReport {
    let missing = try Tables.missingNames(in: environment)
    guard missing.isEmpty else {
      var report = VerificationReport()
      for name in missing { report.add(StoreFault(kind: .missingTable, table: name, id: nil)) }
      return report
    }
    let tables = try Tables(openingIn: environment, registering: indexes)
    return try Verification(environment: environment, tables: tables, observer: observer).run()
  }
}
