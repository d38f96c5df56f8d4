import Tally

/// How a view presents itself to a person.
struct ViewDescription {
  let view: TaskView
  /// What stands above its tasks.
  let title: String
  /// What the view is for and how to fill it, where it is empty.
  let emptyHint: String
  /// What the tasks are the drill-down of; for completed tasks alone.
  var completions: StatisticsOptions?
  /// What a task's line leaves out, as it stands elsewhere.
  var hiding: Set<TaskRows.Detail> = []
}
