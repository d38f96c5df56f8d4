import Foundation
import Tally

/// A screen that shows one view of tasks.
struct Screen {
  let path: String
  let title: String
  let view: TaskView
  /// The place of a task that is captured here, as the form sends it.
  var place = "inbox"
  var placeName = "Inbox"
  let emptyWords: String

  /// The screens that every store has, by path.
  static let all: [Screen] = [
    Screen(
      path: "/today", title: "Today", view: .today, place: "today", placeName: "Today",
      emptyWords: "Nothing is planned for today or due today. Add a task above, or plan one from another screen."),
    Screen(
      path: "/inbox", title: "Inbox", view: .inbox,
      emptyWords: "The inbox is empty. Tasks without a list and a day wait here until you plan them."),
    Screen(
      path: "/upcoming", title: "Upcoming", view: .upcoming, place: "upcoming", placeName: "Tomorrow",
      emptyWords: "Nothing is planned after today. Give a task a day to see it here."),
    Screen(
      path: "/past", title: "Past", view: .past,
      emptyWords: "Nothing is left from earlier days."),
    Screen(
      path: "/overdue", title: "Overdue", view: .overdue,
      emptyWords: "Nothing is overdue. A task with a due date that has passed appears here."),
    Screen(
      path: "/next", title: "Next", view: .next,
      emptyWords: "There are no open tasks. Add one above."),
    Screen(
      path: "/waiting", title: "Waiting", view: .waiting,
      emptyWords: "No task waits. A task with a start day to come, or with the start someday, is here and nowhere else."
    ),
    Screen(
      path: "/active", title: "Active", view: .active,
      emptyWords: "No task is active. Start one with the key s, in its menu, or by holding its circle."),
    Screen(
      path: "/completed", title: "Completed", view: .completed(nil),
      emptyWords: "Nothing is completed yet. Completed tasks appear here, newest first."),
    Screen(
      path: "/all", title: "All tasks", view: .all,
      emptyWords: "There are no tasks yet. Add the first one above."),
  ]

  /// The screen of a list.
  static func list(_ list: TaskList) -> Screen {
    Screen(
      path: "/lists/\(list.id.text)", title: list.name.shortened(to: 100), view: .list(list.id),
      place: "list:\(list.id.text)", placeName: list.name.shortened(to: 40),
      emptyWords: "This list is empty. Add a task above, or move one here.")
  }

  /// Whether rows have an order that a person can change.
  var isOrdered: Bool {
    switch view {
    case .inbox, .today, .upcoming, .past, .list: true
    default: false
    }
  }
}
