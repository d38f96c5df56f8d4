import ArgumentParser
import Foundation
import Tally
import TallySync

/// `tally sync run`.
struct SyncRunCommand: SessionCommand {
  static let configuration = CommandConfiguration(
    commandName: "run",
    abstract: "Keep synchronising until stopped.",
    usage: """
      tally sync run [<options>]
      tally sync run --service [<options>]
      """,
    discussion: """
      Sends a change within a second and fetches those of others as they arrive. Prints a line for each exchange that did \
      something; with --json, an object on a line of its own.

      --service prints a unit for systemd, or a property list for launchd, which starts this command when you log in.
      """
  )

  @Flag(help: "Print what starts this command when you log in, and do nothing else.")
  var service = false

  func run(in session: Session) throws {
    if service {
      let agent = BackgroundService(running: ["sync", "run"], description: "Synchronisation of tally", in: session)
      return try session.output.write(agent.text)
    }
    var configuration = session.configuration
    // This runs for days: its clock must go on.
    if session.options.now == nil { configuration.now = { .now() } }
    configuration.createsIfMissing = false
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

/// Prints what the agent reports, from whichever thread.
private final class EventPrinter: @unchecked Sendable {
  // Used by the agent's task alone while it runs: the thread of the session waits.
  private let session: Session
  /// The replicas that were blocked after the last exchange; they are printed only when they change.
  private var blocked: [BlockedReplica] = []

  init(_ session: Session) { self.session = session }

  func report(_ event: SyncEvent) {
    switch event {
    case .synchronised(let report):
      guard report.sent + report.received > 0 || report.blocked != blocked else { return }
      let words = report.blocked == blocked ? [] : report.blocked.map { $0.words(session.clock) }
      blocked = report.blocked
      write(report.facts.adding(["event": .text("synchronised")]), ([report.words] + words).joined(separator: "\n"))
      if let words = report.unsentTexts.unsentTextWords, session.options.format != .json { write([:], words + ".") }
      guard report.isMassDeletion else { return }
      write(
        ["event": .text("massDeletion"), "tasks": .count(report.deletedTaskIDs.count)],
        "\(report.deletedTaskIDs.count.counted("task")) were deleted on another device. See them: tally trash")
    case .failed(let error, let seconds):
      write(
        ["event": .text("failed"), "code": .text("\(error.code)"), "retryInSeconds": .integer(Int64(seconds))],
        "\(error.message). Trying again in \(Int(seconds)) s.")
    case .stopped:
      write(["event": .text("stopped")], "Stopped. 'tally sync now' starts it again.")
    }
  }

  private func write(_ facts: Facts, _ words: String) {
    _ = try? session.output.write(session.options.format == .json ? facts.json.onOneLine : Array((words + "\n").utf8))
    try? session.output.flush()
  }
}

extension [UInt8] {
  /// JSON without line breaks and indentation, which strings in it never have.
  fileprivate var onOneLine: [UInt8] {
    split(separator: UInt8(ascii: "\n")).flatMap { $0.drop { $0 == UInt8(ascii: " ") } } + [UInt8(ascii: "\n")]
  }
}
