public import Foundation

/// The result of an import, or of a dry run.
public struct ImportSummary: Hashable, Sendable {
  /// What became of the records of one kind.
  public struct Counts: Hashable, Sendable {
    /// Records that did not exist.
    public internal(set) var added = 0
    /// Records that existed and were changed.
    public internal(set) var changed = 0
    /// Records that existed with the same contents.
    public internal(set) var unchanged = 0
    /// Records that were left alone, as the store's are newer, or were deleted here since.
    public internal(set) var keptNewer = 0
  }

  /// The tasks.
  public internal(set) var tasks = Counts()
  /// The lists.
  public internal(set) var lists = Counts()
  /// Completions that do not follow from the tasks: those of deleted tasks, and those of tasks that were in another
  /// list.
  public internal(set) var completions = Counts()
  /// The saved filters.
  public internal(set) var filters = Counts()
  /// Everything that the import did not understand or could not keep as a field, by kind.
  public internal(set) var account: [ImportRemark] = []
  /// Whether nothing was written, as requested.
  public internal(set) var isDryRun = false
}

/// What an import does with one task, list or saved filter of a document.
public struct ImportedRecord: Hashable, Sendable {
  /// What a record describes.
  public enum Kind: String, CaseIterable, Sendable {
    /// A task.
    case task
    /// A list.
    case list
    /// A saved filter.
    case filter
  }

  /// What becomes of a record.
  public enum Outcome: String, CaseIterable, Sendable {
    /// It did not exist.
    case added
    /// It exists and is changed.
    case changed
    /// It stays, since the store's is newer than the document's.
    case keptNewer
    /// It was deleted here since, and stays deleted.
    case keptDeleted
  }

  /// What the record describes.
  public let kind: Kind
  /// The task or list; `nil` for a saved filter, which has only a name.
  public let id: UUID?
  /// The task's title or the other's name after the import; that of the document for what stays deleted.
  public let name: String
  /// What becomes of it.
  public let outcome: Outcome

  /// Called for each record that an import changes or refuses to change; throwing from it ends the import.
  public typealias Observer = (ImportedRecord) throws -> Void
}
