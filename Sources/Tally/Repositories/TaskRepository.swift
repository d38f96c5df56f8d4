public import Foundation

/// Tasks as an application's screens use them, wherever they are stored: views and their changes, edits, order and undo.
///
/// ``StoreRepository`` keeps them in a store; for previews and tests in one of ``TaskStore/temporary(configuration:)``.
public protocol TaskRepository: Sendable {
  /// The tasks of a list, or those of the inbox, in the order of views.
  ///
  /// - Throws: `listNotFound`.
  func fetchTasks(inList listID: UUID?) async throws -> [TaskItem]

  /// The tasks of a view, in its order.
  ///
  /// - Throws: `listNotFound`.
  func fetchTasks(in view: TaskView) async throws -> [TaskItem]

  /// A view, first as a whole, then how it changes; ends when the Swift task is cancelled.
  ///
  /// - Throws: while it is iterated, `listNotFound`.
  func observeTasks(in view: TaskView) -> any AsyncSequence<ViewUpdate, any Error> & Sendable

  /// One task; `nil` if there is none with the id.
  func fetchTask(_ id: UUID) async throws -> TaskItem?

  /// Creates a task, last in its list or in the inbox.
  ///
  /// - Throws: `blankTitle` or `listNotFound`.
  @discardableResult
  func createTask(title: String, inList listID: UUID?) async throws -> TaskItem

  /// Stores a task's fields as they are given; the repository keeps the times of change and completion.
  ///
  /// - Throws: `taskNotFound`, `blankTitle` or `listNotFound`.
  @discardableResult
  func updateTask(_ task: TaskItem) async throws -> TaskItem

  /// Completes a task.
  ///
  /// - Throws: `taskNotFound`.
  @discardableResult
  func completeTask(_ id: UUID) async throws -> TaskItem

  /// Puts a task directly before another one in the same place.
  ///
  /// - Throws: `taskNotFound` or `differentPlaces`.
  @discardableResult
  func moveTask(_ id: UUID, before anchorID: UUID) async throws -> TaskItem

  /// Puts a task directly after another one in the same place.
  ///
  /// - Throws: `taskNotFound` or `differentPlaces`.
  @discardableResult
  func moveTask(_ id: UUID, after anchorID: UUID) async throws -> TaskItem

  /// Undoes the last change.
  ///
  /// - Throws: `nothingToUndo` or `undoConflict`.
  @discardableResult
  func undo() async throws -> UndoResult

  /// Redoes the last undo.
  ///
  /// - Throws: `nothingToRedo` or `undoConflict`.
  @discardableResult
  func redo() async throws -> UndoResult

  /// Deletes a task.
  ///
  /// - Throws: `taskNotFound`.
  func deleteTask(_ id: UUID) async throws
}

/// Lists as an application's screens use them, wherever they are stored.
public protocol ListRepository: Sendable {
  /// Every list, in the user's order.
  func fetchLists() async throws -> [TaskList]

  /// Creates a list, last among the lists.
  ///
  /// - Throws: `blankListName` or `invalidColor`.
  @discardableResult
  func createList(name: String, colorHex: String) async throws -> TaskList

  /// Stores a list's name and colour.
  ///
  /// - Throws: `listNotFound`, `blankListName` or `invalidColor`.
  @discardableResult
  func updateList(_ list: TaskList) async throws -> TaskList

  /// Deletes a list with its tasks.
  ///
  /// - Throws: `listNotFound`.
  func deleteList(_ id: UUID) async throws
}
