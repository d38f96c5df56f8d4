import Foundation
public import LMDB
import TallyEngine

/// A tag in use, and the number of its tasks.
public struct TagUse: Hashable, Sendable {
  /// The tag, as it was first spelled.
  public let tag: String
  /// The number of open tasks with the tag, without those that wait for their start.
  public internal(set) var openCount = 0
  /// The number of completed tasks with the tag.
  public internal(set) var completedCount = 0
}

extension StoreTransaction where Base: ~Copyable {
  /// The tags in use, in the order of their folded texts.
  ///
  /// ```swift
  /// let tags = try store.read { try $0.tags() }
  /// print(tags.map { "#\($0.tag) \($0.openCount)" })
  /// ```
  ///
  /// - Throws: what the storage throws.
  /// - Complexity: linear in the number of tags of all tasks.
  public func tags() throws -> [TagUse] {
    var uses: [TagUse] = []
    var last: UUID?
    let hidden = showsWaiting ? [] : try waitingTasks(on: today)
    try tables.byTag.forEach(in: base) { key, _ in
      let key = try GroupKey(decoding: key)
      if key.groupID != last {
        last = key.groupID
        uses.append(TagUse(tag: try name(ofTag: key.groupID, of: key.id)))
      }
      if key.rankRawValue == StateRank.completed.rawValue {
        uses[uses.count - 1].completedCount += 1
      } else if !hidden.contains(key.id) {
        uses[uses.count - 1].openCount += 1
      }
      return true
    }
    // Cancelled tasks have the keys of completed ones.
    if try total(.cancelled, .all) > 0 {
      for index in uses.indices {
        uses[index].completedCount -= try total(.cancelled, .tag(TagID.of(uses[index].tag)))
      }
    }
    return uses.map { (TagSet.folded($0.tag), $0) }.sorted { $0.0 < $1.0 }.map(\.1)
  }

  /// The tags in use, without counts and in no particular order.
  ///
  /// ```swift
  /// let suggestions = try store.read { try $0.tagNames(limit: 20) }
  /// ```
  ///
  /// - Parameter limit: the most tags to return.
  /// - Returns: each tag as it was first spelled.
  /// - Throws: what the storage throws.
  /// - Complexity: linear in the number of tags returned, whatever the number of their tasks.
  public func tagNames(limit: Int = .max) throws -> [String] {
    var names: [String] = []
    var cursor = try tables.byTag.cursor(in: base)
    let first = GroupKey(groupID: .lowest, rankRawValue: 0, order: .lowest)
    var isAtTag = try limit > 0 && cursor.move(toFirstAtOrAfter: first)
    while isAtTag {
      let key = try cursor.key()
      names.append(try name(ofTag: key.groupID, of: key.id))
      let end = GroupKey(groupID: key.groupID, rankRawValue: StateRank.endRawValue, order: .lowest)
      isAtTag = try names.count < limit && cursor.move(toFirstAtOrAfter: end)
    }
    return names
  }

  /// The first spelling of a tag, or the spelling of one task for a tag that is not counted.
  ///
  /// A tag that was given only to a task that was already completed is not counted.
  private func name(ofTag tagID: UUID, of taskID: UUID) throws -> String {
    if let name = try tables.tagNames.value(forKey: IDKey(tagID), in: base) { return name }
    guard let name = try indexedTask(taskID).tags.first(where: { TagID.of($0) == tagID }) else {
      throw TallyError.missingRecord(of: "a tag in use")
    }
    return name
  }

  /// The tasks with a tag in any spelling.
  private func taskIDs(withTag tag: String) throws -> [UUID] {
    var ids: [UUID] = []
    let tagID = TagID.of(TagSet.trimmed(tag))
    let bounds = [0, StateRank.endRawValue].map { GroupKey(groupID: tagID, rankRawValue: $0, order: .lowest) }
    try tables.byTag.forEach(from: bounds[0], upTo: bounds[1], in: base) { key, _ in
      ids.append(try GroupKey(decoding: key).id)
      return true
    }
    return ids
  }
}

extension StoreTransaction where Base == WriteTransaction {
  /// Renames a tag on every task that has it, and in every saved filter that uses it.
  ///
  /// Renaming to a tag that is in use merges the two. Recorded completions keep the old tag. The new name may be
  /// another spelling of the same tag.
  ///
  /// ```swift
  /// try await store.write { try $0.renameTag("house", to: "home") }
  /// ```
  ///
  /// - Parameters:
  ///   - tag: the tag, in any spelling.
  ///   - newTag: the new name, which must be a valid tag.
  /// - Returns: the changed tasks.
  /// - Throws: `invalidTag` if the new name is not a valid tag; what the storage throws.
  /// - Complexity: linear in the number of tasks with the tag, each of which is rewritten, and of saved filters.
  @discardableResult
  public mutating func renameTag(_ tag: String, to newTag: String) throws -> [TaskItem] {
    let newTag = TagSet.trimmed(newTag)
    try TagSet.validate(newTag)
    let changed = try updateTasks(withTag: tag) { $0.replace(tag, with: newTag) }
    try renameTag(TagSet.trimmed(tag), inFiltersTo: newTag)
    let isSameTag = TagSet.folded(TagSet.trimmed(tag)) == TagSet.folded(newTag)
    if isSameTag, !changed.isEmpty { try tables.tagNames.put(newTag, forKey: IDKey(TagID.of(newTag)), in: &base) }
    return changed
  }

  /// Removes a tag from every task that has it.
  ///
  /// Recorded completions keep the tag.
  ///
  /// - Returns: the changed tasks.
  /// - Throws: what the storage throws.
  /// - Complexity: linear in the number of tasks with the tag, each of which is rewritten.
  @discardableResult
  public mutating func deleteTag(_ tag: String) throws -> [TaskItem] {
    try updateTasks(withTag: tag) { $0.remove(tag) }
  }

  private mutating func updateTasks(withTag tag: String, _ change: (inout TagSet) -> Void) throws -> [TaskItem] {
    try taskIDs(withTag: tag).compactMap { id in
      let old = try require(TaskRecord.self, id).item
      let new = try update(id) { change(&$0.tags) }
      return new.isIdentical(to: old) ? nil : new
    }
  }
}
