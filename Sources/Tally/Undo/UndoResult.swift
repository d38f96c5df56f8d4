public import Foundation

/// The result of an undo or a redo.
public struct UndoResult: Hashable, Sendable {
  /// The write that was undone or redone.
  public let change: ChangeID
  /// The date of that write.
  public let date: Timestamp
  /// The tasks that came back or changed, in their new state.
  public let tasks: [TaskItem]
  /// The ids of those of ``tasks`` that did not exist before.
  public let returnedTaskIDs: Set<UUID>
  /// The tasks that were deleted, in their last state.
  public let deletedTasks: [TaskItem]
  /// The lists that came back or changed, in their new state.
  public let lists: [TaskList]
  /// The ids of those of ``lists`` that did not exist before.
  public let returnedListIDs: Set<UUID>
  /// The lists that were deleted, in their last state.
  public let deletedLists: [TaskList]
  /// The saved filters that came back or changed.
  public let savedFilters: [SavedFilter]
  /// The saved filters that were deleted.
  public let deletedFilters: [SavedFilter]
  /// The names of the applications' values that came back, changed or were removed.
  public let values: Set<ValueKey>
  /// For tasks and lists that another replica has changed since, the fields that keep their values, as documents name them;
  /// `id` for one that is neither created again nor deleted.
  public let keptFields: [UUID: Set<String>]

  /// Whether nothing visible has changed.
  var isEmpty: Bool {
    tasks.isEmpty && deletedTasks.isEmpty && lists.isEmpty && deletedLists.isEmpty && savedFilters.isEmpty
      && deletedFilters.isEmpty && values.isEmpty
  }
}
