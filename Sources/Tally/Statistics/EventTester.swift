import Foundation
import LMDB

/// Tests records of tasks and entries of the ledger.
struct EventTester {
  private let program: RecordProgram
  private let lastTag: UInt8
  /// Whether a completion can be tested without its task.
  let isOfLedger: Bool
  private var folder = TextFolder()

  init(_ predicate: RecordPredicate) {
    program = RecordProgram(predicate)
    lastTag = predicate.lastTag
    isOfLedger = predicate.isOfLedger
  }

  /// Whether a task passes as it is now.
  mutating func holds(_ id: UUID, _ task: RawSpan, isParent: (UUID) throws -> Bool) throws -> Bool {
    try program.holds(FilterFacts(id, task, upTo: lastTag), &folder, isParent: isParent)
  }

  /// Whether a completion passes by what the ledger keeps of it.
  mutating func holds(
    _ completed: InstantKey, _ entry: RawSpan, isParent: (UUID) throws -> Bool
  ) throws -> Bool {
    try program.holds(FilterFacts(completed, ofCompletion: entry), &folder, isParent: isParent)
  }

  /// Whether a completion passes by what the ledger keeps of it, and by the other fields of its task.
  mutating func holds(
    _ completed: InstantKey, _ entry: RawSpan, of task: RawSpan, isParent: (UUID) throws -> Bool
  ) throws -> Bool {
    var facts = try FilterFacts(completed.id, task, upTo: lastTag)
    try facts.setClassification(ofCompletion: entry)
    return try program.holds(facts, &folder, isParent: isParent)
  }
}

extension StoreTransaction where Base: ~Copyable {
  /// Whether a task passes as it is now; every one does without a tester.
  func passes(_ tester: inout EventTester?, _ id: UUID) throws -> Bool {
    guard tester != nil else { return true }
    guard let task = try tables.tasks.bytes(forKey: IDKey(id), in: base) else {
      throw TallyError.missingRecord(of: "a task index")
    }
    return try tester?.holds(id, task) { try hasSubtasks($0) } ?? true
  }

  /// Whether an entry of the ledger passes; every one does without a tester.
  func passes(_ tester: inout EventTester?, _ key: CompletionKey, _ entry: RawSpan) throws -> Bool {
    guard let isOfLedger = tester?.isOfLedger else { return true }
    if key.isTaskDeleted || isOfLedger {
      return try tester?.holds(key.completed, entry) { try hasSubtasks($0) } ?? true
    }
    guard let task = try tables.tasks.bytes(forKey: IDKey(key.completed.id), in: base) else {
      throw TallyError.missingRecord(of: "completions")
    }
    return try tester?.holds(key.completed, entry, of: task) { try hasSubtasks($0) } ?? true
  }
}
