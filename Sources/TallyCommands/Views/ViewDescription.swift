import Tally

/// How a view presents itself to a person.
struct ViewDescription {
  let view: TaskView
  /// The view's name above its tasks.
  let title: String
  /// What the view is for and how to fill it, where it is empty.
  let emptyHint: String
  /// What the tasks are the drill-down of; for completed tasks alone.
  var completions: StatisticsOptions?
}

extension ViewDescription {
  static let inbox = ViewDescription(
    view: .inbox,
    title: "Inbox",
    emptyHint: "The inbox is empty. It holds tasks with no list and no day; add one: tally add Buy milk"
  )

  static func today(_ clock: LocalClock) -> ViewDescription {
    ViewDescription(
      view: .today,
      title: clock.heading(of: clock.today),
      emptyHint: "Nothing is planned for today. Add a task: tally add Buy milk --today; "
        + "or move one here: tally move HANDLE --to today"
    )
  }

  static let upcoming = ViewDescription(
    view: .upcoming,
    title: "Upcoming",
    emptyHint: "Nothing is planned after today. Plan a task: tally add Call the bank --on friday"
  )

  static let past = ViewDescription(
    view: .past,
    title: "Past",
    emptyHint: "Nothing is left from earlier days. This view shows open tasks whose day has gone by; "
      + "bring one forward with: tally move HANDLE --to today"
  )

  static let overdue = ViewDescription(
    view: .overdue,
    title: "Overdue",
    emptyHint: "Nothing is overdue. This view shows open tasks whose due time has gone by; "
      + "set one: tally edit HANDLE --due 'friday 17:00'"
  )

  static let active = ViewDescription(
    view: .active,
    title: "Active",
    emptyHint: "Nothing is being worked on. Begin with a task: tally start HANDLE"
  )

  static let all = ViewDescription(
    view: .all,
    title: "All tasks",
    emptyHint: "There are no tasks yet. Add one: tally add Buy milk"
  )

  static func list(_ list: TaskList) -> ViewDescription {
    let name = list.name
    return ViewDescription(
      view: .list(list.id),
      title: name.escapedForDisplay(),
      emptyHint: "The list \(name.quotedForMessage) is empty. "
        + "Add a task to it: tally add Buy milk --list \(name.shellQuoted)"
    )
  }
}
