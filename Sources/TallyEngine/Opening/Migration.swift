package import LMDB

/// The formats of stores, and the migration from each to the next.
///
/// They are major formats only: a minor one adds fields that older versions preserve.
package struct MigrationTable: Sendable {
  /// Migrates a store from one major format to the next, in the transaction that also writes the header.
  package typealias Step = @Sendable (inout WriteTransaction) throws -> Void

  /// The major format that this version writes.
  package let current: UInt16
  /// The migration step from each older format.
  package let steps: [(format: UInt16, run: Step)]

  package init(current: UInt16, steps: [(format: UInt16, run: Step)]) {
    (self.current, self.steps) = (current, steps)
  }
}

extension MigrationTable {
  /// The steps from a store's format to the current one; empty if the store has the current one.
  package func steps(from header: StoreHeader) throws -> [Step] {
    try (min(header.majorFormat, current)..<current).map { format in
      guard let step = steps.first(where: { $0.format == format }) else { throw TallyError.noMigration }
      return step.run
    }
  }

  /// Migrates a store to the current format in one transaction.
  ///
  /// The history is emptied: its images are records of the older format, which undo cannot restore.
  ///
  /// - Returns: the new header.
  package func run(_ steps: [Step], from header: StoreHeader, in environment: LMDBEnvironment) throws -> StoreHeader {
    guard !steps.isEmpty else { return header }
    guard header.hasNextSequence else { throw TallyError.impossibleHeader }
    var migrated = header
    migrated.majorFormat = current
    migrated.minorFormat = StoreHeader.currentMinorFormat
    migrated.sequence += 1
    let meta = try StoreHeader.table(in: environment)
    try environment.write { transaction in
      for step in steps { try step(&transaction) }
      try Database<[UInt8], [UInt8]>(opening: "history", creating: true, in: &transaction).removeAll(in: &transaction)
      try meta.put(migrated, forKey: .header, in: &transaction)
    }
    return migrated
  }
}
