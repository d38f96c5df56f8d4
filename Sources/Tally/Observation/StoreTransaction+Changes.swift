import Foundation
import LMDB

/// A commit of one store: what an observation has seen last.
struct StorePosition: Hashable {
  let storeID: UUID
  let sequence: UInt64
}

extension StoreTransaction where Base: ~Copyable {
  /// What has been changed since a commit, by any process.
  ///
  /// - Parameter sequence: the commit, as ``sequence`` of an earlier snapshot gave it.
  /// - Returns: the changes up to this snapshot.
  /// - Throws: what the storage throws.
  /// - Complexity: the changes since, as far as the history keeps them; a lookup if there are none.
  public func changes(since sequence: UInt64) throws -> ChangeSet {
    try changes(since: StorePosition(storeID: position.storeID, sequence: sequence))
  }

  /// As the public form, for whoever may have had another store under the same path before.
  func changes(since last: StorePosition) throws -> ChangeSet {
    let position = try position
    var changes = ChangeSet(previousSequence: last.sequence, sequence: position.sequence)
    guard position != last else { return changes }
    var wasThere: [ImageKey: Bool] = [:]
    guard position.storeID == last.storeID,
      try collectImages(since: last.sequence, to: changes.sequence, in: &wasThere)
    else {
      changes.isComplete = false
      return changes
    }
    for (key, wasThere) in wasThere {
      switch key.kind {
      case .task: changes.tasks.add(key.id, wasThere, try tables.tasks.contains(IDKey(key.id), in: base))
      case .list: changes.lists.add(key.id, wasThere, try tables.lists.contains(IDKey(key.id), in: base))
      // Of statistics, not of tasks: the task itself has an image where it changed.
      case .completion, .deletedCompletion: break
      }
    }
    return changes
  }

  /// The commit that this snapshot shows.
  var position: StorePosition {
    get throws {
      let header = try header()
      return StorePosition(storeID: header.storeID, sequence: header.sequence)
    }
  }

  /// Notes of each object that was changed whether it was there before; false if the history does not tell.
  private func collectImages(
    since sequence: UInt64, to last: UInt64, in wasThere: inout [ImageKey: Bool]
  ) throws -> Bool {
    guard last > sequence else { return false }
    let start = HistoryKey(ChangeID(sequence: sequence + 1, position: 0), part: 0)
    var cursor = try tables.history.cursor(in: base)
    // The next commit's entry is there unless it has been let go.
    guard try cursor.move(toFirstAtOrAfter: start), try cursor.key() == start else { return false }
    repeat {
      guard try HistoryRecord(headOf: cursor.valueBytes).kind != .cut else { return false }
      try Self.forEachImage(inPart: cursor.valueBytes) { key, isThere, _ in
        if wasThere[key] == nil { wasThere[key] = isThere }
      }
    } while try cursor.next()
    return true
  }
}

extension ChangeSet.Identifiers {
  fileprivate mutating func add(_ id: UUID, _ wasThere: Bool, _ isThere: Bool) {
    switch (wasThere, isThere) {
    case (false, true): inserted.insert(id)
    case (true, true): updated.insert(id)
    case (true, false): deleted.insert(id)
    case (false, false): break
    }
  }
}
