public import Foundation
public import LMDB
public import Tally

/// A task before it is stored, as a value that tests can create, change and pass on.
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

/// The fields that few tasks have, as far as random changes set them.
public struct TaskFieldsDraft: Hashable, Sendable {
  /// The day it is due.
  public var dueDay: CalendarDay?
  /// How important it is.
  public var priority: Priority
  /// Its tags.
  public var tags: TagSet
  /// Fields of an application's own.
  public var attributes: [String: AttributeValue]
  /// When it starts.
  public var start: TaskStart?

  /// Sets the fields of a task.
  func set(_ task: inout TaskItem) {
    task.dueDay = dueDay
    task.priority = priority
    task.tags = tags
    task.attributes = attributes
    task.start = start
  }
}

extension StoreTransaction where Base == WriteTransaction {
  /// Stores the task that a draft describes.
  @discardableResult
  public mutating func add(_ draft: TaskDraft) throws -> TaskItem {
    try add(draft.title, id: draft.id) { task in
      task.notes = draft.notes
      task.scheduledDate = draft.scheduledDate
      task.dueDate = draft.dueDate
      task.reminderDate = draft.reminderDate
      task.listID = draft.listID
    }
  }
}
