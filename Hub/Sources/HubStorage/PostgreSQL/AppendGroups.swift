import Foundation
import Synchronization
import TallySync

/// Lets appends that arrive while others are in progress share a call of the database, and so a transaction and a
/// flush.
///
/// A request that arrives alone is sent at once; those that arrive meanwhile are the next group. A group has at most
/// one request for each space and waits for no lock, and no answer depends on another request. A request that a group
/// leaves without an answer is sent again alone.
final class AppendGroups: Sendable {
  /// The segments of one request.
  struct Request: Sendable {
    let segments: [ReceivedSegment]
    let replica: ReplicaID
    let member: HubMember

    var byteCount: Int { segments.reduce(0) { $0 + $1.bytes.count } }
  }

  fileprivate struct Job {
    let request: Request
    /// The time at which it fails if it was not sent.
    let deadline: ContinuousClock.Instant
    let continuation: CheckedContinuation<[HubAppendAnswer], any Error>
  }

  fileprivate struct State {
    var waiting: [Job] = []
    /// The bytes of the segments that wait.
    var byteCount = 0
    var groupsUnderWay = 0
    /// The spaces of the groups under way: a second request for one of them would find it locked.
    var busySpaces: Set<SpaceID> = []
  }

  private let state = Mutex(State())
  private let pool: PostgreSQLPool

  /// With more groups at once each would be smaller, and the server would do more work for each segment.
  fileprivate static let mostGroups = 2
  /// How many requests a group has at least while another one is under way.
  fileprivate static let leastBesideAnother = 12
  fileprivate static let mostRequests = 64
  fileprivate static let mostBytes = 4 << 20
  /// Requests that wait for a slow database must fit into memory.
  private static let mostWaitingBytes = 128 << 20
  private static let patience = Duration.seconds(5)

  init(through pool: PostgreSQLPool) { self.pool = pool }

  /// Appends segments.
  ///
  /// - Throws: ``HubStoreError``.
  func append(_ request: Request) async throws -> [HubAppendAnswer] {
    try await withCheckedThrowingContinuation { continuation in
      let job = Job(request: request, deadline: .now + Self.patience, continuation: continuation)
      let fits = state.withLock { state in
        guard state.byteCount + request.byteCount <= Self.mostWaitingBytes else { return false }
        state.byteCount += request.byteCount
        state.waiting.append(job)
        return true
      }
      guard fits else {
        continuation.resume(throwing: HubStoreError.unavailable("Too many bytes wait for the database."))
        return
      }
      sendGroups()
    }
  }

  private func sendGroups() {
    while true {
      let (group, overdue) = state.withLock { $0.takeGroup() }
      for job in overdue { job.continuation.resume(throwing: HubStoreError.unavailable("The database is too slow.")) }
      guard !group.isEmpty else { return }
      send(group)
    }
  }

  /// Sends a group, and answers it on the thread of the connection.
  private func send(_ group: [Job]) {
    pool.run(Self.query(group.map(\.request), waits: false)) { [self] answer in
      // This comes first, so that the next group is on its way while these are answered.
      state.withLock { state in
        state.groupsUnderWay -= 1
        state.busySpaces.subtract(group.map(\.request.member.space))
      }
      sendGroups()
      do {
        let answers = try Self.answers(to: group.map(\.request), in: try answer.get())
        for (job, answer) in zip(group, answers) {
          if let answer { job.continuation.resume(with: answer.mapError { $0 as any Error }) } else { sendAlone(job) }
        }
      } catch PostgreSQLFault.disconnected(let reason) {
        for job in group { job.continuation.resume(throwing: HubStoreError.unavailable(reason)) }
      } catch {
        // One of the requests may be at fault, and the transaction has stored none of them.
        for job in group { sendAlone(job) }
      }
    }
  }

  /// Sends a job whose space another transaction has locked, or whose group has failed.
  private func sendAlone(_ job: Job) {
    pool.run(Self.query([job.request], waits: true)) { answer in
      job.continuation.resume(
        with: Result {
          guard let answer = try Self.answers(to: [job.request], in: try answer.get())[0] else {
            throw HubStoreError.unavailable("The space has changed meanwhile.")
          }
          return try answer.get()
        }.mapError { error in (error as? PostgreSQLFault).map { HubStoreError($0) } ?? error })
    }
  }
}

extension AppendGroups.State {
  /// Removes the first jobs, at most one for each space and as many bytes as fit, and the jobs that have waited for too
  /// long.
  fileprivate mutating func takeGroup() -> (group: [AppendGroups.Job], overdue: [AppendGroups.Job]) {
    let least = groupsUnderWay == 0 ? 1 : AppendGroups.leastBesideAnother
    guard groupsUnderWay < AppendGroups.mostGroups, waiting.count >= least else { return ([], []) }
    let now = ContinuousClock.now
    let overdue = Array(waiting.prefix { $0.deadline <= now })
    var (group, rest, groupByteCount) = ([AppendGroups.Job](), [AppendGroups.Job](), 0)
    for job in waiting.dropFirst(overdue.count) {
      let byteCount = groupByteCount + job.request.byteCount
      let fits = group.count < AppendGroups.mostRequests && byteCount <= AppendGroups.mostBytes
      if group.isEmpty || fits, busySpaces.insert(job.request.member.space).inserted {
        group.append(job)
        groupByteCount = byteCount
      } else {
        rest.append(job)
      }
    }
    waiting = rest
    byteCount -= (overdue + group).reduce(0) { $0 + $1.request.byteCount }
    if !group.isEmpty { groupsUnderWay += 1 }
    return (group, overdue)
  }
}

// MARK: - The call

extension AppendGroups {
  private typealias Answer = Result<[HubAppendAnswer], HubStoreError>

  private static func query(_ requests: [Request], waits: Bool) -> PostgreSQLQuery {
    let segments = requests.flatMap(\.segments)
    var count = 0
    let ends = requests.map { request -> Int32 in
      count += request.segments.count
      return Int32(count)
    }
    return PostgreSQLQuery(
      "SELECT * FROM append_segments($1, $2, $3, $4, $5, $6, $7, $8, $9)",
      [
        .bytes([waits ? 1 : 0]),
        .ids(requests.map(\.member.space.bytes)), .ids(requests.map(\.member.id.bytes)),
        .ids(requests.map(\.replica.bytes)), .smallIntegers(ends), .integers(segments.map { Int64($0.number) }),
        .byteStrings(segments.map(\.previousHash)), .byteStrings(segments.map(\.hash)),
        .byteStrings(segments.map(\.bytes)),
      ])
  }

  /// The answer to each request; `nil` for those that the database has left out.
  private static func answers(to requests: [Request], in rows: [PostgreSQLRow]) throws -> [Answer?] {
    var answers: [Answer?] = requests.map { $0.segments.isEmpty ? .success([]) : nil }
    for var row in rows {
      let request = Int(try row.integer()) - 1
      guard answers.indices.contains(request) else { throw RowReader.Damaged() }
      switch try row.integer() {
      case 7: answers[request] = .failure(.noSpace)
      case 8: answers[request] = .failure(.moving)
      case 9: answers[request] = .failure(.tooManyReplicas)
      case let code:
        let answer = try HubAppendAnswer(code, &row)
        answers[request] = .success(((try answers[request]?.get()) ?? []) + [answer])
      }
    }
    return answers
  }
}

extension HubAppendAnswer {
  /// Reads the rest of a row of `append_segments`.
  fileprivate init(_ code: Int64, _ row: inout PostgreSQLRow) throws {
    switch (code, try row.optionalInteger().map { UInt64(bitPattern: $0) }) {
    case (1, let position?): self = .stored(position)
    case (2, let position?): self = .known(position)
    case (3, _): self = .fork
    case (4, let number?): self = .gap(SegmentHead(number: number, digest: try row.bytes()))
    case (5, _): self = .quota
    case (6, _): self = .denied
    default: throw RowReader.Damaged()
    }
  }
}
