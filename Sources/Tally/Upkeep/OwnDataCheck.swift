import Foundation
import LMDB
import TallyEngine

/// Checks the values and the indexes of applications.
///
/// A row of an index counts only if its task has not changed since the index was current. Whether rows match the
/// application's function can be checked only for a registered index; whether rows and entries agree can be checked for
/// every index.
struct OwnDataCheck {
  let tables: Tables
  private let report: (StoreFault.Kind, TableName, UUID?) -> Void

  private var ownIndexes: OwnIndexTables { tables.ownIndexes }

  /// Checks everything in one snapshot, and reports each fault.
  static func run<T: LMDBTransaction & ~Copyable>(
    _ tables: Tables, in transaction: borrowing T, _ report: (StoreFault.Kind, TableName, UUID?) -> Void
  ) throws {
    try withoutActuallyEscaping(report) { report in
      let check = OwnDataCheck(tables: tables, report: report)
      try check.checkValues(in: transaction)
      try check.checkStates(in: transaction)
      try check.checkRows(in: transaction)
      try check.checkEntries(in: transaction)
      for index in check.ownIndexes.registered { try check.checkTasks(of: index, in: transaction) }
    }
  }

  private func checkValues<T: LMDBTransaction & ~Copyable>(in transaction: borrowing T) throws {
    try tables.values.forEach(in: transaction) { key, value in
      if ValueKey(canonically: key) == nil || TaskSeries.isUnreadable(key, value) {
        report(.unreadableRecord, .values, nil)
      }
      return true
    }
  }

  private func checkStates<T: LMDBTransaction & ~Copyable>(in transaction: borrowing T) throws {
    // An unreadable header is reported as its own fault.
    let last = (try? tables.meta.value(forKey: .header, in: transaction))?.sequence ?? .max
    try ownIndexes.states.forEach(in: transaction) { key, value in
      let state = try? OwnIndexState(decoding: value)
      let isRight = state.map { state in
        state.sequence <= last
          && OwnIndexID(canonically: key) == OwnIndexID(name: state.name, version: state.version)
      }
      if isRight != true { report(.invalidRecord, .ownIndexes, nil) }
      return true
    }
  }

  /// Checks that each row can be read and that its entries exist.
  private func checkRows<T: LMDBTransaction & ~Copyable>(in transaction: borrowing T) throws {
    try ownIndexes.keys.forEach(in: transaction) { key, value in
      guard let row = OwnKeysKey(canonically: key), let keys = try? OwnKeys(decoding: value).keys, !keys.isEmpty else {
        report(.unreadableRecord, .ownIndexKeys, nil)
        return true
      }
      for key in keys where key.count <= TaskIndex.maximumKeyByteCount {
        let entry = OwnEntryKey(index: OwnIndexID(row), key: key, id: row.id)
        if try !ownIndexes.entries.contains(entry, in: transaction) {
          report(.missingEntry, .ownIndexEntries, row.id)
        }
      }
      return true
    }
  }

  /// Checks that each entry belongs to a row.
  private func checkEntries<T: LMDBTransaction & ~Copyable>(in transaction: borrowing T) throws {
    try ownIndexes.entries.forEach(in: transaction) { bytes, _ in
      guard let entry = try? OwnEntryKey(decoding: bytes) else {
        report(.danglingEntry, .ownIndexEntries, nil)
        return true
      }
      let row = try? ownIndexes.keys.value(forKey: OwnKeysKey(entry.index, entry.id), in: transaction)
      if row?.keys.contains(entry.key) != true { report(.danglingEntry, .ownIndexEntries, entry.id) }
      return true
    }
  }

  /// Checks the rows of the tasks that have not changed since a registered index was current.
  private func checkTasks<T: LMDBTransaction & ~Copyable>(of index: OwnIndex, in transaction: borrowing T) throws {
    let last = (try? ownIndexes.sequence(of: index, in: transaction)) ?? 0
    try tables.tasks.forEach(in: transaction) { key, value in
      guard let id = IDKey(canonically: key)?.id, let fields = try? TaskFields(value), fields.stamp.changed <= last,
        let task = try? fields.item(id: id)
      else { return true }
      let row = try? ownIndexes.keys.value(forKey: OwnKeysKey(index.id, id), in: transaction)
      if try index.keys(of: task) != row?.keys ?? [] { report(.wrongEntry, .ownIndexKeys, id) }
      return true
    }
    try ownIndexes.keys.forEach(from: OwnKeysKey(index.id, .lowest), in: transaction) { bytes, _ in
      guard let row = OwnKeysKey(canonically: bytes), row.index == index.id.hash else { return false }
      guard try !tables.tasks.contains(IDKey(row.id), in: transaction) else { return true }
      let tombstone = try? tables.tombstones.value(forKey: TombstoneKey(.task, row.id), in: transaction)
      if (tombstone?.stamp.changed ?? 0) <= last { report(.danglingEntry, .ownIndexKeys, row.id) }
      return true
    }
  }
}

extension OwnIndexID {
  fileprivate init(_ row: OwnKeysKey) {
    self.init(hash: row.index)
  }
}
