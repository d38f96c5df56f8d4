/// What an export wrote.
public struct ExportSummary: Hashable, Sendable {
  /// The tasks in it.
  public internal(set) var taskCount = 0
  /// The lists in it.
  public internal(set) var listCount = 0
  /// The completions in it that its tasks do not tell.
  public internal(set) var completionCount = 0
  /// Its size.
  public internal(set) var byteCount: Int64 = 0
}
