/// A task that a search has found, and where.
///
/// ```swift
/// for match in try store.search(SearchQuery("tax for"), limit: 20) {
///   for range in match.titleRanges { print(match.task.title[range]) }
/// }
/// ```
public struct SearchMatch: Hashable, Sendable {
  /// The task.
  public let task: TaskItem
  /// The ranges of the title that match, in ascending order, without overlaps.
  public let titleRanges: [Range<String.Index>]
  /// The ranges of the notes that match; none if there are no notes.
  public let notesRanges: [Range<String.Index>]
  /// The ranges of each tag that match, in the order of the task's tags.
  public let tagRanges: [[Range<String.Index>]]

  init(_ task: TaskItem, _ matcher: inout SearchMatcher) {
    self.task = task
    titleRanges = matcher.ranges(in: task.title)
    notesRanges = task.notes.map { matcher.ranges(in: $0) } ?? []
    tagRanges = task.tags.map { matcher.ranges(in: $0) }
  }
}
