/// The result of an import, or of a dry run.
public struct ImportSummary: Hashable, Sendable {
  /// How many records were new, changed or unchanged.
  public struct Counts: Hashable, Sendable {
    /// Records that did not exist.
    public internal(set) var added = 0
    /// Records that existed and differed.
    public internal(set) var changed = 0
    /// Records that existed with the same contents.
    public internal(set) var unchanged = 0
  }

  /// The tasks.
  public internal(set) var tasks = Counts()
  /// The lists.
  public internal(set) var lists = Counts()
  /// Completions that do not follow from the tasks: those of deleted tasks, and those of tasks that were in another
  /// list.
  public internal(set) var completions = Counts()
  /// Whether nothing was written, as requested.
  public internal(set) var isDryRun = false
}

/// How to import.
public struct ImportOptions: Hashable, Sendable {
  /// Whether to read, check and count everything and write nothing.
  public var isDryRun: Bool
  /// Whether to skip keys that the format does not know, rather than refuse them.
  public var isLenient: Bool

  /// Creates options; the defaults give a strict import that writes.
  public init(isDryRun: Bool = false, isLenient: Bool = false) {
    self.isDryRun = isDryRun
    self.isLenient = isLenient
  }
}
