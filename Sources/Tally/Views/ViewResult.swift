public import Foundation

/// What a view shows: its tasks, in sections.
public struct ViewResult: Hashable, Sendable {
  /// The view that was asked for.
  public let view: TaskView
  /// The instant that counted as now.
  public let asOf: Timestamp
  /// The time zone that said what a day is.
  public let timeZone: TimeZone
  /// How many of the tasks are completed.
  public let completedCount: Int
  /// The tasks: a section a day where the view has days, else one section.
  public let sections: [ViewSection]

  /// Makes a result.
  public init(
    view: TaskView, asOf: Timestamp, timeZone: TimeZone, completedCount: Int, sections: [ViewSection]
  ) {
    self.view = view
    self.asOf = asOf
    self.timeZone = timeZone
    self.completedCount = completedCount
    self.sections = sections
  }

  /// The tasks of all sections, in order.
  public var tasks: [TaskItem] { sections.allTasks }
}

/// Some tasks of a view that belong to one day, or to none.
public struct ViewSection: Hashable, Codable, Sendable {
  /// The scheduled day that the tasks share, in a view with days.
  public let day: CalendarDay?
  /// The tasks, in the view's order.
  public internal(set) var tasks: [TaskItem]

  /// Makes a section.
  public init(day: CalendarDay?, tasks: [TaskItem]) {
    self.day = day
    self.tasks = tasks
  }
}

/// A part of a view, and where the next part begins.
public struct ViewPage: Hashable, Codable, Sendable {
  /// The tasks of this page; a day may go on in the next one.
  public let sections: [ViewSection]
  /// Where the next page begins; `nil` on the last one.
  public let next: ViewPosition?

  /// The tasks of all sections, in order.
  public var tasks: [TaskItem] { sections.allTasks }
}

/// A place in a view: after the last task of a page.
///
/// It stays valid when tasks come and go: it names a place in the order, not a number of rows.
public struct ViewPosition: Hashable, Sendable {
  /// The view that the position belongs to: the same key means another place in another view.
  let view: TaskView
  let key: ViewKey
}

extension [ViewSection] {
  /// The tasks of all sections; where there is but one, as in most views, without a copy.
  fileprivate var allTasks: [TaskItem] {
    count == 1 ? self[0].tasks : flatMap(\.tasks)
  }
}
