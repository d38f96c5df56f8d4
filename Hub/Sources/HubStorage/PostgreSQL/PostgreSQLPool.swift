import Foundation
import Synchronization

/// Connections to one database, each with a thread of its own.
///
/// A thread that finds several statements sends them at once.
final class PostgreSQLPool: Sendable {
  private struct Job {
    let query: PostgreSQLQuery
    /// The time at which it fails if no connection has sent it.
    let deadline: ContinuousClock.Instant
    let answer: @Sendable (PostgreSQLConnection.Answer) -> Void

    var byteCount: Int { query.parameters.reduce(0) { $0 + $1.byteCount } }
  }

  private struct State {
    var jobs: [Job] = []
    /// The bytes of the parameters of all jobs.
    var byteCount = 0
    var isClosed = false
    /// The fault of the last attempt to connect.
    var fault: PostgreSQLFault?
    /// The number of threads with a connection, and of those that wait for an answer.
    var connected = 0
    var busy = 0
  }

  private let state = Mutex(State())
  /// Counts jobs; a thread that wakes and finds none waits again.
  private let wake = DispatchSemaphore(value: 0)
  private let ended = DispatchGroup()
  private let address: String
  private let count: Int

  private static let mostAtOnce = 16
  /// Statements that wait for a slow database must fit into memory.
  private static let mostBytes = 256 << 20
  private static let patience = Duration.seconds(5)

  init(to address: String, count: Int) {
    (self.address, self.count) = (address, count)
    for _ in 0..<count {
      ended.enter()
      Thread.detachNewThread { [self] in
        serve()
        ended.leave()
      }
    }
  }

  /// Runs a statement, as a transaction of its own.
  ///
  /// - Throws: ``PostgreSQLFault``.
  func run(_ query: PostgreSQLQuery) async throws -> [PostgreSQLRow] {
    try await withCheckedThrowingContinuation { continuation in
      run(query) { continuation.resume(with: $0.mapError { $0 as any Error }) }
    }
  }

  /// Runs a statement, as a transaction of its own.
  ///
  /// - Parameters:
  ///   - query: The statement.
  ///   - answer: Called once, on the thread of a connection or at once; it must not block.
  func run(_ query: PostgreSQLQuery, _ answer: @escaping @Sendable (PostgreSQLConnection.Answer) -> Void) {
    let job = Job(query: query, deadline: .now + Self.patience, answer: answer)
    let refusal = state.withLock { state -> String? in
      if state.isClosed { return "The store is closed." }
      let byteCount = state.byteCount + job.byteCount
      if byteCount > Self.mostBytes { return "Too many bytes wait for the database." }
      state.byteCount = byteCount
      state.jobs.append(job)
      return nil
    }
    if let refusal {
      answer(.failure(.disconnected(refusal)))
    } else {
      wake.signal()
    }
  }

  /// The gauges that an operator watches.
  var gauges: [String: Double] {
    state.withLock { state in
      [
        "tally_hub_database_connections": Double(state.connected),
        "tally_hub_database_connections_busy": Double(state.busy),
        "tally_hub_database_connections_wanted": Double(count),
        "tally_hub_database_waiting": Double(state.jobs.count),
        "tally_hub_database_waiting_bytes": Double(state.byteCount),
      ]
    }
  }

  /// Ends the connections after the calls that were made are answered.
  func close() {
    state.withLock { $0.isClosed = true }
    for _ in 0..<count { wake.signal() }
    ended.wait()
  }

  // MARK: Threads

  private func serve() {
    var connection: PostgreSQLConnection?
    var failures = 0
    while true {
      wake.wait()
      let (jobs, isClosed) = takeJobs()
      if jobs.isEmpty {
        if isClosed { return }
        continue
      }
      if connection?.hasEnded == true { disconnect(&connection) }
      if connection == nil { connection = connect(&failures) }
      guard let open = connection else {
        giveBack(jobs)
        continue
      }
      state.withLock { $0.busy += 1 }
      let answers = open.run(jobs.map(\.query))
      state.withLock { $0.busy -= 1 }
      if answers.contains(where: Self.endsConnection) { disconnect(&connection) }
      for (job, answer) in zip(jobs, answers) {
        job.answer(answer)
      }
    }
  }

  private func takeJobs() -> ([Job], isClosed: Bool) {
    let (overdue, taken, isClosed) = state.withLock { state in
      let now = ContinuousClock.now
      let overdue = Array(state.jobs.prefix { $0.deadline <= now })
      state.jobs.removeFirst(overdue.count)
      let taken = Array(state.jobs.prefix(min(Self.mostAtOnce, max(1, state.jobs.count / count))))
      state.jobs.removeFirst(taken.count)
      state.byteCount -= (overdue + taken).reduce(0) { $0 + $1.byteCount }
      return (overdue, taken, state.isClosed)
    }
    for job in overdue {
      job.answer(.failure(.disconnected("The database is too slow.")))
    }
    return (taken, isClosed)
  }

  /// Connects, after a pause that grows with each failure.
  private func connect(_ failures: inout Int) -> PostgreSQLConnection? {
    if failures > 0 { Thread.sleep(forTimeInterval: min(1, 0.05 * Double(1 << min(failures, 5)))) }
    do {
      let connection = try PostgreSQLConnection(to: address)
      failures = 0
      state.withLock { $0.connected += 1 }
      return connection
    } catch {
      failures += 1
      state.withLock { $0.fault = error }
      return nil
    }
  }

  private func disconnect(_ connection: inout PostgreSQLConnection?) {
    connection = nil
    state.withLock { $0.connected -= 1 }
  }

  /// Lets another thread or a later attempt run jobs that were not sent, unless their time is over.
  private func giveBack(_ jobs: [Job]) {
    let (overdue, fault) = state.withLock { state in
      let rest = jobs.filter { $0.deadline > .now && !state.isClosed }
      state.jobs.insert(contentsOf: rest, at: 0)
      state.byteCount += rest.reduce(0) { $0 + $1.byteCount }
      return (jobs.filter { $0.deadline <= .now || state.isClosed }, state.fault)
    }
    for job in overdue {
      job.answer(.failure(fault ?? .disconnected("The database is not connected.")))
    }
    for _ in 0..<(jobs.count - overdue.count) { wake.signal() }
  }

  /// Whether the server has ended the connection, or cannot write any more, as after a failover.
  private static func endsConnection(_ answer: PostgreSQLConnection.Answer) -> Bool {
    switch answer {
    case .success: false
    case .failure(.disconnected): true
    case .failure(.refused(let code, _)): code.hasPrefix("57P") || code.hasPrefix("08") || code == "25006"
    }
  }
}
