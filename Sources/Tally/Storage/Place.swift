import Foundation
import TallyEngine

/// A group in which tasks are ordered: a list, a day or the inbox.
enum Place: Hashable {
  case inbox
  case day(CalendarDay)
  case list(UUID)

  /// The place whose order decides first: the task's list, else its day, else the inbox.
  init(of task: TaskItem) {
    if let listID = task.listID {
      self = .list(listID)
    } else if let day = task.scheduledDate {
      self = .day(day)
    } else {
      self = .inbox
    }
  }

  /// Every place of a task: its list and its day, or the inbox if it has neither.
  static func all(of task: TaskItem) -> [Place] {
    switch (task.listID, task.scheduledDate) {
    case (let list?, let day?): [.list(list), .day(day)]
    default: [Place(of: task)]
    }
  }
}
