public import Foundation

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
