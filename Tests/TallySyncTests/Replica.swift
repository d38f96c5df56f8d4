import Foundation
import Tally

@testable import TallySync

/// A store among others with the same tasks: its changes become states, and those of the others are merged.
struct Replica {
  let store: TaskStore
  let id: ReplicaID

  /// Begins to note changes; everything that the store has counts as a change.
  init(of store: TaskStore, as id: ReplicaID) throws {
    (self.store, self.id) = (store, id)
    try store.writeAndWait { transaction in
      try transaction.beginSynchronizing()
      try transaction.noteEverything()
    }
  }

  /// Takes the local changes since the last time.
  func takeChanges() throws -> [ObjectChange] { try merge([]) }

  /// Merges changes of others, in any order and as often as they come.
  ///
  /// - Returns: The local changes, which are taken first.
  func merge(_ changes: [ObjectChange]) throws -> [ObjectChange] {
    try store.writeAndWait { transaction in
      var merge = try StateMerge(in: transaction)
      let own = try merge.applyPending(limit: .max, as: id, in: &transaction).changes
      for change in changes { try merge.join(change.state, to: change.object, in: transaction) }
      try merge.finish(in: &transaction)
      return own
    }
  }
}
