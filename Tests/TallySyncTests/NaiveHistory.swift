import Foundation

@testable import TallySync

/// What all operations on one object amount to, by looking at each of them and at what its author had seen.
///
/// Slow and obvious: no state is merged here.
struct NaiveHistory {
  typealias Operation = SimulatedSpace.Operation

  let operations: [Operation]

  init(of object: SimulatedSpace.ObjectKey, in space: SimulatedSpace) {
    operations = space.operations.filter { $0.object == object }
  }

  /// The completions that no later completing or reopening had seen.
  var liveCompletions: [UInt8] {
    let cancelling = operations.filter { $0.action == .reopen || $0.completion != nil }
    return operations.filter { operation in
      operation.completion != nil && !cancelling.contains { $0.hasSeen(operation) && !$0.isSame(as: operation) }
    }.compactMap(\.completion)
  }

  /// The tags of which no removal had seen some addition.
  var tags: Set<[UInt8]> {
    let added = operations.filter { operation in
      guard case .addTag(let tag) = operation.action else { return false }
      return !operations.contains { $0.action == .removeTag(tag) && $0.hasSeen(operation) }
    }
    return Set(added.compactMap { if case .addTag(let tag) = $0.action { [tag] } else { nil } })
  }

  /// The writes of a field that no other write of it had seen.
  func lastWrites(of field: ObjectState.Field) -> [Operation] {
    let writes = operations.filter { $0.change.registers[field] != nil }
    return writes.filter { write in !writes.contains { $0.hasSeen(write) && !$0.isSame(as: write) } }
  }

  /// The value of a field: that of the last write, the greater time and replica among concurrent ones.
  func value(of field: ObjectState.Field) -> [UInt8]? {
    lastWrites(of: field).compactMap { $0.change.registers[field] }
      .max { ($0.time, $0.renumberingCount, $0.replica) < ($1.time, $1.renumberingCount, $1.replica) }?.value
  }

  /// Whether the object must be deleted: a deletion had seen everything that was written to it.
  var mustBeDeleted: Bool {
    let others = operations.filter { $0.isContent || $0.isLife }
    return operations.contains { deletion in
      deletion.action == .delete && others.allSatisfy { deletion.hasSeen($0) || deletion.isSame(as: $0) }
    }
  }

  /// Whether the object must be alive: no deletion, or something was written by one who had seen all of them.
  var mustBeAlive: Bool {
    let deletions = operations.filter { $0.action == .delete }
    guard !deletions.isEmpty else { return true }
    return operations.contains { write in
      (write.isContent || write.action == .restore) && deletions.allSatisfy { write.hasSeen($0) }
    }
  }
}

extension SimulatedSpace.Operation {
  var completion: UInt8? {
    if case .complete(let value) = action { value } else { nil }
  }

  var isContent: Bool {
    switch action {
    case .setTitle, .setList, .setParent, .addTag: true
    default: false
    }
  }

  var isLife: Bool { action == .delete || action == .restore }

  func isSame(as other: Self) -> Bool { author == other.author && index == other.index }
}
