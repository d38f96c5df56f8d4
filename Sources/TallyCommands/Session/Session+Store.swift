import Foundation
import SystemPackage
import Tally

extension Session {
  /// What a command needs of the store, and what happens if there is none.
  enum StoreUse {
    /// Reads; a store that does not exist reads as empty and is not created.
    case reading
    /// Reads a store that must exist: a copy of an empty one might replace a good copy.
    case copying
    /// Changes a store that must exist.
    case changing
    /// Adds something, to a new store if there is none.
    case adding
  }

  /// Reads from one snapshot.
  ///
  /// Only statistics ask where a week starts; loading the locale to know would cost milliseconds at every start.
  func read<R>(
    countingWeeks countsWeeks: Bool = false, _ body: (inout StoreReadTransaction) throws -> R
  ) throws -> R {
    var calendar = configuration.calendar
    if countsWeeks {
      calendar.firstWeekday =
        try options.weekStart?.rawValue ?? WeekStart.firstWeekday(environment: invocation.environment)
    }
    return try openStore(for: .reading, calendar: calendar).read(body)
  }

  /// Changes the store in one transaction and reports the change.
  ///
  /// The body may run twice, so it must print nothing.
  func write(for use: StoreUse = .changing, _ body: (inout StoreWriteTransaction) throws -> ChangeReport) throws {
    let change = try openStore(for: use).writeAndWait { transaction in
      var change = try body(&transaction)
      change.isUndoable = transaction.isUndoable
      return change
    }
    try report(change)
  }

  /// Opens the store for a use.
  func openStore(for use: StoreUse, calendar: Calendar? = nil) throws -> TaskStore {
    var configuration = configuration
    if let calendar { configuration.calendar = calendar }
    configuration.isReadOnly = use == .reading || use == .copying
    configuration.createsIfMissing = use == .adding
    do {
      return try TaskStore(at: storePath, configuration: configuration)
    } catch let error as TallyError where error.code == .storeMissing && use == .reading {
      hint("There is no store at \(storePath.string.escapedForDisplay()) yet; adding a task or a list creates one.")
      return try .empty(configuration)
    }
  }

  /// How every command opens a store.
  var configuration: TaskStore.Configuration {
    var configuration = TaskStore.Configuration()
    let now = clock.now
    configuration.now = { now }
    var calendar = Calendar(identifier: .gregorian)
    calendar.timeZone = clock.timeZone
    configuration.calendar = calendar
    return configuration
  }
}

extension TaskStore {
  /// An empty store elsewhere, which is gone when this process ends.
  ///
  /// So answers about a missing store come from the same code as all others. Creating the real one would be a write, and
  /// a special case in each command would have to be kept in step.
  fileprivate static func empty(_ configuration: Configuration) throws -> TaskStore {
    var configuration = configuration
    (configuration.isReadOnly, configuration.createsIfMissing) = (false, true)
    let temporary = FileManager.default.temporaryDirectory
    let directory = temporary.appending(path: "tally-empty-\(UUID().uuidString)")
    defer { try? FileManager.default.removeItem(at: directory) }
    do {
      return try TaskStore(at: FilePath(directory.path), configuration: configuration)
    } catch let error as TallyError {
      // Its path would be one that the person never gave.
      throw CommandFailure(
        ExitStatus(for: error), code: error.code.description,
        "No empty store can be created in '\(temporary.path.escapedForDisplay())' to answer from: \(error.message)",
        remedy: "Set TMPDIR to a writable directory with free space")
    }
  }
}
