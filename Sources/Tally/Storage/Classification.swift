import Foundation
import LMDB
import TallyEngine

/// The groups of a task or a completion in the counters: its list (or none), its tags and its priority.
struct Classification: Hashable, Sendable {
  var listID: UUID?
  var tags = TagSet()
  var priority = Priority.none
}

extension TaskItem {
  var classification: Classification {
    guard let extras = extrasBox?.extras else { return Classification(listID: listID) }
    return Classification(listID: listID, tags: extras.tags, priority: extras.priority)
  }
}

extension TaskFields {
  /// The classification, read in place without decoding the other fields.
  var classification: Classification {
    get throws(LMDBError) {
      var classification = Classification()
      var cursor = cursor
      if try cursor.advance(to: TaskField.listID.tag) { classification.listID = try cursor.value.storedID() }
      if try cursor.advance(to: TaskField.priority.tag) { classification.priority = try cursor.value.storedPriority() }
      if try cursor.advance(to: TaskField.tags.tag) { classification.tags = try TagSet(stored: cursor.value) }
      return classification
    }
  }
}

extension CounterScope {
  /// Whether this scope counts a task or completion with the classification.
  func contains(_ classification: Classification) -> Bool {
    switch self {
    case .all: true
    case .noList: classification.listID == nil
    case .list(let id): classification.listID == id
    case .tag(let id): classification.tags.contains { TagID.of($0) == id }
    case .priority(let priority): classification.priority == priority
    }
  }
}
