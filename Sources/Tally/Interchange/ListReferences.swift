internal import Foundation
internal import LMDB

/// Checks that every list that tasks name exists in the end, in the store or in the document.
///
/// A document may have its lists after its tasks, so an unknown list is remembered with the first place that named it.
struct ListReferences {
  private var known: Set<UUID> = []
  private var awaited: [UUID: TextPosition] = [:]

  /// Notes a list of the document.
  mutating func define(_ id: UUID) {
    known.insert(id)
    awaited[id] = nil
  }

  /// Notes that a task names a list.
  mutating func note(
    _ id: UUID, at position: TextPosition, in transaction: borrowing StoreTransaction<some LMDBTransaction & ~Copyable>
  ) throws {
    guard !known.contains(id), awaited[id] == nil else { return }
    if try transaction.tables.lists.contains(IDKey(id), in: transaction.base) {
      known.insert(id)
    } else {
      awaited[id] = position
    }
  }

  /// Throws `unknownList` with the earliest place that names a list that does not exist.
  func checkAllKnown() throws {
    guard let first = awaited.min(by: { ($0.value.line, $0.value.column) < ($1.value.line, $1.value.column) }) else {
      return
    }
    throw TallyError(
      .unknownList,
      "The task names the list \(first.key.uuidString.lowercased()), which neither the document nor the store has",
      remedy: "Add the list to the document, create it first, or set listID to null", at: first.value)
  }
}
