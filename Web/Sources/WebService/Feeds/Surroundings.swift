import Foundation
import Logging
import Tally

/// The parts of a page beside its rows, and the progress of the store, for the events `places`, `agenda` and `stale`.
///
/// They are read after commits, once for a burst of them, and only while a browser shows them.
actor Surroundings {
  /// Numbers that differ where the contents do; they mean nothing to another run of the program.
  struct State: Hashable, Sendable {
    let places: String
    /// `nil` if nobody shows it.
    let agenda: String?
    /// The commit and the day, for screens that are read again after any change.
    let store: String
  }

  /// The shortest time between two looks; they take at most a tenth of one processor, however large the store is.
  static let shortestPause: Duration = .milliseconds(150)

  private let store: TaskStore
  private let rules: DayRules
  private let logger: Logger
  private var last: State?
  private var lastMinute: Int64 = 0
  private var lookTime = Duration.zero
  private var isLookPlanned = false
  private var listeners = Listeners()
  private var agendaListenerCount = 0

  init(_ store: TaskStore, by rules: DayRules, logger: Logger) {
    (self.store, self.rules, self.logger) = (store, rules, logger)
  }

  var isUsed: Bool { !listeners.isEmpty }

  /// Wakes a stream when something has changed, until the stream ends.
  func listen(_ continuation: Listeners.Continuation, forAgenda showsAgenda: Bool) {
    if showsAgenda { agendaListenerCount += 1 }
    listeners.add(continuation) { id in Task { await self.stopListening(id, forAgenda: showsAgenda) } }
  }

  private func stopListening(_ id: Int, forAgenda showsAgenda: Bool) {
    listeners.remove(id)
    if showsAgenda { agendaListenerCount -= 1 }
  }

  /// Ends all streams.
  func end() { listeners.end() }

  /// The state of the last look, or the present one.
  func state(withAgenda showsAgenda: Bool, isFresh: Bool) throws -> State {
    if !isFresh, let last, last.agenda != nil || !showsAgenda { return last }
    return try look(withAgenda: showsAgenda)
  }

  /// Looks now, and wakes all streams if something has changed.
  private func look(withAgenda showsAgenda: Bool) throws -> State {
    let start = ContinuousClock.now
    let needsAgenda = showsAgenda || agendaListenerCount > 0
    let state = try store.read(by: rules) { transaction in
      State(
        places: try Places(transaction).version, agenda: needsAgenda ? try AgendaContent(transaction).version : nil,
        store: try Self.version(transaction))
    }
    lookTime = start.duration(to: .now)
    if state != last { listeners.wake() }
    last = state
    return state
  }

  /// The version of the whole store, as a page has it.
  static func version(_ transaction: borrowing StoreReadTransaction) throws -> String {
    "\(try transaction.position.text)/\(transaction.today.iso8601)"
  }

  /// Looks soon after a commit, and after each minute, because time alone makes tasks overdue.
  func noteNews(ofCommit isCommit: Bool) {
    let minute = Int64(Date.now.timeIntervalSince1970 / 60)
    guard isCommit || minute != lastMinute, !isLookPlanned else { return }
    lastMinute = minute
    isLookPlanned = true
    Task {
      try? await Task.sleep(for: max(Self.shortestPause, lookTime * 10))
      lookAgain()
    }
  }

  private func lookAgain() {
    isLookPlanned = false
    guard isUsed else { return }
    do {
      _ = try look(withAgenda: false)
    } catch {
      logger.error("The places could not be counted: \(error)")
      listeners.end()
    }
  }
}

extension Hashable {
  /// A text that differs where values do, in this run of the program.
  var version: String { String(UInt(bitPattern: hashValue), radix: 36) }
}
