public import Foundation
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

/// One inconsistency in a store; it never contains text that the user wrote.
public struct StoreFault: Hashable, Sendable {
  /// The kind of inconsistency; compare it with the constants.
  public let kind: Kind
  /// The table in which it was found.
  public let table: String
  /// The task or list concerned; `nil` if there is none or it is unknown.
  public let id: UUID?

  package init(kind: Kind, table: String, id: UUID?) {
    (self.kind, self.table, self.id) = (kind, table, id)
  }

  /// The kind of an inconsistency.
  ///
  /// Open: a later version may add kinds, so a `switch` over them needs a `default`.
  public struct Kind: Hashable, Sendable, CustomStringConvertible {
    /// The kind as a word that stays the same from version to version.
    public let description: String

    /// An index or another table lacks an entry for a record.
    public static let missingEntry = Kind(description: "missingEntry")
    /// An entry belongs to no record, or its bytes are not a key.
    public static let danglingEntry = Kind(description: "danglingEntry")
    /// An entry does not match its record.
    public static let wrongEntry = Kind(description: "wrongEntry")
    /// A record has two entries in an index, of which this one is wrong.
    public static let duplicateEntry = Kind(description: "duplicateEntry")
    /// A counter does not match the records and the ledger.
    public static let wrongCounter = Kind(description: "wrongCounter")
    /// A task names a list that does not exist.
    public static let unknownList = Kind(description: "unknownList")
    /// A sub-task's parent does not exist or is in another list, or the sub-task is nested too deeply.
    public static let invalidParent = Kind(description: "invalidParent")
    /// A record breaks the model's rules.
    public static let invalidRecord = Kind(description: "invalidRecord")
    /// A record's bytes cannot be read.
    public static let unreadableRecord = Kind(description: "unreadableRecord")
    /// A table is missing.
    public static let missingTable = Kind(description: "missingTable")
    /// The record that holds the store's format, identity and sequence is missing or cannot be read.
    public static let damagedHeader = Kind(description: "damagedHeader")
  }
}

extension StoreFault: CustomStringConvertible {
  /// Kind, table and id.
  public var description: String {
    "\(kind) in \(table)" + (id.map { " of \($0.uuidString.lowercased())" } ?? "")
  }
}
