/// What an import did, or would do.
public struct ImportSummary: Hashable, Sendable {
  /// How many records were new, different or as stored.
  public struct Counts: Hashable, Sendable {
    /// Those that were not there.
    public internal(set) var added = 0
    /// Those that were there and differed.
    public internal(set) var changed = 0
    /// Those that were there as they are in the document.
    public internal(set) var unchanged = 0
  }

  /// The tasks.
  public internal(set) var tasks = Counts()
  /// The lists.
  public internal(set) var lists = Counts()
  /// What was completed when, where that is more than the tasks say: the completions of deleted tasks, and those of
  /// tasks that were in another list.
  public internal(set) var completions = Counts()
  /// Whether nothing was written, as was asked for.
  public internal(set) var isDryRun = false
}

/// How to import.
public struct ImportOptions: Hashable, Sendable {
  /// Whether to read, check and count everything and write nothing.
  public var isDryRun: Bool
  /// Whether keys that the format does not know are passed over rather than refused.
  public var isLenient: Bool

  /// Makes options; without any, the import is strict and real.
  public init(isDryRun: Bool = false, isLenient: Bool = false) {
    self.isDryRun = isDryRun
    self.isLenient = isLenient
  }
}
