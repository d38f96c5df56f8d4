public import Foundation

/// What is known of a task before it is stored; the store adds times, order and, if absent, the id.
public struct TaskDraft: Hashable, Sendable {
  /// The identifier, of any UUID version; `nil` has a UUIDv7 made.
  public var id: UUID?
  /// The title; not blank.
  public var title: String
  /// The notes.
  public var notes: String?
  /// The day it is to be done.
  public var scheduledDate: CalendarDay?
  /// When it is due.
  public var dueDate: Timestamp?
  /// When to remind of it.
  public var reminderDate: Timestamp?
  /// The list it belongs to.
  public var listID: UUID?

  /// Makes a draft.
  public init(
    id: UUID? = nil, title: String, notes: String? = nil, scheduledDate: CalendarDay? = nil,
    dueDate: Timestamp? = nil, reminderDate: Timestamp? = nil, listID: UUID? = nil
  ) {
    self.id = id
    self.title = title
    self.notes = notes
    self.scheduledDate = scheduledDate
    self.dueDate = dueDate
    self.reminderDate = reminderDate
    self.listID = listID
  }
}

/// Where a task is captured, which says where it lands.
public enum CapturePlace: Hashable, Sendable {
  /// No list and no day.
  case inbox
  /// Scheduled for the current day.
  case today
  /// Scheduled for the day after the current one.
  case upcoming
  /// In a list, without a day.
  case list(UUID)
}
