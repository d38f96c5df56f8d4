import Foundation
public import LMDB
import TallyEngine

extension StoreTransaction where Base: ~Copyable {
  /// The saved filters, in the order of their folded names.
  ///
  /// ```swift
  /// try store.read { snapshot in
  ///   for saved in try snapshot.savedFilters() { print(saved.name, try snapshot.count(saved.filter)) }
  /// }
  /// ```
  ///
  /// - Throws: what the storage throws.
  /// - Complexity: linear in the number of saved filters.
  public func savedFilters() throws -> [SavedFilter] {
    try values(in: SavedFilter.namespace).map { try $0.decoded() }
  }

  /// The filter saved under a name in any spelling; `nil` if there is none.
  ///
  /// - Throws: what the storage throws.
  /// - Complexity: one lookup.
  public func savedFilter(named name: String) throws -> SavedFilter? {
    let key = SavedFilter.key(of: name)
    // No saved filter has a key of such a length.
    guard (1...SavedFilter.maximumNameLengthInBytes).contains(key.utf8.count) else { return nil }
    return try value(forKey: key, in: SavedFilter.namespace)
  }
}

extension StoreTransaction where Base == WriteTransaction {

  /// Deletes the filter that is saved under a name.
  ///
  /// - Throws: `filterNotFound`, and what the storage throws.
  public mutating func deleteFilter(named name: String) throws {
    guard let old = try savedFilter(named: name) else { throw TallyError.filterNotFound }
    try removeValues([ValueKey(SavedFilter.key(of: old.name), in: SavedFilter.namespace)])
  }

  /// Replaces a tag in the saved filters that use it.
  ///
  /// A filter that this version cannot parse is left unchanged.
  mutating func renameTag(_ tag: String, inFiltersTo newTag: String) throws {
    let folded = TagSet.folded(tag)
    for saved in try savedFilters() {
      guard let filter = try? saved.filter else { continue }
      let root = filter.root.mapConditions { condition in
        if case .tag(let other) = condition, TagSet.folded(other) == folded { .tag(newTag) } else { condition }
      }
      guard root != filter.root else { continue }
      try put(SavedFilter(TaskFilter(root), as: saved.name, updatedAt: timeOfChange(after: saved.updatedAt)))
    }
  }

  /// Stores a saved filter exactly as given.
  mutating func put(_ filter: SavedFilter) throws {
    let key = try ValueKey(SavedFilter.key(of: filter.name), in: SavedFilter.namespace)
    try write(StoredValue.encode(filter), forKey: key)
  }
}

extension TallyError {
  fileprivate static let filterNotFound = TallyError(
    .filterNotFound, "No saved filter has that name", remedy: "Use the name of one of the saved filters")
}
