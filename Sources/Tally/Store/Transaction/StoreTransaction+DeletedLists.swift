import Foundation
import LMDB

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
