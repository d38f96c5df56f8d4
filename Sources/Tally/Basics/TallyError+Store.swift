package import Foundation

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

  static func duplicateID(_ id: UUID) -> TallyError {
    TallyError(
      .duplicateID, "A task or list with the id \(id.uuidString.lowercased()) exists already",
      remedy: "Leave out the id to get a new one, or change the existing record instead")
  }

  static func missingRecord(of table: String) -> TallyError {
    TallyError(
      .damagedStore, "An entry of \(table) has no record", remedy: "Export what can be read, and restore a backup")
  }

  static let foreignTask = TallyError(
    .inconsistentTask, "A closure replaced the task it was given with another one",
    remedy: "Change the fields of the given task and keep its id")

  static let differentPlaces = TallyError(
    .differentPlaces, "The two tasks share neither a list nor a day, so they have no order between them",
    remedy: "Move the task to the other one's list or day first")

  static let halfDone = TallyError(
    .storageFailed, "A change failed halfway and its error was ignored",
    remedy: "Let storage errors leave the closure; nothing was changed")

  static let closedInsideTransaction = TallyError(
    .storeBusy, "The store cannot be closed inside one of its own reads or writes",
    remedy: "Close it when the closure has returned")

  static let storeClosed = TallyError(
    .storeClosed, "The store has been closed", remedy: "Open it again")
}
