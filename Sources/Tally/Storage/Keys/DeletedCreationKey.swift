import Foundation
import LMDB
import TallyEngine

/// The key of `deletedByCreated`: creation, completion and id of a deleted task whose completion is kept; 32 bytes.
///
/// Together with `byCreated` it finds the tasks, deleted ones included, that were created in a part of a quarter hour.
struct DeletedCreationKey: IndexKey {
  static let width = 8 + InstantKey.width
  let createdAtMicroseconds: Int64
  let completed: InstantKey

  var id: UUID { completed.id }

  init(createdAtMicroseconds: Int64, completed: InstantKey) {
    self.createdAtMicroseconds = createdAtMicroseconds
    self.completed = completed
  }

  init(_ completed: InstantKey, _ record: CompletionRecord) {
    self.init(createdAtMicroseconds: record.createdAtMicroseconds, completed: completed)
  }

  init(fields bytes: RawSpan) {
    createdAtMicroseconds = bytes.load(orderedInt64At: 0)
    completed = InstantKey(fields: bytes.extracting(8..<Self.width))
  }

  @_lifetime(output: copy output)
  func encode(into output: inout OutputRawSpan) {
    output.append(ordered: createdAtMicroseconds)
    completed.encode(into: &output)
  }
}
