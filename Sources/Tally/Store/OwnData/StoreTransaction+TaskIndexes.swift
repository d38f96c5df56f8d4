public import LMDB

extension StoreTransaction where Base: ~Copyable {
  /// The tasks of an application's index, in the order of their keys.
  ///
  /// ```swift
  /// let found = try transaction.tasks(in: byTicket, .prefix("T-"), limit: 20)
  /// ```
  ///
  /// A task with several keys in the range is there several times.
  ///
  /// - Parameters:
  ///   - index: an index with which the store was opened.
  ///   - range: the keys to walk.
  ///   - reversed: whether the last key comes first.
  ///   - limit: the most tasks to return.
  /// - Returns: the tasks, in the order of their keys.
  /// - Throws: `invalidIndex` for one that is not registered; what the storage throws.
  /// - Complexity: the tasks returned, and, where another program has changed tasks since this one's last write, those.
  public func tasks(
    in index: TaskIndex, _ range: TaskIndexRange = .all, reversed: Bool = false, limit: Int = .max
  ) throws -> [TaskItem] {
    try page(of: index, range, reversed: reversed, limit: limit).tasks
  }

  /// Some tasks of an application's index with their keys, from a position on.
  ///
  /// ```swift
  /// let first = try transaction.page(of: byTicket, limit: 50)
  /// let second = try transaction.page(of: byTicket, after: first.next, limit: 50)
  /// ```
  ///
  /// - Parameters:
  ///   - index: an index with which the store was opened.
  ///   - range: the keys to walk.
  ///   - position: the ``TaskIndexPage/next`` of the page before; `nil` for the first page.
  ///   - reversed: whether the last key comes first; the same for all pages.
  ///   - limit: the most tasks to return.
  /// - Returns: the tasks with their keys, and the position of the next page.
  /// - Throws: as ``tasks(in:_:reversed:limit:)``.
  /// - Complexity: as ``tasks(in:_:reversed:limit:)``.
  public func page(
    of index: TaskIndex, _ range: TaskIndexRange = .all, after position: TaskIndexPosition? = nil,
    reversed: Bool = false, limit: Int
  ) throws -> TaskIndexPage {
    let own = try registered(index)
    var entries: [TaskIndexPage.Entry] = []
    var (last, isMore) = (position, false)
    try scan(own, range, after: position, reversed: reversed) { entry in
      guard entries.count < limit else {
        isMore = true
        return false
      }
      entries.append(.init(key: try own.givenKey(entry.key), task: try indexedTask(entry.id)))
      last = TaskIndexPosition(bytes: Array(entry.encodedBytes.dropFirst(OwnIndexID.width)))
      return true
    }
    return TaskIndexPage(entries: entries, next: isMore ? last : nil)
  }

  /// How many entries an application's index has in a range.
  ///
  /// - Throws: as ``tasks(in:_:reversed:limit:)``.
  /// - Complexity: the entries counted; no task is read.
  public func count(of index: TaskIndex, _ range: TaskIndexRange = .all) throws -> Int {
    var count = 0
    try scan(registered(index), range, after: nil, reversed: false) { _ in
      count += 1
      return true
    }
    return count
  }

  private func registered(_ index: TaskIndex) throws -> OwnIndex {
    let own = tables.ownIndexes.registered.first {
      $0.definition.name == index.name && $0.definition.version == index.version
    }
    guard let own else { throw TallyError.unregisteredIndex(index.name) }
    return own
  }

  private func scan(
    _ index: OwnIndex, _ range: TaskIndexRange, after position: TaskIndexPosition?, reversed: Bool,
    _ body: (OwnEntryKey) throws -> Bool
  ) throws {
    var bounds = index.bounds(of: range)
    // Bounds longer than any entry lie between the same entries when they are cut.
    bounds.lower = Array(bounds.lower.prefix(OwnEntryKey.maximumByteCount + 1))
    bounds.upper = Array(bounds.upper.prefix(OwnEntryKey.maximumByteCount + 1))
    if let position {
      let entry = index.id.encodedBytes + position.bytes.prefix(OwnEntryKey.maximumByteCount - OwnIndexID.width)
      // The least bytes after an entry are its own and a zero.
      if reversed { bounds.upper = min(bounds.upper, entry) } else { bounds.lower = max(bounds.lower, entry + [0]) }
    }
    guard bounds.lower.lexicographicallyPrecedes(bounds.upper) else { return }
    try tables.ownIndexes.scan(index, within: bounds, reversed: reversed, tables, in: base, body)
  }
}

extension StoreTransaction where Base == WriteTransaction {
  /// Removes everything that a store keeps of an application's index, of every version.
  ///
  /// For one that no program registers any more; one that is registered is built again by the next write.
  ///
  /// - Parameter name: the index's name.
  /// - Returns: whether there was anything.
  /// - Throws: what the storage throws.
  /// - Complexity: the entries of the index.
  @discardableResult
  public mutating func removeIndex(named name: String) throws -> Bool {
    var ids: [OwnIndexID] = []
    try tables.ownIndexes.states.forEach(in: base) { key, value in
      if try OwnIndexState(decoding: value).name == name { ids.append(try OwnIndexID(decoding: key)) }
      return true
    }
    guard !isHalfDone else { throw TallyError.halfDone }
    // Not a change of the data, and so none to undo; but half of it must not be committed.
    isHalfDone = true
    for id in ids { try tables.ownIndexes.remove(id, in: &base) }
    isHalfDone = false
    return !ids.isEmpty
  }
}

extension OwnEntryKey {
  /// The longest entry.
  static let maximumByteCount = OwnIndexID.width + TaskIndex.maximumKeyByteCount + IDKey.width
}

extension TallyError {
  fileprivate static func unregisteredIndex(_ name: String) -> TallyError {
    TallyError(
      .invalidIndex, "The store was opened without the index '\(name)', or with another version of it",
      remedy: "Add it to the configuration's indexes")
  }
}

private func min(_ left: [UInt8], _ right: [UInt8]) -> [UInt8] { left.lexicographicallyPrecedes(right) ? left : right }

private func max(_ left: [UInt8], _ right: [UInt8]) -> [UInt8] { left.lexicographicallyPrecedes(right) ? right : left }
