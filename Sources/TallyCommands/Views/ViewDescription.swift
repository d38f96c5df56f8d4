import Tally

/// How a view is shown to people.
struct ViewDescription {
  let view: TaskView
  /// The line above its tasks.
  let title: String
  /// What the view is for and how to fill it, printed if it is empty.
  let emptyHint: String
  /// The statistics whose completions these are; only for completed tasks.
  var completions: StatisticsOptions?
  /// What a task's line leaves out, as it is printed elsewhere.
  var hiding: Set<TaskRows.Detail> = []
}
