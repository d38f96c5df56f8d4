public import Foundation
public import LMDB
import TallyEngine

extension StoreTransaction where Base == WriteTransaction {
  /// Stores a new list after all other lists.
  ///
  /// - Parameters:
  ///   - name: not blank; two lists may have the same name.
  ///   - colorHex: six hexadecimal digits.
  ///   - id: of any UUID version; `nil` generates a UUIDv7.
  /// - Returns: the list as stored.
  /// - Throws: `blankListName`, `invalidColor` or `duplicateID`.
  @discardableResult
  public mutating func addList(
    name: String, colorHex: String = TaskList.defaultColorHex, id: UUID? = nil
  ) throws -> TaskList {
    let id = id ?? ids.next(at: now)
    if try tables.lists.contains(IDKey(id), in: base) { throw TallyError.duplicateID(id) }
    let last = try tables.listsByOrder.lastKey(in: base)?.sortOrder
    let list = TaskList(
      id: id, name: name, colorHex: colorHex, sortOrder: SortOrder.between(last, nil) ?? SortOrder.limit,
      createdAt: stamp, updatedAt: stamp)
    try list.validate()
    try write(RecordChange<ListRecord>(from: nil, to: list.normalized, at: commitSequence))
    return list.normalized
  }

  /// Renames a list.
  ///
  /// - Throws: `listNotFound` or `blankListName`.
  @discardableResult
  public mutating func renameList(_ id: UUID, to name: String) throws -> TaskList {
    try updateList(id) { $0.name = name }
  }

  /// Changes the colour of a list, given as six hexadecimal digits.
  ///
  /// - Throws: `listNotFound` or `invalidColor`.
  @discardableResult
  public mutating func recolorList(_ id: UUID, to colorHex: String) throws -> TaskList {
    try updateList(id) { $0.colorHex = colorHex }
  }

  /// Moves a list directly before another one.
  ///
  /// - Throws: `listNotFound`.
  @discardableResult
  public mutating func moveList(_ id: UUID, before anchorID: UUID) throws -> TaskList {
    try moveList(id, to: .before, of: anchorID)
  }

  /// Moves a list directly after another one.
  ///
  /// - Throws: `listNotFound`.
  @discardableResult
  public mutating func moveList(_ id: UUID, after anchorID: UUID) throws -> TaskList {
    try moveList(id, to: .after, of: anchorID)
  }
}

extension StoreTransaction where Base == WriteTransaction {
  /// Writes one change of a list.
  mutating func write(_ listChange: RecordChange<ListRecord>) throws {
    try checkSendable(listChange.new?.item, replacing: listChange.old?.item)
    try change { (writer, images, base) throws(LMDBError) in
      try writer.write(listChange, recording: &images, in: &base)
    }
  }

  private mutating func updateList(_ id: UUID, _ change: (inout TaskList) -> Void) throws -> TaskList {
    let old = try require(ListRecord.self, id)
    var list = old.item
    change(&list)
    try list.validate()
    list = list.normalized
    guard !list.isIdentical(to: old.item) else { return list }
    list.updatedAt = timeOfChange(after: list.updatedAt)
    try write(RecordChange<ListRecord>(from: old, to: list, at: commitSequence))
    return list
  }

  private mutating func moveList(_ id: UUID, to side: Side, of anchorID: UUID) throws -> TaskList {
    let list = try require(ListRecord.self, id).item
    let anchor = try require(ListRecord.self, anchorID).item
    guard id != anchorID else { return list }
    let neighborhood = Neighborhood(index: tables.listsByOrder, anchor: OrderKey(of: anchor))
    let gap = try neighborhood.gap(on: side, excluding: id, in: base)
    if let sortOrder = gap.middle { return try updateList(id) { $0.sortOrder = sortOrder } }
    for (listID, sortOrder) in try neighborhood.spread(in: base) {
      let old = try require(ListRecord.self, listID)
      var list = old.item
      list.sortOrder = sortOrder
      var change = RecordChange<ListRecord>(from: old, to: list, at: commitSequence)
      change.isRenumbering = true
      try write(change)
    }
    return try moveList(id, to: side, of: anchorID)
  }
}

extension [TaskList] {
  /// The lists that share a name and can be merged, oldest first; the others should be merged into the first.
  ///
  /// These are the lists with exactly that name if there are several, otherwise those with the name in any case.
  /// Devices that merge at the same time choose the same target.
  ///
  /// - Parameter name: the name.
  /// - Returns: the lists; empty if fewer than two have the name.
  public func namesakes(of name: String) -> [TaskList] {
    let exact = filter { $0.name == name }
    let same = exact.count > 1 ? exact : filter { $0.name.lowercased() == name.lowercased() }
    guard same.count > 1 else { return [] }
    return same.sorted { ($0.createdAt, $0.id.uuidString) < ($1.createdAt, $1.id.uuidString) }
  }
}

// Completions still count for a list that has been deleted, so its last name is stored as a value of the library.

/// The namespace in which the names of deleted lists are stored.
enum DeletedLists {
  static let namespace = ValueKey.reservedPrefix + "deleted-lists"
}

extension StoreTransaction where Base: ~Copyable {
  /// The last name of a deleted list; `nil` if no task was ever completed in it.
  func nameOfDeletedList(_ id: UUID) throws -> String? {
    try value(forKey: id, in: DeletedLists.namespace)
  }
}

extension StoreTransaction where Base == WriteTransaction {
  /// Stores the name of a list that is deleted, if completions are counted for it.
  mutating func keepName(of list: TaskList) throws {
    guard try total(.completed, .list(list.id)) > 0 else { return }
    try keepName(list.name, ofDeletedList: list.id)
  }

  mutating func keepName(_ name: String, ofDeletedList id: UUID) throws {
    try write(StoredValue.encode(name), forKey: ValueKey(id, in: DeletedLists.namespace))
  }
}
