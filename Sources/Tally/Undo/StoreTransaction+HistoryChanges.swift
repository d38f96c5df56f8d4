public import Foundation
import LMDB
public import TallyEngine

extension StoreTransaction where Base: ~Copyable {
  /// The last writes, newest first, with what each of them changed.
  ///
  /// About a thousand writes are kept, or 8 MiB of replaced data; up to twice as much after undos and redos. Writes
  /// that changed nothing visible are left out, and so is a write whose undo was too large to record.
  ///
  /// ```swift
  /// let changes = try store.read { try $0.history(of: id) }
  /// ```
  ///
  /// - Parameters:
  ///   - taskID: return only the writes that changed this task or the time zone of its series, and only what they changed
  ///     in these; `nil` for all writes. The task may have been deleted.
  ///   - limit: the most writes to return.
  /// - Returns: the writes.
  /// - Throws: what the storage throws.
  /// - Complexity: reads the heads of the history, and the writes up to the last one returned.
  public func history(of taskID: UUID? = nil, limit: Int = .max) throws -> [HistoryChange] {
    var changes: [HistoryChange] = []
    guard limit > 0 else { return [] }
    try forEachHistoryChange(of: taskID) { change in
      changes.append(change)
      return changes.count < limit
    }
    return changes
  }

  /// One write of the history; `nil` if the history no longer has it.
  ///
  /// - Parameter id: the write's id.
  /// - Returns: the write with what it changed.
  /// - Throws: what the storage throws.
  /// - Complexity: reads the heads of the history, and the writes since that one.
  public func historyChange(_ id: ChangeID) throws -> HistoryChange? {
    var found: HistoryChange?
    try forEachHistoryChange(of: nil) { change in
      if change.id == id { found = change }
      return change.id > id
    }
    return found
  }

  private func forEachHistoryChange(of taskID: UUID?, _ body: (HistoryChange) -> Bool) throws {
    var walk = HistoryWalk(of: taskID, inSeries: try taskID.flatMap { try task($0)?.series?.id })
    for entry in try historyEntries() {
      let change = try walk.change(of: entry, in: self)
      let isEmpty =
        change.tasks.isEmpty && change.lists.isEmpty && change.series.isEmpty && change.savedFilters.isEmpty
        && change.values.isEmpty && change.records.isEmpty
      let isShown = !isEmpty || (taskID == nil && !entry.hasImages)
      guard !isShown || body(change) else { return }
    }
  }
}
