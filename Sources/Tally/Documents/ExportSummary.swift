/// The result of an export.
public struct ExportSummary: Hashable, Sendable {
  /// The exported tasks.
  public internal(set) var taskCount = 0
  /// The exported lists.
  public internal(set) var listCount = 0
  /// The exported completions that do not follow from its tasks.
  public internal(set) var completionCount = 0
  /// The exported saved filters.
  public internal(set) var filterCount = 0
  /// Its size.
  public internal(set) var byteCount: Int64 = 0
}
