package import Foundation

extension TallyError.Code {
  /// A task's title is only white space.
  public static let blankTitle = TallyError.Code(named: "blankTitle")
  /// A list's name is only white space.
  public static let blankListName = TallyError.Code(named: "blankListName")
  /// A colour is not six hexadecimal digits.
  public static let invalidColor = TallyError.Code(named: "invalidColor")
  /// A text is not the name of a task state.
  public static let invalidState = TallyError.Code(named: "invalidState")
  /// A text is not a recurrence, or is one that is not supported.
  public static let invalidRecurrence = TallyError.Code(named: "invalidRecurrence")
  /// A task's fields contradict each other, such as a completion time on an open task.
  public static let inconsistentTask = TallyError.Code(named: "inconsistentTask")
  /// No task has the given id.
  public static let taskNotFound = TallyError.Code(named: "taskNotFound")
  /// No list has the given id.
  public static let listNotFound = TallyError.Code(named: "listNotFound", isOfOneLine: true)
  /// No saved filter has the given name.
  public static let filterNotFound = TallyError.Code(named: "filterNotFound")
  /// Two tasks are not in the same place, so neither can be put before or after the other.
  public static let differentPlaces = TallyError.Code(named: "differentPlaces")
  /// A task names a list that neither the store nor the document has.
  public static let unknownList = TallyError.Code(named: "unknownList")
  /// A tag is empty, too long or contains a character that tags cannot have.
  public static let invalidTag = TallyError.Code(named: "invalidTag")
  /// A text is not the name of a priority.
  public static let invalidPriority = TallyError.Code(named: "invalidPriority")
  /// An attribute has an invalid name or value, or the attributes of a task take too many bytes.
  public static let invalidAttribute = TallyError.Code(named: "invalidAttribute")
  /// A sub-task would be nested too deeply, be its own ancestor, or lie in a different list than its parent.
  public static let invalidParent = TallyError.Code(named: "invalidParent")
  /// A task would wait for itself, directly or over others, for a task above it, or for too many tasks.
  public static let invalidDependency = TallyError.Code(named: "invalidDependency")
  /// A link cannot be followed.
  public static let invalidLink = TallyError.Code(named: "invalidLink")
  /// A text is not a filter; the error carries the column.
  public static let invalidFilter = TallyError.Code(named: "invalidFilter", isOfOneLine: true)
  /// A search contains no word to search for.
  public static let emptySearch = TallyError.Code(named: "emptySearch")
  /// A text is not a goal, or the goal is less than one task.
  public static let invalidGoal = TallyError.Code(named: "invalidGoal")
}

extension TallyError {
  package static func taskNotFound(_ id: UUID) -> TallyError {
    TallyError(
      .taskNotFound, "No task has the id \(id.uuidString.lowercased())",
      remedy: "It may have been deleted; look for the task in a view and use the id shown there")
  }

  package static func listNotFound(_ id: UUID) -> TallyError {
    TallyError(
      .listNotFound, "No list has the id \(id.uuidString.lowercased())",
      remedy: "It may have been deleted; choose one of the lists there are, or create it first")
  }

  static let foreignTask = TallyError(
    .inconsistentTask, "A closure replaced the task it was given with another one",
    remedy: "Change the fields of the given task and keep its id")

  /// A task would wait for itself: each task of the cycle depends on the next one, and the last one on the first.
  static func dependencyCycle(_ ids: [UUID]) -> TallyError {
    let shown = ids.prefix(ids.count > 8 ? 7 : 8).map { $0.uuidString.lowercased() }
    let chain = shown.joined(separator: ", which depends on ") + (ids.count > 8 ? " and \(ids.count - 7) more" : "")
    let message = ids.count == 1 ? "A task cannot depend on itself" : "The task would wait for itself: \(chain)"
    return TallyError(
      .invalidDependency, message, remedy: "Remove one of the dependencies, or leave this one out",
      cause: RefusedDependency(ids: ids))
  }

  static func dependencyOnAncestor(_ id: UUID) -> TallyError {
    TallyError(
      .invalidDependency,
      "A sub-task cannot depend on the task above it, \(id.uuidString.lowercased()), which completes it",
      remedy: "Take the sub-task out of its parent first, or leave the dependency out",
      cause: RefusedDependency(ids: [id]))
  }

  static let differentPlaces = TallyError(
    .differentPlaces, "The two tasks share neither a list nor a day, so they have no order between them",
    remedy: "Move the task to the other one's list or day first")

  static func duplicateID(_ id: UUID) -> TallyError {
    TallyError(
      .duplicateID, "A task or list with the id \(id.uuidString.lowercased()) exists already",
      remedy: "Leave out the id to get a new one, or change the existing record instead")
  }
}

/// The cause of an error about a dependency: the tasks of its message, which names them by their ids.
package struct RefusedDependency: Error {
  package let ids: [UUID]
}
