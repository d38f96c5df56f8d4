@testable import LMDB

// Reads and writes of a log alone, without the transactions of its environment: for tests of what lies below them.

/// A table of a store with a log.
struct LogStoreTable: Sendable {
  let name: String
  let database: Database<[UInt8], [UInt8]>
}

extension LogStore {
  func table(named name: String) throws -> LogStoreTable {
    let database = try environment.writeTree { transaction in
      try Database<[UInt8], [UInt8]>(opening: name, creating: true, in: &transaction)
    }
    return LogStoreTable(name: name, database: database)
  }

  func beginRead(holdingUp: () -> Void = {}) throws -> ReadTransaction {
    ReadTransaction(environment: environment, core: try beginReader(holdingUp: holdingUp))
  }

  /// Makes a commit of the changes that a body adds; it reads what the commits before have left.
  func write(isDurable: Bool = true, _ body: (borrowing ReadTransaction, inout LogChanges) throws -> Void) throws {
    try takeTurn("write")
    defer { endTurn() }
    if share.isInDoubt { try recover() }
    var changes = LogChanges()
    do {
      let snapshot = try beginRead()
      try body(snapshot, &changes)
    }
    if !changes.isEmpty { try commit(&changes, isDurable: isDurable) }
  }

  func mergeAndClose() throws {
    if share.isInDoubt { try write { _, changes in try changes.set([], forKey: [1], in: "settled") } }
    try closing(waitingAtMost: .seconds(60)) {}
  }
}

extension ReadTransaction {
  var commit: UInt64 { UInt64(snapshotNumber) }

  func value(forKey key: [UInt8], in table: LogStoreTable) throws -> [UInt8]? {
    try table.database.value(forKey: key, in: self)
  }

  func forEach(
    in table: LogStoreTable, _ body: (_ key: RawSpan, _ value: RawSpan) throws -> Bool
  ) throws {
    try table.database.forEach(in: self, body)
  }
}

extension LogTail {
  /// The table of a name, if the part has it.
  func found(_ name: String) -> LogTable? { tables.compactMap(\.self).first { $0.name == name } }
}
