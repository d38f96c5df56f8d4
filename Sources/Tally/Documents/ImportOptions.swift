/// How to import.
public struct ImportOptions: Hashable, Sendable {
  /// Whether to read, check and count everything and write nothing.
  public var isDryRun: Bool
  /// Whether to skip keys that the format does not know, rather than refuse them.
  public var isLenient: Bool
  /// Whether to do as the document says, even where the store has something newer.
  ///
  /// Without it the two are merged: the newer change of a task wins, a completion is never undone, and everything
  /// deleted here after the document was written stays deleted.
  public var overwrites: Bool
  /// The name of the import in the history, see ``StoreTransaction/setActionName(_:)``; `nil` for none.
  public var actionName: String?
  /// Whether to refuse, with `irreversible`, an import that could not be undone, as it replaces more than the history keeps.
  public var mustBeUndoable: Bool
  /// Whether to refuse a document of another program for anything that is not understood, which otherwise only the
  /// account names (``ImportSummary/account``).
  public var isStrict: Bool

  /// Creates options; the defaults give an import that merges and writes.
  public init(
    isDryRun: Bool = false, isLenient: Bool = false, overwrites: Bool = false, actionName: String? = nil,
    mustBeUndoable: Bool = false, isStrict: Bool = false
  ) {
    self.isDryRun = isDryRun
    self.isLenient = isLenient
    self.overwrites = overwrites
    self.actionName = actionName
    self.mustBeUndoable = mustBeUndoable
    self.isStrict = isStrict
  }
}
