import Synchronization
public import Tally

/// An event of the agent that synchronises a store.
public enum SyncEvent: Sendable {
  /// It has exchanged changes, or found nothing to exchange.
  case synchronised(SyncReport)
  /// It has failed, and tries again after a number of seconds.
  case failed(TallyError, retryInSeconds: Double)
  /// Synchronisation was stopped; it resumes at the next synchronisation.
  case stopped
}

extension StoreSync {
  /// Synchronises whenever something changes, here or at the place, until the task is cancelled.
  ///
  /// Local changes are sent a moment after the last commit, at most a second after the first. After a failure it tries again
  /// after one second, then after twice the time, up to 30 seconds; at once when the place changes. What the place refuses is tried
  /// again after five seconds, then after twice the time, up to five minutes, or when the place says; at once when it has something
  /// new, or somebody has synchronised the store.
  ///
  /// - Parameter report: Receives what happened.
  /// - Throws: `TallyError` with `notSynchronising` or `deviceRevoked`; what the store throws.
  public func run(_ report: @Sendable (SyncEvent) -> Void) async throws {
    while true {
      let connection = try await connect()
      do {
        return try await run(through: connection, report)
      } catch is PlaceChanged {
        // The store has moved to another place or joined another space: the agent continues there.
      }
    }
  }

  /// Runs with one transport for exchanges and waits: what the last exchange has seen does not end a wait.
  private func run(through connection: Connection, _ report: @Sendable (SyncEvent) -> Void) async throws {
    let (wakes, wake) = AsyncThrowingStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
    try await withThrowingTaskGroup(of: Void.self) { group in
      group.addTask { await Self.reporting(to: wake) { try await followStore(wake) } }
      let news = News()
      group.addTask { await Self.reporting(to: wake) { try await followPlace(of: connection, news, wake) } }
      wake.yield()
      var (failures, wasStopped) = (0, false)
      var refusedUntil: ContinuousClock.Instant?
      var retry: Task<Void, any Error>?
      defer { retry?.cancel() }
      for try await _ in wakes {
        try Task.checkCancellation()
        let isNews = news.take()
        if !isNews, try isRefused(until: refusedUntil) { continue }
        let (event, seconds) = try await exchangeOnce(through: connection, failures: failures)
        if case .failed = event { failures += 1 } else { failures = 0 }
        refusedUntil = event.isRefusal ? seconds.map { .now + .seconds($0) } : nil
        retry?.cancel()
        retry = seconds.map { seconds in
          Task {
            try await Task.sleep(for: .seconds(seconds))
            wake.yield()
          }
        }
        let isStopped = if case .stopped = event { true } else { false }
        if !isStopped || !wasStopped { report(event) }
        wasStopped = isStopped
      }
      group.cancelAll()
    }
    try Task.checkCancellation()
  }

  /// Whether what the place has refused shall not be tried again yet; others may have synchronised the store meanwhile.
  private func isRefused(until end: ContinuousClock.Instant?) throws -> Bool {
    guard let end, end > .now else { return false }
    return try store.readSynchronization { try $0.requireSyncSettings().refused != nil }
  }

  private typealias Wake = AsyncThrowingStream<Void, any Error>.Continuation

  /// Runs a body; its error ends the agent.
  private static func reporting(to wake: Wake, _ body: () async throws -> Void) async {
    do {
      try await body()
    } catch {
      wake.finish(throwing: error)
    }
  }

  /// Exchanges once.
  ///
  /// - Returns: What happened, and after how many seconds to exchange again although nothing changes.
  private func exchangeOnce(
    through connection: Connection, failures: Int
  ) async throws -> (event: SyncEvent, retryInSeconds: Double?) {
    if try store.readSynchronization({ try $0.requireSyncSettings().isStopped }) { return (.stopped, nil) }
    do {
      let exchange = try await exchange(through: connection)
      return (.synchronised(exchange.report), exchange.isUnfinished ? 30 : nil)
    } catch let error as TallyError where Self.retriedCodes.contains(error.code) {
      let seconds = min(30, Double(1 << min(failures, 5)))
      return (.failed(error, retryInSeconds: seconds), seconds)
    } catch let error as TallyError where error.code == .syncRefused {
      let seconds = Self.secondsAfterRefusal(error.refusal, failures: failures)
      return (.failed(error, retryInSeconds: seconds), seconds)
    }
  }

  /// After how many seconds to ask a place again that has refused, and has done so some times before.
  static func secondsAfterRefusal(_ refusal: SyncRefusal?, failures: Int) -> Double {
    refusal?.retryInSeconds ?? min(300, 5 * Double(1 << min(failures, 6)))
  }

  /// What passes without anybody doing something here; another device may send the missing key.
  private static let retriedCodes: [TallyError.Code] = [
    .syncUnreachable, .syncBusy, .storeBusy, .diskFull, .spaceKeyMissing,
  ]

  /// Wakes the agent after local commits, when none follows for a moment.
  private func followStore(_ wake: Wake) async throws {
    for try await _ in try store.changes() {
      try await Task.sleep(for: .milliseconds(150))
      wake.yield()
    }
  }

  /// Wakes the agent when the place changes, and once an hour: an agent with nothing to do writes nothing.
  ///
  /// It also notices within a minute that the store has moved to another place.
  private func followPlace(of connection: Connection, _ news: News, _ wake: Wake) async throws {
    var (lastWake, refusals) = (ContinuousClock.now, 0)
    while !Task.isCancelled {
      var isChanged = true
      do {
        isChanged = try await connection.transport.waitForChanges(seconds: 60)
        if isChanged { news.note() }
        refusals = 0
      } catch let error as CancellationError {
        throw error
      } catch {
        // It cannot be reached, or refuses: the exchange says so.
        let refusal = (error as? any SyncTransportError)?.refusal
        let seconds = refusal.map { Self.secondsAfterRefusal($0, failures: refusals) } ?? 5
        refusals = refusal == nil ? 0 : refusals + 1
        try await Task.sleep(for: .seconds(seconds))
      }
      if !isChanged { isChanged = try await spaceAndPlace() != (connection.space, connection.place) }
      guard isChanged || lastWake + .seconds(3_600) < .now else { continue }
      lastWake = .now
      wake.yield()
    }
  }
}

/// Whether the place has something new, which is fetched even while it refuses what this store sends.
private final class News: Sendable {
  // True at first: the first exchange always happens.
  private let isThere = Atomic(true)

  func note() { isThere.store(true, ordering: .relaxed) }

  func take() -> Bool { isThere.exchange(false, ordering: .relaxed) }
}

extension SyncEvent {
  fileprivate var isRefusal: Bool { if case .failed(let error, _) = self { error.code == .syncRefused } else { false } }
}
