import Foundation
import SystemPackage
import Tally
import TallySync
import TallySystem

extension [SyncStatus.Member] {
  /// The device with exactly this name, the name in another case, this handle, or this replica.
  ///
  /// Devices in use take precedence over former identities and revoked devices.
  ///
  /// - Throws: ``CommandFailure`` if there is none or more than one.
  func member(named text: String) throws -> SyncStatus.Member {
    let exact = filter { $0.name == text }
    var found = exact.isEmpty ? filter { $0.name?.lowercased() == text.lowercased() } : exact
    if found.isEmpty, text.count >= 4 { found = filter { $0.replica.description.hasSuffix(text.lowercased()) } }
    let inUse = found.filter { !$0.isRevoked && !$0.isFormer }
    let chosen = inUse.isEmpty ? found : inUse
    guard let member = chosen.first else {
      throw CommandFailure(
        .notFound, code: "replicaNotFound", "No device of the space is named \(text.quotedForMessage)",
        remedy: "See their names and handles with 'tally sync members'")
    }
    guard chosen.count == 1 else {
      throw CommandFailure(
        .notFound, code: "ambiguousDevice", "\(chosen.count) devices are named \(text.quotedForMessage)",
        remedy: "Use one of these handles, or give them names of their own: tally sync members rename HANDLE NAME"
      ).with(Candidates(members: chosen))
    }
    return member
  }
}

/// The devices that made the changes in a history.
struct ChangeDevices {
  let members: [SyncStatus.Member]

  /// For a store that does not synchronise.
  static let none = ChangeDevices(members: [])

  /// The device that made a change; `nil` if the store does not synchronise, or the changes of several devices came together.
  func member(for change: HistoryChange) -> SyncStatus.Member? {
    guard change.isFromElsewhere else { return members.first }
    return change.replica.flatMap { id in members.first { $0.replica == ReplicaID(id) } }
  }

  /// The words about the device in a line for people; `nil` for a change of this device.
  func words(for change: HistoryChange) -> String? {
    guard change.isFromElsewhere else { return nil }
    guard let member = member(for: change) else { return "by other devices" }
    return "by \(members.label(of: member).escapedForDisplay())"
  }
}

extension Session {
  /// Reads changes from one snapshot, with the devices of the space, which are read just before.
  func readChanges<R>(_ body: (inout StoreReadTransaction, ChangeDevices) throws -> R) throws -> R {
    guard isSynchronizing, let store = try? openStore(for: .changing) else { return try read { try body(&$0, .none) } }
    let members = try? wait { try await StoreSync(store).members() }
    return try store.read { try body(&$0, members.map(ChangeDevices.init) ?? .none) }
  }

  /// Prints the warnings of an exchange: clocks that differ, and lists with the same name.
  func printWarnings(after report: SyncReport) {
    for words in report.clocks.words { self.report(words) }
    for lists in report.listsOfOneName { self.report(lists.mergingWords { line(running: $0) }) }
  }
}

extension [TaskList] {
  /// Says that these lists have the same name, in any case, and how to make one list of them.
  ///
  /// - Parameter line: Returns the line that runs a command on the same store.
  /// - Returns: The words.
  fileprivate func mergingWords(_ line: (String) -> String) -> String {
    // Lists with exactly the same name first: afterwards one name is enough for all of the others.
    let shared = Dictionary(grouping: self, by: \.name).filter { $0.value.count > 1 }.keys.min()
    let name = (shared ?? self[0].name).shellQuoted
    return "\(count) lists are named \(self[0].name.quotedForMessage). To make one of them: "
      + line("lists merge \(name) \(name)")
  }
}

extension [ClockDifference] {
  /// A sentence for each device whose clock differs, or one for all if the clock of this device is probably wrong.
  var words: [String] {
    let seconds = map(\.secondsAhead)
    if count > 1, let least = seconds.min(), let most = seconds.max(),
      most.subtractingReportingOverflow(least).partialValue <= 120,
      least > 0 || most < 0
    {
      let names = map { $0.shownName }.joined(separator: " and ")
      return [
        "This device's clock is \(Self.duration(least)) \(least > 0 ? "behind" : "ahead of") those of \(names): set it, or "
          + "what is written here has wrong times."
      ]
    }
    return map { clock in
      "The clock of \(clock.shownName) is \(Self.duration(clock.secondsAhead)) \(clock.secondsAhead > 0 ? "ahead of" : "behind") "
        + "this device's: one of them is wrong, and what is written with it has wrong times."
    }
  }

  private static let units: [(noun: String, seconds: UInt64)] = [
    ("year", 31_556_952), ("day", 86_400), ("hour", 3_600), ("minute", 60),
  ]

  private static func duration(_ seconds: Int64) -> String {
    let magnitude = seconds.magnitude
    let unit = units.first { magnitude >= 2 * $0.seconds } ?? ("second", 1)
    return Int(magnitude / unit.seconds).counted(unit.noun)
  }
}

extension ClockDifference {
  fileprivate var shownName: String { name?.quotedForMessage ?? replica.description }

  var facts: Facts {
    ["replica": .text(replica.description), "name": .text(name), "secondsAhead": .integer(secondsAhead)]
  }
}

extension Session {
  /// Exchanges changes for the first time; the store is in its space even if that fails.
  @discardableResult
  func synchronizeFirst(_ sync: StoreSync) -> SyncReport? {
    do {
      return try wait { try await sync.synchronize() }
    } catch {
      report("Nothing was exchanged yet: \((error as? TallyError)?.message ?? "\(error)").")
      return nil
    }
  }

  /// Runs a call that commits a transaction of its own.
  ///
  /// - Returns: Its result, and whether `tally undo` would reverse exactly this change.
  /// - Throws: Errors of the call and of the storage.
  func runUndoable<R: Sendable>(
    in store: TaskStore, _ body: @escaping @Sendable () async throws -> R
  ) throws -> (result: R, isUndoable: Bool) {
    let last = try store.read { try $0.history(limit: 1).first?.id }
    let result = try wait(for: body)
    // Another program may have committed meanwhile.
    let newer = try store.read { try $0.history(limit: 2) }.prefix { $0.id != last }
    guard newer.count == 1, let own = newer.first else { return (result, false) }
    // The history does not show the records of a change that was too large for it.
    return (result, !own.tasks.isEmpty || !own.lists.isEmpty || !own.savedFilters.isEmpty)
  }

  /// The result of a body for the space of the store; `nil` for a store that does not synchronise, which is not opened.
  func readSpace<R: Sendable>(_ body: @escaping @Sendable (StoreSync) async throws -> R) throws -> R? {
    guard isSynchronizing else { return nil }
    return try inSpace { sync in try await sync.isSetUp ? body(sync) : nil }
  }

  /// Opens the store, which must exist, and runs a body with its space.
  func inSpace<R: Sendable>(_ body: @escaping @Sendable (StoreSync) async throws -> R) throws -> R {
    let sync = StoreSync(try openStore(for: .changing))
    return try wait { try await body(sync) }
  }

  /// Whether the store may belong to a space, without opening it.
  var isSynchronizing: Bool {
    FileManager.default.fileExists(atPath: storePath.appending(StoreSync.replicaFileName).string)
  }

  /// The name of this machine.
  static var deviceName: String { ProcessInfo.processInfo.hostName }

  /// The passphrase in the first line of a file.
  func passphrase(inFile path: String) throws -> String { try secret("passphrase", inFile: path) }

  /// The first line of a file.
  ///
  /// - Parameters:
  ///   - name: The name of the secret for messages.
  ///   - path: The file.
  /// - Returns: The line.
  /// - Throws: `CommandFailure`.
  func secret(_ name: String, inFile path: String) throws -> String {
    let text: String
    do {
      // It may also be a pipe, for example from a password manager.
      let file = try FileDescriptor.open(FilePath(path), .readOnly, options: .closeOnExec)
      text = String(decoding: try file.closeAfter { try file.readToEnd(atMost: 1 << 16) }, as: UTF8.self)
    } catch {
      throw CommandFailure.unreadable("The file with the \(name) cannot", error, remedy: "Check its name")
    }
    let line = text.split(omittingEmptySubsequences: false, whereSeparator: \.isNewline).first.map(String.init) ?? ""
    guard !line.isEmpty else {
      throw CommandFailure.usage("The \(name) is empty", remedy: "Write it into the first line of the file")
    }
    return line
  }
}

extension Session {
  /// The client for hubs; if this program has none, another one is started in its place.
  var hubClient: any HubClient {
    get throws {
      guard let client = invocation.hubClient else { throw NeedsCompanion(program: .hubClient) }
      return client
    }
  }

  /// The synchronisation of a store, for a command that reaches its place.
  func sync(_ store: TaskStore) throws -> StoreSync {
    let sync = StoreSync(store, connector: invocation.hubClient)
    guard invocation.hubClient == nil else { return sync }
    let isHub = try wait { try await sync.isSetUp ? try await sync.place().isHub : false }
    if isHub { throw NeedsCompanion(program: .hubClient) }
    return sync
  }
}
