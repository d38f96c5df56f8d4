import ArgumentParser
import Foundation
import SystemPackage
import Tally
import TallySync

/// `tally sync`: alone it synchronises now.
struct SyncCommand: SessionCommand {
  static let configuration = CommandConfiguration(
    commandName: "sync",
    abstract: "Keep this store the same as those of other devices, through a shared folder or a hub.",
    usage: "tally sync <subcommand> ...",
    discussion: """
      The folder is one that something else keeps the same on all devices: Syncthing, a network drive, a USB stick. \
      What Tally writes there is encrypted.

      EXAMPLES
        tally sync setup ~/Sync
        tally sync join tally-invite-… --at ~/Sync
        tally sync setup https://hub.example
        tally sync now
        tally sync run --service > ~/.config/systemd/user/tally-sync.service
      """,
    subcommands: withGlobalOptions([
      SyncSetupCommand.self, SyncInviteCommand.self, SyncJoinCommand.self, SyncNowCommand.self, SyncRunCommand.self,
      SyncStatusCommand.self, SyncMembersCommand.self, SyncRoleCommand.self, SyncRevokeCommand.self,
      SyncRecoveryCodeCommand.self, SyncMoveCommand.self, SyncStopCommand.self, SyncLeaveCommand.self,
      SyncDiffCommand.self, SyncApplyCommand.self,
    ])
  )

  func run(in session: Session) throws {
    try SyncNowCommand().run(in: session)
  }
}

/// `tally sync now`.
struct SyncNowCommand: SessionCommand {
  static let configuration = CommandConfiguration(
    "sync now", "Send and fetch changes until nothing is left.",
    discussion: """
      Ends with status 75 if the folder or hub cannot be reached or refuses: nothing is lost, and changes wait. So it does \
      while changes of another device are known to exist and have not arrived: the rest has been exchanged.

      With --plain, a line has these columns: \(SyncReport.columns.joined(separator: ", ")).
      """)

  func run(in session: Session) throws {
    let sync = try session.sync(session.openStore(for: .changing))
    let report = try session.wait { try await sync.synchronize() }
    try session.answer(report.facts, plain: .record(SyncReport.columns)) {
      session.say(report.words)
      for blocked in report.blocked where !blocked.isIncomplete {
        session.report(([blocked.words(session.clock)] + [blocked.remedy].compactMap(\.self)).joined(separator: " "))
      }
      if let words = report.unsentTexts.unsentTextWords { session.report(words) }
      if report.isMassDeletion {
        let trash = try session.wait { try await sync.trash() }
        session.report(report.massDeletionWords(restorableFrom: trash) { session.line(running: $0) })
      }
      if report.conflicts > 0 {
        session.hint(
          "There \(report.conflicts == 1 ? "is" : "are") \(report.conflicts.counted("conflict")). To see, restore or dismiss: \(session.line(running: "conflicts"))"
        )
      }
    }
    if session.options.format != .json { session.printWarnings(after: report) }
    if let failure = CommandFailure(incomplete: report.incomplete, session.clock) { throw failure }
  }
}

/// `tally sync status`.
struct SyncStatusCommand: SessionCommand {
  static let configuration = CommandConfiguration(
    "sync status", "Show when this store last synchronised, and what waits.",
    discussion: "With --plain, a line has these columns: \(SyncStatus.columns.joined(separator: ", ")).")

  func run(in session: Session) throws {
    let status = try session.inSpace { try await $0.status() }
    try session.answer(status.facts, plain: .record(SyncStatus.columns)) {
      for line in lines(of: status, session) { try session.output.write("  \(line)\n") }
      for remedy in Set(status.blocked.compactMap(\.remedy)).sorted() { session.hint(remedy) }
      if let words = status.unsentTexts.unsentTextWords { session.report(words) }
    }
    if session.options.format != .json { for words in status.clocks.words { session.report(words) } }
  }

  private func lines(of status: SyncStatus, _ session: Session) -> [String] {
    let name = { (time: Timestamp?) in time.map(session.clock.relativeName) ?? "never" }
    let waiting = status.oldestPending.map { "\(status.pending.counted("change")), since \(name($0))" } ?? "nothing"
    let others = status.members.map { member in
      "\(status.members.label(of: member, besides: status.name).escapedForDisplay()), last change \(name(member.lastSeen))"
        + (member.behind > 0 ? ", \(member.behind.counted("segment")) not merged" : "")
        + (member.isRevoked ? ", revoked" : member.isFormer ? ", a former identity" : "")
    }
    return [
      "\(SyncPlace(status.place).isHub ? "Hub   " : "Folder")         \(status.place.escapedForDisplay())\(status.isStopped ? " (stopped)" : "")",
      "This device    \(status.name.escapedForDisplay())\(status.isRevoked ? " (revoked)" : "")",
      "Last sent      \(name(status.lastSent))",
      "Last received  \(name(status.lastReceived))", "Waiting        \(waiting)",
      "Conflicts      \(status.conflicts)",
    ]
      + (status.isRecoveryCodeOutdated
        ? ["Recovery code  outdated: 'tally sync recovery-code' shows the new one"] : [])
      + (status.refused.map { ["Refused        \($0.escapedForDisplay())"] } ?? [])
      + others.map { "Device         \($0)" } + status.blocked.map { $0.words(session.clock) }
  }
}

/// `tally sync stop`.
struct SyncStopCommand: SessionCommand {
  static let configuration = CommandConfiguration(
    "sync stop", "Stop synchronising until the next 'tally sync now'; changes wait.")

  func run(in session: Session) throws {
    try session.inSpace { try await $0.stop() }
    try session.answer(["stopped": .flag(true)], plain: .record(["stopped"])) {
      session.say("Stopped. Changes wait until you run 'tally sync now'.")
    }
  }
}

/// `tally sync run`.
struct SyncRunCommand: SessionCommand {
  static let configuration = CommandConfiguration(
    "sync run", "Keep synchronising until stopped.",
    usage: """

      --service
      """,
    discussion: """
      Sends a change within a second and fetches those of others as they arrive. Prints a line for each exchange that did \
      something; with --json, an object on a line of its own.

      --service prints a unit for systemd, or a property list for launchd, which starts this command when you log in.
      """)

  @Flag(help: "Print what starts this command when you log in, and do nothing else.")
  var service = false

  func run(in session: Session) throws {
    if service {
      let agent = BackgroundService(running: ["sync", "run"], description: "Synchronisation of tally", in: session)
      return try session.output.write(agent.text)
    }
    var configuration = session.configuration
    // This runs for days, so it needs a clock that moves.
    if session.options.now == nil { configuration.now = { .now() } }
    configuration.createsIfMissing = false
    configuration.makesLog = true
    let sync = try session.sync(TaskStore(at: session.storePath, configuration: configuration))
    let printer = EventPrinter(session)
    do {
      try session.wait { try await sync.run { printer.report($0) } }
    } catch let error as TallyError where error.code == .syncUnreachable {
      // The space may have moved to a hub, which another program reaches.
      _ = try session.sync(sync.store)
      throw error
    } catch is CancellationError {
      throw CommandFailure(.interrupted, code: "interrupted", "Interrupted", remedy: "Start it again")
    }
  }
}

/// Prints the events of the agent, which may come from any thread.
private final class EventPrinter: @unchecked Sendable {
  // Used by the agent's task alone while it runs: the thread of the session waits.
  private let session: Session
  /// The replicas that were blocked after the last exchange; they are printed only when they change.
  private var blocked: [BlockedReplica] = []

  init(_ session: Session) { self.session = session }

  func report(_ event: SyncEvent) {
    switch event {
    case .synchronized(let report):
      guard report.sent + report.received > 0 || report.blocked != blocked else { return }
      let words = report.blocked == blocked ? [] : report.blocked.map { $0.words(session.clock) }
      blocked = report.blocked
      write(report.facts.adding(["event": .text("synchronised")]), ([report.words] + words).joined(separator: "\n"))
      if let words = report.unsentTexts.unsentTextWords, session.options.format != .json { write([:], words + ".") }
      guard report.isMassDeletion else { return }
      write(
        ["event": .text("massDeletion"), "tasks": .count(report.deletedTaskIDs.count)],
        "\(report.deletedTaskIDs.count.counted("task")) were deleted on another device. See them: \(session.line(running: "trash"))"
      )
    case .failed(let error, let seconds):
      write(
        ["event": .text("failed"), "code": .text("\(error.code)"), "retryInSeconds": .integer(Int64(seconds))],
        "\(error.message). Trying again in \(Int(seconds)) s.")
    case .stopped:
      write(["event": .text("stopped")], "Stopped. 'tally sync now' starts it again.")
    }
  }

  private func write(_ facts: Facts, _ words: String) {
    _ = try? session.output.write(session.options.format == .json ? facts.json : Array((words + "\n").utf8))
    try? session.output.flush()
  }
}

/// `tally sync diff`.
struct SyncDiffCommand: SessionCommand {
  static let configuration = CommandConfiguration(
    "sync diff", "Write all that this store knows into a sealed file, for another store of the space.",
    usage: "<file> [--from <file>]",
    discussion: """
      For stores that share no folder any more; both are in the space. The other one takes the file with 'tally sync \
      apply'. With --from, name a file that the other store wrote: only what it lacks is written.

      With --plain, a line has these columns: file, objects.
      """)

  @Argument(help: ArgumentHelp("The file to write.", valueName: "file"))
  var file: String

  @Option(help: ArgumentHelp("A file that the other store has written.", valueName: "file"))
  var from: String?

  func validate() throws {
    if file == "-" { throw ValidationError("Name a file: the difference is not text.") }
  }

  func run(in session: Session) throws {
    let count = try session.inSpace { [file, from] in
      try await $0.writeDifference(to: FilePath(file), from: from.map { FilePath($0) })
    }
    try session.answer(["file": .text(file), "objects": .count(count)], plain: .record(["file", "objects"])) {
      session.say("Wrote \(count.counted("object")) to \(file.escapedForDisplay()).")
    }
  }
}

/// `tally sync apply`.
struct SyncApplyCommand: SessionCommand {
  static let configuration = CommandConfiguration(
    "sync apply", "Merge a file that 'tally sync diff' has written in another store of the space.", usage: "<file>",
    discussion: """
      Applying a file again, or an old one, changes nothing.

      With --plain, a line has this column: objects.
      """)

  @Argument(help: ArgumentHelp("The file to merge.", valueName: "file"))
  var file: String

  func run(in session: Session) throws {
    let count = try session.inSpace { [file] in try await $0.apply(FilePath(file)) }
    try session.answer(["objects": .count(count)], plain: .record(["objects"])) {
      session.say(count > 0 ? "Merged \(count.counted("object"))." : "Nothing in it was new.")
    }
  }
}

extension SyncReport {
  static let columns = ["sent", "received", "pending", "conflicts"]

  /// Members that are rarely needed are present only if they say something.
  var facts: Facts {
    var facts: Facts = [
      "sent": .count(sent), "received": .count(received), "pending": .count(pending), "conflicts": .count(conflicts),
      "blocked": .array(blocked.map(\.facts)),
    ]
    if !clocks.isEmpty { facts = facts.adding([.init("clocks", onlyIn: .json): .array(clocks.map(\.facts))]) }
    if !listsOfOneName.isEmpty {
      let groups = listsOfOneName.map { Facts.array($0.map(\.facts)) }
      facts = facts.adding([.init("listsOfOneName", onlyIn: .json): .array(groups)])
    }
    if !unsentTexts.isEmpty { facts = facts.adding(["tooLarge": .count(unsentTexts.count)]) }
    return facts
  }

  /// The event, in words.
  var words: String {
    var parts: [String] = []
    if sent > 0 { parts.append("sent \(sent.counted("change"))") }
    if received > 0 { parts.append("received \(received.counted("change"))") }
    let nothing = blocked.isEmpty ? "Up to date" : "Nothing new"
    let text = parts.isEmpty ? nothing : parts.joined(separator: ", ").withCapital
    return text + (pending > 0 ? "; \(pending.counted("change")) waiting" : "") + "."
  }
}

extension SyncReport {
  /// The message for the case that others have deleted most of the tasks.
  ///
  /// - Parameters:
  ///   - trash: The items that can be restored.
  ///   - line: Returns the line that runs a command on the same store.
  /// - Returns: The words.
  func massDeletionWords(restorableFrom trash: [DeletedItem], _ line: (String) -> String) -> String {
    let deleted = Set(deletedTaskIDs)
    let first = trash.filter { deleted.contains($0.id) }.compactMap(\.noticedAt).min()
    let remedy = first.map { " To restore them: \(line("trash restore --since \($0)"))" } ?? ""
    return "\(deleted.count.counted("task")) were deleted on another device.\(remedy)"
  }
}

extension [String] {
  /// The message about tasks and lists with a text that is too large to be sent; `nil` if there are none.
  var unsentTextWords: String? {
    guard let first else { return nil }
    let name = (first.count > 40 ? first.prefix(40) + "\u{2026}" : first).escapedForDisplay()
    let others = count > 1 ? " and \((count - 1).counted("other"))" : ""
    return "\u{201C}\(name)\u{201D}\(others): a text of more than 7 MiB is not sent to other devices. Shorten it"
  }
}

extension BlockedReplica {
  var facts: Facts {
    [
      "replica": .text(replica.description), "name": .text(name), "reason": .text(reason), "remedy": .text(remedy),
      "since": .instant(since), "isIncomplete": .flag(isIncomplete),
      "missing": .array(missing.map(\.facts)),
    ]
  }

  /// The name of the device, or the start of its id.
  var shownName: String { name.map { $0.escapedForDisplay() } ?? "the device \(replica.description.prefix(8))" }

  /// The device that is blocked, since when and why, without the remedy.
  func words(_ clock: LocalClock) -> String {
    let time = since.map { ", since \(clock.relativeName(of: $0))" } ?? ""
    return "\(isIncomplete ? "Incomplete: " : "Blocked: ")\(shownName)\(time): \(reason.escapedForDisplay())"
  }
}

extension ClosedRange<UInt64> {
  fileprivate var facts: Facts {
    ["first": .integer(Int64(clamping: lowerBound)), "last": .integer(Int64(clamping: upperBound))]
  }
}

extension CommandFailure {
  /// The failure, if changes of other devices are known to exist and have not arrived; otherwise `nil`.
  init?(incomplete: [BlockedReplica], _ clock: LocalClock) {
    guard let first = incomplete.first else { return nil }
    let devices = incomplete.map { blocked in
      let time = blocked.since.map { " (since \(clock.relativeName(of: $0)))" } ?? ""
      // A name is not capitalised.
      let device = blocked.name == nil ? blocked.shownName.withCapital : blocked.shownName
      return "\(device)\(time): \(blocked.reason.escapedForDisplay())"
    }
    let words = "Changes of \(incomplete.count.counted("device")) are missing. " + devices.joined(separator: " ")
    self.init(
      .busy, code: "syncIncomplete", words.withoutFullStop,
      remedy: (first.remedy ?? "Synchronise again when they are there").withoutFullStop)
  }
}

extension SyncStatus.Member {
  static let columns = [
    "replica", "name", "lastSeen", "behind", "code", "isRevoked", "isFormer", "handle", "successor",
  ]

  var facts: Facts {
    [
      "replica": .text(replica.description), "name": .text(name), "lastSeen": .instant(lastSeen),
      "behind": .count(behind), "isRevoked": .flag(isRevoked), "isFormer": .flag(isFormer),
      "handle": .text(handle), "successor": .text(successor?.description),
    ]
  }

  /// With the six digits, which the status does not repeat.
  var factsWithCode: Facts { facts.adding(["code": .text(code)]) }

  /// The six digits, as people read them.
  var shownCode: String? { code.map { "\($0.prefix(3)) \($0.suffix(3))" } }
}

extension SyncStatus {
  static let columns = [
    "space", "replica", "at", "lastSent", "lastReceived", "pending", "oldestPending", "conflicts", "tooLarge",
    "needsUpgrade", "stateHash", "isRevoked", "incomplete",
  ]

  var facts: Facts {
    [
      "space": .text(space.description), "replica": .text(replica.description), "name": .text(name),
      "at": .text(place), "isStopped": .flag(isStopped), "isRevoked": .flag(isRevoked), "lastSent": .instant(lastSent),
      "lastReceived": .instant(lastReceived), "refused": .text(refused), "pending": .count(pending),
      "oldestPending": .instant(oldestPending),
      "replicas": .array(members.map(\.facts)), "blocked": .array(blocked.map(\.facts)),
      "conflicts": .count(conflicts), "tooLarge": .count(tooLarge), "needsUpgrade": .flag(needsUpgrade),
      "stateHash": .text(stateHash), "isRecoveryCodeOutdated": .flag(isRecoveryCodeOutdated),
      .init("clocks", onlyIn: .json): .array(clocks.map(\.facts)),
      "incomplete": .count(blocked.count(where: \.isIncomplete)),
    ]
  }
}

extension Conflict {
  static let columns = ["id", "taskID", "listID", "field", "lost", "lostAt", "wonAt"]

  var facts: Facts {
    [
      "id": .integer(Int64(clamping: id)), "taskID": .id(isList ? nil : objectID),
      "listID": .id(isList ? objectID : nil), .init("isSeries", onlyIn: .json): .flag(isSeries),
      "field": .text(field), "lost": .text(lost), "lostReplica": .text(lostReplica.description),
      "lostAt": .instant(lostAt), "winningReplica": .text(winningReplica.description), "wonAt": .instant(wonAt),
      "noticedAt": .instant(noticedAt),
    ]
  }
}

extension DeletedItem {
  static let columns = ["handle", "kind", "deletedAt", "title", "id"]

  func facts(handle: String) -> Facts {
    [
      "id": .id(id), "handle": .text(handle), "kind": .text(isList ? "list" : "task"), "title": .text(name),
      "deletedAt": .instant(deletedAt),
    ]
  }
}

extension String {
  fileprivate var withCapital: String { prefix(1).uppercased() + dropFirst() }
  fileprivate var withoutFullStop: String { hasSuffix(".") ? String(dropLast()) : self }
}
