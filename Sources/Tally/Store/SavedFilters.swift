import Foundation
public import LMDB
public import TallyEngine

/// A filter that is stored under a name.
///
/// Two names are the same if they are equal after Unicode case folding and normalization (NFC), as tags are.
public struct SavedFilter: Hashable, Sendable, Codable {
  /// The name, as it was written when the filter was last saved.
  public let name: String
  /// The filter's text, see <doc:Filters>.
  public let text: String
  /// When the filter was last saved.
  public let updatedAt: Timestamp

  /// The most characters of a name.
  public static let maximumNameLengthInCharacters = 64
  /// The most bytes of a name: one character may consist of many scalars.
  static let maximumNameLengthInBytes = 256

  private enum CodingKeys: String, CodingKey {
    case name, updatedAt
    case text = "filter"
  }

  /// Creates a value to be stored.
  ///
  /// - Throws: `invalidFilter` if the name is blank, is too long or has control characters, or if
  ///   ``TaskFilter/validate()`` refuses the filter.
  init(_ filter: TaskFilter, as name: String, updatedAt: Timestamp) throws(TallyError) {
    try filter.validate()
    self.name = try Self.checked(name)
    self.text = filter.text
    self.updatedAt = updatedAt
  }

  /// Decodes a stored value; `nil` if the bytes are not a saved filter.
  init?(stored bytes: [UInt8], under key: ValueKey) {
    guard let filter = try? StoredValue(key: key, bytes: bytes).decoded(as: SavedFilter.self) else { return nil }
    self = filter
  }

  /// The filter, parsed from its text.
  ///
  /// - Throws: `invalidFilter` if this version cannot parse the text, because a newer one has saved it.
  public var filter: TaskFilter {
    get throws(TallyError) { try TaskFilter(text: text) }
  }
}

extension SavedFilter {
  /// The namespace of the values that hold saved filters.
  static let namespace = ValueKey.reservedPrefix + "filters"

  /// The key of a name: equal names have equal keys.
  static func key(of name: String) -> String {
    TagSet.folded(TagSet.trimmed(name))
  }

  /// The name without surrounding white space, if it is valid.
  private static func checked(_ name: String) throws(TallyError) -> String {
    let name = TagSet.trimmed(name)
    guard !name.isEmpty else { throw invalidName("A filter's name is blank", remedy: "Give it 1 to 64 characters") }
    guard name.count <= maximumNameLengthInCharacters, key(of: name).utf8.count <= maximumNameLengthInBytes else {
      throw invalidName(
        "A filter's name has more than \(maximumNameLengthInCharacters) characters", remedy: "Shorten it")
    }
    guard !name.unicodeScalars.contains(where: { $0.properties.generalCategory == .control }) else {
      throw invalidName("A filter's name has a control character", remedy: "Remove it")
    }
    return name
  }

  private static func invalidName(_ message: String, remedy: String) -> TallyError {
    TallyError(.invalidFilter, message, remedy: remedy)
  }
}

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
  /// Saves a filter under a name, replacing the filter that has the name already.
  ///
  /// ```swift
  /// try await store.write { try $0.saveFilter(.tag("home") && .is(.open), as: "Chores") }
  /// ```
  ///
  /// Dates stay relative: a saved `due<=today` always means the current day. The lists that the filter names must exist;
  /// a query with a saved filter throws `listNotFound` once one of them has been renamed or deleted.
  ///
  /// - Parameters:
  ///   - filter: the filter.
  ///   - name: 1 to 64 characters without control characters; surrounding white space is removed.
  /// - Returns: the filter as saved.
  /// - Throws: `invalidFilter` if the name is not valid or ``TaskFilter/validate()`` refuses the filter; `listNotFound`
  ///   if a list does not exist; `valueOutOfRange` if a date is outside the years 1 to 9999; what the storage throws.
  @discardableResult
  public mutating func saveFilter(_ filter: TaskFilter, as name: String) throws -> SavedFilter {
    _ = try resolved(filter, by: .place)
    let old = try savedFilter(named: name)
    let time = old.map { timeOfChange(after: $0.updatedAt) } ?? stamp
    let new = try SavedFilter(filter, as: name, updatedAt: time)
    if let old, old.name == new.name, old.text == new.text { return old }
    try put(new)
    return new
  }

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
