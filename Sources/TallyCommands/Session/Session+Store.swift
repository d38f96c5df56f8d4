import Foundation
import SystemPackage
import Tally

extension Session {
  /// Reads from one snapshot; a store that does not exist reads as an empty one and is not made.
  ///
  /// Only statistics ask where a week starts; loading the locale to know would cost milliseconds at every start.
  func read<R>(
    countingWeeks countsWeeks: Bool = false, _ body: (borrowing StoreReadTransaction) throws -> R
  ) throws -> R {
    var configuration = configuration
    if countsWeeks {
      configuration.calendar.firstWeekday =
        try options.weekStart?.calendarWeekday ?? WeekStart.firstWeekday(environment: environment)
    }
    return try storeForReading(configuration).read(body)
  }

  /// Changes the store in one transaction.
  ///
  /// The body may run twice, so it must print nothing. A store that does not exist is made only where `isCreating`
  /// says so, which is where something is added.
  func write(
    creating isCreating: Bool = false, _ body: (inout StoreWriteTransaction) throws -> Change
  ) throws -> Change {
    try storeForWriting(creating: isCreating).write { transaction in
      var change = try body(&transaction)
      change.isUndoable = transaction.isUndoable
      return change
    }
  }

  func storeForWriting(creating isCreating: Bool) throws -> TaskStore {
    var configuration = configuration
    configuration.createsIfMissing = isCreating
    return try TaskStore(at: storePath, configuration: configuration)
  }

  /// Changes a store in a way that may fail late; one that was made for nothing is taken away again.
  func withNewOrExistingStore<R>(_ body: (TaskStore) throws -> R) throws -> R {
    let store: TaskStore
    do {
      store = try storeForWriting(creating: false)
    } catch let error as TallyError where error.code == .storeMissing {
      return try withNewStore(body)
    }
    return try body(store)
  }

  private func withNewStore<R>(_ body: (TaskStore) throws -> R) throws -> R {
    let isDirectoryThere = FileManager.default.fileExists(atPath: storePath.string)
    let store = try storeForWriting(creating: true)
    do {
      return try body(store)
    } catch {
      try? store.close()
      TaskStore.removeUnused(at: storePath, configuration: configuration, leavingDirectory: isDirectoryThere)
      throw error
    }
  }

  func storeForReading() throws -> TaskStore {
    try storeForReading(configuration)
  }

  /// The store, which must exist: what is written elsewhere from an empty one might take the place of a good copy.
  func existingStoreForReading() throws -> TaskStore {
    try existingStore(configuration)
  }

  private func existingStore(_ base: TaskStore.Configuration) throws -> TaskStore {
    var configuration = base
    configuration.isReadOnly = true
    configuration.createsIfMissing = false
    return try TaskStore(at: storePath, configuration: configuration)
  }

  private func storeForReading(_ configuration: TaskStore.Configuration) throws -> TaskStore {
    do {
      return try existingStore(configuration)
    } catch let error as TallyError where error.code == .storeMissing {
      hint("There is no store at \(storePath.string.escapedForDisplay()) yet; adding a task or a list makes one.")
      return try emptyStore(configuration)
    }
  }

  /// An empty store outside the one asked for, gone with this process.
  ///
  /// Answers for a store that does not exist then come from the same code as all others; making the real one would
  /// be a write, and a second way through each command would have to be kept equal to the first.
  private func emptyStore(_ configuration: TaskStore.Configuration) throws -> TaskStore {
    let temporary = FileManager.default.temporaryDirectory
    let directory = temporary.appending(path: "tally-empty-\(UUID().uuidString)")
    defer { try? FileManager.default.removeItem(at: directory) }
    do {
      return try TaskStore(at: FilePath(directory.path), configuration: configuration)
    } catch let error as TallyError {
      // The path in it would be one that nobody has given.
      throw CommandFailure(
        ExitStatus(for: error),
        code: error.code.description,
        "No empty store can be made in '\(temporary.path.escapedForDisplay())' to answer from: \(error.message)",
        remedy: "Set TMPDIR to a directory with some room that you may write to"
      )
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
