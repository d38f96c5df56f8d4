public import Foundation

/// What an undo or a redo did.
public struct UndoResult: Sendable {
  /// The write that was taken back, or done again.
  public let change: ChangeID
  /// When that write was made.
  public let date: Timestamp
  /// The tasks that came back or have other contents now, as they are now.
  public internal(set) var tasks: [TaskItem] = []
  /// Which of ``tasks`` were not there before.
  public internal(set) var returnedTaskIDs: Set<UUID> = []
  /// The tasks that are gone again, as they were.
  public internal(set) var deletedTasks: [TaskItem] = []
  /// The lists that came back or have other contents now, as they are now.
  public internal(set) var lists: [TaskList] = []
  /// Which of ``lists`` were not there before.
  public internal(set) var returnedListIDs: Set<UUID> = []
  /// The lists that are gone again, as they were.
  public internal(set) var deletedLists: [TaskList] = []

  /// Whether nothing is other than it was.
  var isEmpty: Bool { tasks.isEmpty && deletedTasks.isEmpty && lists.isEmpty && deletedLists.isEmpty }
}
