import Foundation
import LMDB
import TallyEngine

/// Brings the registered indexes of an application up to date with a commit.
///
/// It removes other versions of them, and reads the tasks that have changed since each index was current. A new index
/// starts at commit 0, so this also builds it.
struct OwnIndexCatchUp {
  let tables: Tables
  /// The sequence of the last commit.
  let sequence: UInt64

  /// How many changed tasks are gathered before their rows are written.
  private static let batchCount = 16_384

  private var own: OwnIndexTables { tables.ownIndexes }

  /// Whether an index is behind or has an old version.
  func isNeeded<T: LMDBTransaction & ~Copyable>(in transaction: borrowing T) throws -> Bool {
    for index in own.registered where try own.sequence(of: index, in: transaction) != sequence { return true }
    return try !supersededIDs(in: transaction).isEmpty
  }

  /// Brings the indexes up to date, and removes other versions of them.
  func run(in transaction: inout WriteTransaction) throws {
    for id in try supersededIDs(in: transaction) { try own.remove(id, in: &transaction) }
    try catchUp(in: &transaction)
  }

  /// Brings the indexes up to date; costs one lookup for each registered index if there is nothing to do.
  func catchUp(in transaction: inout WriteTransaction) throws {
    for index in own.registered {
      let last = try own.sequence(of: index, in: transaction)
      guard last != sequence else { continue }
      try catchUp(index, since: last, in: &transaction)
      try own.states.put(OwnIndexState(of: index.definition, at: sequence), forKey: index.id, in: &transaction)
    }
  }

  /// Marks the indexes that are current as current up to the commit that is about to be made.
  func advance(to next: UInt64, in transaction: inout WriteTransaction) throws(LMDBError) {
    for index in own.registered where try own.sequence(of: index, in: transaction) == sequence {
      try own.states.put(OwnIndexState(of: index.definition, at: next), forKey: index.id, in: &transaction)
    }
  }

  private func catchUp(_ index: OwnIndex, since last: UInt64, in transaction: inout WriteTransaction) throws {
    var position: ChangeKey? = .start(after: last)
    while let start = position {
      var changes = OwnIndexChanges(of: index)
      position = try gather(&changes, from: start, in: transaction)
      try changes.apply(to: own, in: &transaction)
    }
  }

  /// Gathers the keys of some changed tasks; returns the key to continue from.
  private func gather(
    _ changes: inout OwnIndexChanges, from start: ChangeKey, in transaction: borrowing WriteTransaction
  ) throws -> ChangeKey? {
    var (count, next) = (0, nil as ChangeKey?)
    try tables.byChange.forEach(from: start, in: transaction) { bytes, _ in
      let key = try ChangeKey(decoding: bytes)
      guard count < Self.batchCount else {
        next = key
        return false
      }
      guard key.kind == .task || key.kind == .deletedTask else { return true }
      count += 1
      try changes.add(tables.readableTask(key.id, in: transaction), key.id)
      return true
    }
    return next
  }

  /// The ids of other versions of the registered indexes.
  private func supersededIDs<T: LMDBTransaction & ~Copyable>(in transaction: borrowing T) throws -> [OwnIndexID] {
    let current = Dictionary(own.registered.map { ($0.definition.name, $0.id) }) { first, _ in first }
    var superseded: [OwnIndexID] = []
    try own.states.forEach(in: transaction) { key, value in
      let id = try OwnIndexID(decoding: key)
      if let present = current[try OwnIndexState(decoding: value).name], present != id { superseded.append(id) }
      return true
    }
    return superseded
  }
}

extension Tables {
  /// The update of the registered indexes to the last commit; `nil` without a readable header.
  func catchUp<T: LMDBTransaction & ~Copyable>(in transaction: borrowing T) throws(LMDBError) -> OwnIndexCatchUp? {
    guard let header = try meta.value(forKey: .header, in: transaction) else { return nil }
    return OwnIndexCatchUp(tables: self, sequence: header.sequence)
  }

  /// Reads a task for an application's index; `nil` if it does not exist or cannot be read, which `verify` reports.
  func readableTask<T: LMDBTransaction & ~Copyable>(_ id: UUID, in transaction: borrowing T) throws -> TaskItem? {
    guard let bytes = try tasks.bytes(forKey: IDKey(id), in: transaction) else { return nil }
    return try? TaskFields(bytes).item(id: id)
  }
}
