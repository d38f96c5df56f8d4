import Foundation
import LMDB
import TallyEngine

// The images of tasks, lists, completions and values in the history; the numbers are stored: do not change them.

extension ImageKind {
  static let task = ImageKind(rawValue: 1)
  static let list = ImageKind(rawValue: 2)
  /// A completion of an existing task, in the ledger.
  static let completion = ImageKind(rawValue: 3)
  /// A completion of a deleted task, in the ledger.
  static let deletedCompletion = ImageKind(rawValue: 4)
  /// A value that an application stored.
  static let value = ImageKind(rawValue: 6)

  init(_ kind: ObjectKind) {
    self = kind == .task ? .task : .list
  }
}

extension ImageKey {
  /// The key of a completion.
  var completion: CompletionKey {
    CompletionKey(
      isTaskDeleted: kind == .deletedCompletion, completed: InstantKey(microseconds: instant, id: id))
  }

  /// The key of a value.
  ///
  /// - Throws: `undecodable` if the bytes are not such a key.
  var value: ValueKey {
    // Unsafe by signature only: bytes have no padding.
    get throws(LMDBError) { unsafe try ValueKey(decoding: bytes.span.bytes) }
  }
}

extension BeforeImages {
  mutating func add<Record: ObjectRecord>(_ record: Record?, ofKey key: IDKey) {
    guard let record else { return add(absent: ImageKind(Record.kind), key.id) }
    add(ImageKind(Record.kind), key.id, recordByteCount: record.encodedByteCount) { record.encode(into: &$0) }
  }

  /// Adds the kept record of a deleted object before a change from another replica is merged into it.
  mutating func add(deleted record: some ObjectRecord) {
    add(
      ImageKind(type(of: record).kind), record.item.id, presence: .deleted, recordByteCount: record.encodedByteCount
    ) { record.encode(into: &$0) }
  }

  mutating func add(_ key: CompletionKey, _ record: CompletionRecord?) {
    let (kind, instant) = (key.isTaskDeleted ? ImageKind.deletedCompletion : .completion, key.completed.microseconds)
    guard let record else { return add(absent: kind, key.id, instant: instant) }
    add(kind, key.id, instant: instant, recordByteCount: record.encodedByteCount) { record.encode(into: &$0) }
  }

  mutating func add(_ value: [UInt8]?, ofValue key: ValueKey) {
    add(.value, key: key.encodedBytes, value)
  }
}

extension HistoryEntry {
  /// When it was written; a damaged record may contain any number.
  var date: Timestamp { Timestamp(clamping: dateMicroseconds) }
}
