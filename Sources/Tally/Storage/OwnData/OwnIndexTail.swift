import Foundation
import LMDB
import TallyEngine

/// The tasks that have changed since an index was current, with the keys that they have now.
///
/// A read merges them into its walk over the entries, and ignores the stored entries of these tasks.
struct OwnIndexTail {
  private(set) var ids: Set<UUID> = []
  /// The entries that the changed tasks should have in a range, in the direction of the walk.
  private(set) var entries: [[UInt8]] = []

  /// Reads the tasks that have changed since commit `last`.
  init<T: LMDBTransaction & ~Copyable>(
    of index: OwnIndex, since last: UInt64, within bounds: (lower: [UInt8], upper: [UInt8]), reversed: Bool,
    _ tables: Tables, in transaction: borrowing T
  ) throws {
    try tables.byChange.forEach(from: .start(after: last), in: transaction) { bytes, _ in
      let key = try ChangeKey(decoding: bytes)
      guard key.kind == .task || key.kind == .deletedTask else { return true }
      ids.insert(key.id)
      guard let task = try tables.readableTask(key.id, in: transaction) else { return true }
      for key in try index.keys(of: task) {
        let entry = OwnEntryKey(index: index.id, key: key, id: task.id).encodedBytes
        let isBefore = entry.lexicographicallyPrecedes(bounds.lower)
        if !isBefore, entry.lexicographicallyPrecedes(bounds.upper) { entries.append(entry) }
      }
      return true
    }
    entries.sort { $0.lexicographicallyPrecedes($1) != reversed }
  }
}

extension OwnIndexTables {
  /// Calls a closure with the entries of an index within bounds, up to date, until it returns `false`.
  func scan<T: LMDBTransaction & ~Copyable>(
    _ index: OwnIndex, within bounds: (lower: [UInt8], upper: [UInt8]), reversed: Bool, _ tables: Tables,
    in transaction: borrowing T, _ body: (OwnEntryKey) throws -> Bool
  ) throws {
    let last = try sequence(of: index, in: transaction)
    let header = try tables.meta.value(forKey: .header, in: transaction)
    guard header?.sequence != last else {
      return try entries.raw.forEach(from: bounds.lower, upTo: bounds.upper, reversed: reversed, in: transaction) {
        bytes, _ in try body(OwnEntryKey(decoding: bytes))
      }
    }
    let tail = try OwnIndexTail(of: index, since: last, within: bounds, reversed: reversed, tables, in: transaction)
    var rest = tail.entries[...]
    var isWanted = true
    // Visits the changed tasks that come before an entry, or all of them if there is none.
    func takeTail(before entry: [UInt8]?) throws {
      while isWanted, let first = rest.first {
        if let entry, first.lexicographicallyPrecedes(entry) == reversed { return }
        rest.removeFirst()
        // Unsafe by signature only: bytes have no padding.
        isWanted = try unsafe body(OwnEntryKey(decoding: first.span.bytes))
      }
    }
    try entries.raw.forEach(from: bounds.lower, upTo: bounds.upper, reversed: reversed, in: transaction) { bytes, _ in
      let entry = try OwnEntryKey(decoding: bytes)
      guard !tail.ids.contains(entry.id) else { return true }
      try takeTail(before: bytes.bytes(from: 0))
      if isWanted { isWanted = try body(entry) }
      return isWanted
    }
    if isWanted { try takeTail(before: nil) }
  }
}
