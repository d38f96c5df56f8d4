internal import Foundation
internal import LMDB

/// When tasks, lists and saved filters were deleted here, as far as the store knows.
///
/// A deletion leaves a tombstone for good, with its commit. The date of a commit is in the history, which is bounded:
/// an older deletion is known to have come before the oldest entry, and counts as made then. So a task that was deleted
/// long ago stays deleted rather than come back by mistake; overwriting brings it back. A saved filter leaves no
/// tombstone: only the history knows that it was deleted.
struct DeletionDates {
  private var hasTombstones: Bool?
  private var datesOfCommits: [UInt64: Timestamp] = [:]
  private var datesOfFilters: [ValueKey: Timestamp]?
  private var oldest: (sequence: UInt64, date: Timestamp)?

  /// When an object was deleted, at the latest; `nil` if it never was, or exists again.
  mutating func date(
    _ kind: ObjectKind, _ id: UUID, in transaction: borrowing StoreTransaction<some LMDBTransaction & ~Copyable>
  ) throws -> Timestamp? {
    if hasTombstones == nil { try load(in: transaction) }
    guard hasTombstones == true,
      let tombstone = try transaction.tables.tombstones.value(forKey: TombstoneKey(kind, id), in: transaction.base)
    else { return nil }
    let sequence = tombstone.stamp.changed
    if let date = datesOfCommits[sequence] { return date }
    return oldest.flatMap { sequence < $0.sequence ? $0.date : nil } ?? transaction.now
  }

  /// When a saved filter that does not exist was deleted; `nil` if the history does not know of it.
  mutating func date(
    ofFilterNamed name: String, in transaction: borrowing StoreTransaction<some LMDBTransaction & ~Copyable>
  ) throws -> Timestamp? {
    var dates = datesOfFilters ?? [:]
    if datesOfFilters == nil {
      // Newest first: the first image of a filter that does not exist is that of its deletion.
      for entry in try transaction.historyEntries() {
        try transaction.forEachImage(of: entry.id) { key, presence, _ in
          guard presence == .present, let key = key.value, key.namespace == SavedFilter.namespace else { return }
          if dates[key] == nil { dates[key] = entry.date }
        }
      }
      datesOfFilters = dates
    }
    return dates[try ValueKey(SavedFilter.key(of: name), in: SavedFilter.namespace)]
  }

  private mutating func load(in transaction: borrowing StoreTransaction<some LMDBTransaction & ~Copyable>) throws {
    hasTombstones = try transaction.tables.tombstones.count(in: transaction.base) > 0
    guard hasTombstones == true else { return }
    for entry in try transaction.historyEntries() {
      let sequence = entry.id.sequence
      // Several writes share a commit.
      datesOfCommits[sequence] = max(entry.date, datesOfCommits[sequence] ?? entry.date)
      oldest = (sequence, entry.date)
    }
  }
}
