import ArgumentParser
import Tally

/// How much of a view to show, and how.
struct ViewOptions: ParsableArguments {
  @Flag(help: "Show open tasks only.")
  var open = false

  @Flag(help: "Show sub-tasks below their parents, also those that the view does not hold.")
  var tree = false

  @OptionGroup var waiting: WaitingOption

  @OptionGroup var limited: LimitOption

  /// A view's description with these options.
  func applied(to description: ViewDescription) -> ViewDescription {
    var description = description
    description.isOpenOnly = open
    description.isTree = tree
    description.showsWaiting = waiting.isSet
    description.limit = limited.limit
    return description
  }
}

/// `--waiting`.
struct WaitingOption: ParsableArguments {
  @Flag(name: .customLong("waiting"), help: "Show also the tasks that wait for their start.")
  var isSet = false
}

/// `--limit`.
struct LimitOption: ParsableArguments {
  // Unconditional: a negative number is a wrong value, not a missing one.
  @Option(
    name: .customLong("limit"), parsing: .unconditional,
    help: ArgumentHelp("Show at most this many.", valueName: "n"))
  var value: Int?

  /// The limit, to which one can be added: some commands read one task more to know whether there are more.
  var limit: Int? { value.map { min($0, .max - 1) } }

  func validate() throws {
    if let value, value < 1 { throw ValidationError("--limit must be at least 1.") }
  }
}

/// The order of found tasks, and how many to show.
struct QueryOptions: ParsableArguments {
  @Option(help: ArgumentHelp("How to sort the tasks. Default: place.", valueName: "order"))
  var sort: TaskOrder = .place

  @OptionGroup var waiting: WaitingOption

  @OptionGroup var limited: LimitOption

  var limit: Int? { limited.limit }

  /// The tasks of a filter as a view.
  func description(of filter: TaskFilter, title: String, emptyHint: String) -> ViewDescription {
    ViewDescription(
      view: TaskQuery(filter, by: sort).view, title: title, emptyHint: emptyHint, limit: limit,
      showsWaiting: waiting.isSet, filter: filter)
  }
}

/// How a view is shown to people.
struct ViewDescription {
  let view: TaskView
  /// The line above its tasks.
  let title: String
  /// The purpose of the view and how to fill it, printed if it is empty.
  let emptyHint: String
  /// The list whose tasks these are; `nil` for other views.
  var list: TaskList?
  /// The statistics whose completions these are; only for completed tasks.
  var completions: StatisticsOptions?
  /// How many tasks at most; all for `nil`.
  var limit: Int?
  /// Whether tasks that wait for their start are shown.
  var showsWaiting = false
  /// The filter of the tasks, for saying how many of them wait; `nil` if nobody expects those.
  var filter: TaskFilter?
  /// Whether completed tasks are left out.
  var isOpenOnly = false
  /// Whether sub-tasks are below their parents.
  var isTree = false
  /// Whether this is a place in which completed tasks pile up.
  var isPlace = false
  /// The details that a task's line leaves out because they are printed elsewhere.
  var hiding: Set<TaskRows.Detail> = []

  /// Whether people see only the newest completed tasks; in a tree, the sub-tasks of others would seem to be theirs.
  var isFolded: Bool { isPlace && limit == nil && !isTree }
}
