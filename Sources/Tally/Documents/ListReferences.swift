internal import Foundation
internal import LMDB

/// Checks that every list that tasks name exists in the end, in the store or in the document.
///
/// A document may have its lists after its tasks, so an unknown list is remembered with the first place that named it.
struct ListReferences {
  private var known: Set<UUID> = []
  private var awaited: [UUID: TextPosition] = [:]
  /// Lists that were deleted here since, and stay deleted.
  private var deleted: Set<UUID> = []
  /// The lists of documents that name lists.
  private var names: [(id: UUID, name: String)] = []

  /// Whether a task that was imported needs a list that has not come yet.
  func isAwaited(_ id: UUID) -> Bool { awaited[id] != nil }

  /// Whether a list of the document stays deleted.
  func isDeleted(_ id: UUID) -> Bool { deleted.contains(id) }

  /// Notes a list that stays deleted.
  mutating func noteDeleted(_ id: UUID) { deleted.insert(id) }

  /// The list with a name: the one with the given id if it has the name, else the store's first one of the name, or a
  /// new one, whose id is the given one or follows from the name.
  mutating func id(
    ofListNamed name: String, preferring id: UUID?,
    in transaction: borrowing StoreTransaction<some LMDBTransaction & ~Copyable>
  ) throws -> (id: UUID, isNew: Bool) {
    if names.isEmpty { for list in try transaction.lists() { names.append((list.id, list.name)) } }
    let known = names.filter { $0.name == name }
    if let found = known.first(where: { $0.id == id }) ?? known.first { return (found.id, false) }
    let isFree = id.map { id in !names.contains { $0.id == id } } ?? false
    let new = isFree ? id ?? .lowest : UUID(namedBy: "list", name)
    names.append((new, name))
    return (new, true)
  }

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
