import Foundation
import Synchronization
import TallySync

/// The announcements between hubs of one database: which spaces have changed (`LISTEN`, `NOTIFY`).
///
/// One thread with one connection sends at most every 20 ms. It does so outside of the transactions that append, since
/// a `NOTIFY` inside them takes a lock on the whole server at the commit. An announcement may be lost with the
/// connection.
///
/// Source: PostgreSQL, `src/backend/commands/async.c`, `PreCommit_Notify`.
final class ChangeAnnouncements: Sendable {
  private struct State {
    var changed: Set<SpaceID> = []
    var report: (@Sendable ([SpaceID]) -> Void)?
    var isClosed = false
  }

  private let state = Mutex(State())
  private let address: String
  private let ended = DispatchGroup()
  /// A pipe; a byte in it ends the thread's wait.
  private let (reading, writing): (Int32, Int32)

  private static let pauseInMicroseconds: UInt32 = 20_000
  private static let channel = "tally_hub"
  /// Each id has 32 digits and a comma; a payload has less than 8,000 bytes.
  private static let mostInOnePayload = 200

  init(through address: String) {
    self.address = address
    var ends: [Int32] = [-1, -1]
    _ = pipe(&ends)
    (reading, writing) = (ends[0], ends[1])
    for end in ends { _ = fcntl(end, F_SETFL, O_NONBLOCK) }
    ended.enter()
    Thread.detachNewThread { [self] in
      serve()
      ended.leave()
    }
  }

  deinit {
    _ = Foundation.close(reading)
    _ = Foundation.close(writing)
  }

  /// Announces a change soon.
  func announce(_ space: SpaceID) {
    if state.withLock({ $0.changed.insert(space).inserted && $0.changed.count == 1 }) { wake() }
  }

  /// Reports what others announce until the task is cancelled.
  func follow(_ report: @escaping @Sendable ([SpaceID]) -> Void) async {
    state.withLock { $0.report = report }
    while !Task.isCancelled { try? await Task.sleep(for: .seconds(3_600)) }
    state.withLock { $0.report = nil }
  }

  func close() {
    state.withLock { $0.isClosed = true }
    wake()
    ended.wait()
  }

  private func wake() { _ = write(writing, [1], 1) }

  private var isClosed: Bool { state.withLock { $0.isClosed } }

  // MARK: The thread

  private func serve() {
    while !isClosed {
      do throws(PostgreSQLFault) {
        let connection = try PostgreSQLConnection(to: address)
        try connection.execute("LISTEN \(Self.channel)")
        while !isClosed { try turn(connection) }
      } catch {
        wait(for: [], milliseconds: 500)
      }
    }
  }

  private func turn(_ connection: PostgreSQLConnection) throws(PostgreSQLFault) {
    // This comes before the wait, since an earlier connection or statement may have left something.
    guard try !pass(through: connection) else {
      usleep(Self.pauseInMicroseconds)
      return
    }
    wait(for: [connection.socket], milliseconds: 60_000)
  }

  /// Reports changes of others, and announces those of this hub.
  ///
  /// - Returns: Whether there were any.
  private func pass(through connection: PostgreSQLConnection) throws(PostgreSQLFault) -> Bool {
    let others = try connection.notifications().flatMap { $0.split(separator: ",").compactMap { SpaceID(String($0)) } }
    if !others.isEmpty { state.withLock { $0.report }?(others) }
    let changed = state.withLock { state in
      defer { state.changed = [] }
      return Array(state.changed)
    }
    for start in stride(from: 0, to: changed.count, by: Self.mostInOnePayload) {
      let payload = changed[start...].prefix(Self.mostInOnePayload).map(\.description).joined(separator: ",")
      try connection.execute("NOTIFY \(Self.channel), '\(payload)'")
    }
    return !(others.isEmpty && changed.isEmpty)
  }

  /// Waits for a call of `wake` or for the sockets.
  private func wait(for sockets: [Int32], milliseconds: Int32) {
    var descriptors = (sockets + [reading]).map { pollfd(fd: $0, events: Int16(POLLIN), revents: 0) }
    guard poll(&descriptors, nfds_t(descriptors.count), milliseconds) > 0 else { return }
    var bytes = [UInt8](repeating: 0, count: 64)
    while read(reading, &bytes, bytes.count) > 0 {}
  }
}
