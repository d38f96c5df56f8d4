import Foundation
import SystemPackage
import Tally
import TallySystem

extension Session {
  /// How a command uses the store, and what happens if there is none.
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
  func read<R>(_ body: (inout StoreReadTransaction) throws -> R) throws -> R {
    try openStore(for: .reading).read(body)
  }

  /// Changes the store in one transaction and reports the change.
  ///
  /// The body may run twice, so it must print nothing. A dry run is rolled back, but reported like any other.
  func write(
    for use: StoreUse = .changing, isDryRun: Bool = false,
    _ body: (inout StoreWriteTransaction) throws -> ChangeReport
  ) throws {
    func change(_ store: TaskStore) throws -> ChangeReport {
      do {
        return try store.writeAndWait { transaction in
          try transaction.setActionName(commandName)
          var change = try body(&transaction)
          change.isUndoable = transaction.isUndoable
          if isDryRun { throw DryRun(change: change) }
          return change
        }
      } catch let dryRun as DryRun {
        var change = dryRun.change
        change.remedy = nil
        return change
      }
    }
    do {
      try report(use == .adding ? withStoreForAdding { store, _ in try change(store) } : change(openStore(for: use)))
    } catch let error as TallyError where error.code == .storeMissing && use == .changing {
      // In an empty store, the error says which name does not exist.
      let answer = try change(emptyStore(configuration))
      guard answer.isEmpty else { throw error }
      try report(answer)
    }
  }

  /// Runs changes in an empty store, and rolls them back, to find out whether they would be refused.
  func rehearse(_ body: (inout StoreWriteTransaction) throws -> Void) throws {
    do {
      try TaskStore.empty(configuration).writeAndWait { transaction in
        try body(&transaction)
        throw DryRun(change: ChangeReport())
      }
    } catch is DryRun {}
  }

  /// Adds something to the store; one that is created for it is removed again if adding fails.
  func withStoreForAdding<R>(_ body: (_ store: TaskStore, _ isNew: Bool) throws -> R) throws -> R {
    if let store = try existingStore() { return try body(store, false) }
    let hadDirectory = FileManager.default.fileExists(atPath: storePath.string)
    let store = try openStore(for: .adding)
    do {
      return try body(store, true)
    } catch {
      try? store.close()
      TaskStore.removeUnused(at: storePath, configuration: configuration, leavingDirectory: hadDirectory)
      throw error
    }
  }

  private func existingStore() throws -> TaskStore? {
    do {
      return try openStore(for: .changing)
    } catch let error as TallyError where error.code == .storeMissing {
      return nil
    }
  }

  /// Ends a transaction whose changes are not wanted.
  private struct DryRun: Error {
    let change: ChangeReport
  }

  /// Opens the store for a use.
  func openStore(for use: StoreUse) throws -> TaskStore {
    var configuration = configuration
    if countsWeeks { configuration.calendar.firstWeekday = try clock.firstWeekday() }
    configuration.isReadOnly = use == .reading || use == .copying
    configuration.createsIfMissing = use == .adding
    do {
      return try TaskStore(at: storePath, configuration: configuration)
    } catch let error as TallyError where error.code == .storeMissing && use == .reading {
      return try emptyStore(configuration)
    }
  }

  /// A store to answer from where there is none.
  private func emptyStore(_ configuration: TaskStore.Configuration) throws -> TaskStore {
    hint("There is no store at \(storePath.string.escapedForDisplay()) yet; adding a task or a list creates one.")
    return try .empty(configuration)
  }

  /// How every command opens a store.
  var configuration: TaskStore.Configuration {
    var configuration = TaskStore.Configuration()
    let now = clock.exactNow
    configuration.now = { now }
    // A command ends after one write.
    configuration.makesLog = false
    configuration.stampsWholeSeconds = options.now == nil
    configuration.calendar = clock.calendar
    configuration.dayStartInMinutes = clock.dayStartInMinutes
    configuration.nextWeights = settings.nextWeights
    configuration.onLongWait = { [invocation, isQuiet = options.quiet] ids in
      guard !isQuiet else { return }
      _ = try? invocation.errorOutput.writeAll(invocation.message("\(Self.waitMessage(ids))\n").utf8)
    }
    configuration.onLongRead = { [errorOutput = invocation.errorOutput, isQuiet = options.quiet] read in
      if !isQuiet { _ = try? errorOutput.writeAll("\(Self.longReadMessage(read))\n".utf8) }
    }
    return configuration
  }

  /// The message while a command waits for other processes, which it names if the system does.
  private static func waitMessage(_ ids: [Int32]) -> String {
    let others = ids.map(processInWords)
    let named = others.isEmpty ? "another process" : "process \(others.joined(separator: ", "))"
    return "Waiting for \(named), which has the store open…"
  }

  /// The message about a process whose long read makes the store's file grow.
  private static func longReadMessage(_ read: ReaderInformation) -> String {
    let time = read.lagInSeconds.map { $0 > 0 ? " for \($0.counted("second"))" : "" } ?? ""
    return "Process \(processInWords(read.processID)) has been reading one snapshot\(time), "
      + "\((read.lagInCommits ?? 0).counted("commit")) behind; the store's file grows until it ends."
  }

  private static func processInWords(_ id: Int32) -> String {
    let name = try? String(contentsOfFile: "/proc/\(id)/comm", encoding: .utf8).trimmingCharacters(in: .newlines)
    return name.map { "\(id) (\($0.escapedForDisplay()))" } ?? "\(id)"
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
    let temporary = FilePath(FileManager.default.temporaryDirectory.path)
    do {
      let item = try TallyError.translatingErrno { try TemporaryItem(.directory, in: temporary, for: "tally-empty") }
      // The files may lose their names while the store has them open.
      return try withExtendedLifetime(item) { try TaskStore(at: item.path, configuration: configuration) }
    } catch let error as TallyError {
      // Its path would be one that the person never gave.
      throw CommandFailure(
        ExitStatus(for: error), code: error.code.description,
        "No empty store can be created in '\(temporary.string.escapedForDisplay())' to answer from: \(error.message)",
        remedy: "Set TMPDIR to a writable directory with free space")
    }
  }
}
