internal import Foundation

/// The ids of a document's tasks, each of which may come once.
///
/// Exports have them in ascending order: those are appended, which costs less than to hash them.
struct ImportedIDs {
  private var ascending: [UUID] = []
  private var others: Set<UUID> = []

  /// Inserts an id; false if it is there already.
  mutating func insert(_ id: UUID) -> Bool {
    if let last = ascending.last, id.words <= last.words {
      return !isAscending(id) && others.insert(id).inserted
    }
    guard others.isEmpty || !others.contains(id) else { return false }
    ascending.append(id)
    return true
  }

  func contains(_ id: UUID) -> Bool { isAscending(id) || others.contains(id) }

  private func isAscending(_ id: UUID) -> Bool {
    var (low, high) = (0, ascending.count)
    while low < high {
      let middle = (low + high) / 2
      if ascending[middle].words < id.words { low = middle + 1 } else { high = middle }
    }
    return low < ascending.count && ascending[low] == id
  }
}
