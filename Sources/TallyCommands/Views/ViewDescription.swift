import Tally

/// How a view is shown to people.
struct ViewDescription {
  let view: TaskView
  /// The line above its tasks.
  let title: String
  /// What the view is for and how to fill it, printed if it is empty.
  let emptyHint: String
  /// The list whose tasks these are; `nil` for other views.
  var list: TaskList?
  /// The statistics whose completions these are; only for completed tasks.
  var completions: StatisticsOptions?
  /// How many tasks at most; all for `nil`.
  var limit: Int?
  /// Whether completed tasks are left out.
  var isOpenOnly = false
  /// Whether sub-tasks are below their parents.
  var isTree = false
  /// Whether this is a place in which completed tasks pile up.
  var isPlace = false
  /// What a task's line leaves out, as it is printed elsewhere.
  var hiding: Set<TaskRows.Detail> = []

  /// Whether people see only the newest completed tasks; in a tree, the sub-tasks of others would seem to be theirs.
  var isFolded: Bool { isPlace && limit == nil && !isTree }
}
