public import Foundation

/// One disagreement inside a store; it never holds text of the user's.
public struct StoreFault: Hashable, Sendable {
  /// What kind of disagreement it is; compare it with the constants.
  public let kind: Kind
  /// The table in which it shows.
  public let table: String
  /// The task or list that it is about; `nil` if that is unknown or there is none.
  public let id: UUID?

  package init(kind: Kind, table: String, id: UUID?) {
    (self.kind, self.table, self.id) = (kind, table, id)
  }

  /// The kind of a disagreement.
  ///
  /// Open: a later version may add kinds, so a `switch` over them needs a `default`.
  public struct Kind: Hashable, Sendable, CustomStringConvertible {
    /// The kind as a word that stays the same from version to version.
    public let description: String

    /// A record lacks an entry that it should have.
    public static let missingEntry = Kind(description: "missingEntry")
    /// An entry's record does not exist, or the entry's bytes are not a key.
    public static let danglingEntry = Kind(description: "danglingEntry")
    /// An entry differs from its record.
    public static let wrongEntry = Kind(description: "wrongEntry")
    /// A record appears in an index twice: one entry is right, this one is not.
    public static let duplicateEntry = Kind(description: "duplicateEntry")
    /// A counter differs from the records and the ledger.
    public static let wrongCounter = Kind(description: "wrongCounter")
    /// A task names a list that does not exist.
    public static let unknownList = Kind(description: "unknownList")
    /// A sub-task's parent does not exist, is in another list, or is too far down.
    public static let invalidParent = Kind(description: "invalidParent")
    /// A record breaks the model's rules.
    public static let invalidRecord = Kind(description: "invalidRecord")
    /// A record's bytes cannot be read.
    public static let unreadableRecord = Kind(description: "unreadableRecord")
    /// A table is missing.
    public static let missingTable = Kind(description: "missingTable")
    /// The record with the store's format, identity and sequence is missing or cannot be read.
    public static let damagedHeader = Kind(description: "damagedHeader")
  }
}

extension StoreFault: CustomStringConvertible {
  /// Kind, table and id.
  public var description: String {
    "\(kind) in \(table)" + (id.map { " of \($0.uuidString.lowercased())" } ?? "")
  }
}
