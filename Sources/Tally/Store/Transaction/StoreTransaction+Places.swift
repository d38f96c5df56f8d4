public import Foundation
public import LMDB
import TallyEngine

extension StoreTransaction where Base == WriteTransaction {
  /// Moves a task to one of the places in which tasks are captured.
  ///
  /// Moving to the inbox removes list and day, because ``TaskView/inbox`` shows the tasks with neither. Any other place
  /// sets the list or the day that it names, and leaves the other unchanged.
  ///
  /// - Returns: the task as stored.
  /// - Throws: `taskNotFound` or `listNotFound`; `invalidParent` if a sub-task would leave its parent's list.
  @discardableResult
  public mutating func move(_ id: UUID, to place: CapturePlace) throws -> TaskItem {
    let today = today
    return try update(id) { task in
      switch place {
      case .inbox: (task.listID, task.scheduledDate) = (nil, nil)
      case .today: task.scheduledDate = today
      case .upcoming: task.scheduledDate = try today.adding(days: 1)
      case .list(let list): task.listID = list
      }
    }
  }

  /// Moves several tasks directly before another one in the same place, in the order of the ids.
  ///
  /// - Throws: as ``move(_:before:)-(UUID,_)``; some tasks may have been moved by then.
  public mutating func move(_ ids: [UUID], before anchorID: UUID) throws {
    guard let first = ids.first else { return }
    try move(first, before: anchorID)
    try move(Array(ids.dropFirst()), after: first)
  }

  /// Moves several tasks directly after another one in the same place, in the order of the ids.
  ///
  /// - Throws: as ``move(_:after:)-(UUID,_)``; some tasks may have been moved by then.
  public mutating func move(_ ids: [UUID], after anchorID: UUID) throws {
    var anchor = anchorID
    for id in ids {
      try move(id, after: anchor)
      anchor = id
    }
  }

  /// Stores the task that a sentence describes, in the list that it names or else in the place where it was typed.
  ///
  /// ```swift
  /// try await store.write { transaction in
  ///   let lists = try transaction.lists().map(\.name)
  ///   let entry = QuickEntry.parse("Pay rent friday", reference: transaction.dateReference, lists: lists)
  ///   try transaction.add(entry, to: .today)
  /// }
  /// ```
  ///
  /// - Parameters:
  ///   - entry: the sentence, parsed with the names of the lists.
  ///   - place: where it was typed; a day in the sentence replaces that of the place.
  ///   - edit: sets further fields, after those of the sentence.
  /// - Returns: the task as stored.
  /// - Throws: `listNotFound` if no list has that name any more; otherwise as ``add(_:to:id:_:)``.
  @discardableResult
  public mutating func add(
    _ entry: QuickEntry, to place: CapturePlace = .inbox, _ edit: (inout TaskItem) throws -> Void = { _ in }
  ) throws -> TaskItem {
    let list = try entry.listName.map { name in
      guard let list = try lists().first(where: { $0.name == name }) else { throw TallyError.noListOfName }
      return list
    }
    return try add(entry.title, to: place) { task in
      entry.fill(&task)
      if let list { task.listID = list.id }
      try edit(&task)
    }
  }
}

extension TaskFilter {
  /// The tasks that the inbox shows: those with neither a list nor a day.
  public static var inInbox: TaskFilter { .list(nil as UUID?) && !.has(.day) }
}

extension TallyError {
  fileprivate static let noListOfName = TallyError(
    .listNotFound, "No list has the name in the sentence", remedy: "Read the sentence with the names of the lists")
}
