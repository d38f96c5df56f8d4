import Tally
import TallySystem

extension StoreSync {
  /// Sends and fetches until nothing is left.
  ///
  /// - Returns: A summary.
  /// - Throws: `TallyError` with `notSynchronising`, `syncUnreachable` or `syncRefused` (nothing is lost, changes wait),
  ///   `syncBusy`, `deviceRevoked` or `spaceKeyMissing`.
  @discardableResult
  public func synchronise() async throws -> SyncReport {
    while true {
      let connection = try await connect()
      do {
        return try await exchange(through: connection).report
      } catch is PlaceChanged {
        // Another process has meanwhile moved the store to another place or another space.
      }
    }
  }

  /// Sends and fetches through the given transport.
  ///
  /// - Parameter transport: The place.
  /// - Returns: A summary.
  /// - Throws: As ``synchronise()``.
  @discardableResult
  public func synchronise(through transport: some SyncTransport) async throws -> SyncReport {
    let lock = try await takeTurn()
    defer { lock.release() }
    return try await exchange(through: transport).report
  }

  /// What one exchange was.
  struct Exchange {
    let report: SyncReport
    /// Whether something could not be read that may be readable soon.
    let isUnfinished: Bool
  }

  /// The store belongs to another space than the connection, or its place is elsewhere.
  struct PlaceChanged: Error {}

  /// The place of a store's space, and the way there.
  struct Connection {
    let space: SpaceID
    let place: SyncPlace
    let transport: any SyncTransport
  }

  /// Connects to the place of the store's space.
  ///
  /// - Throws: As ``synchronise()``.
  func connect() async throws -> Connection {
    let (space, place) = try await spaceAndPlace()
    return Connection(space: space, place: place, transport: try transport(to: place, space: space))
  }

  func spaceAndPlace() async throws -> (SpaceID, SyncPlace) {
    let settings = try store.readSynchronization { try $0.requireSyncSettings() }
    return (try settings.spaceKeys().space, settings.syncPlace)
  }

  /// Exchanges through the place of the store's space; missing parts are created.
  ///
  /// - Throws: ``PlaceChanged``; as ``synchronise()``.
  func exchange(through connection: Connection) async throws -> Exchange {
    let lock = try await takeTurn()
    defer { lock.release() }
    guard try await spaceAndPlace() == (connection.space, connection.place) else { throw PlaceChanged() }
    do {
      try await connection.transport.prepare()
    } catch {
      throw TallyError.unreachable(error)
    }
    return try await exchange(through: connection.transport)
  }

  private func exchange(through transport: any SyncTransport) async throws -> Exchange {
    try await change(\.isStopped, to: false)
    let (count, listsBefore) = try store.read { (try $0.taskCount, try $0.lists()) }
    let progress = try await notingRefusals { try await SyncEngine(store: store, transport: transport).synchronise() }
    let report = try store.readSynchronization { transaction in
      let deleted = try progress.received.deletedTaskIDs.filter { try transaction.task($0) == nil }
      return SyncReport(
        sent: progress.sent, received: progress.received.changeCount,
        pending: try transaction.countPending().count,
        conflicts: try transaction.countSyncValues(withPrefix: SyncKey.conflicts),
        blocked: try transaction.blockedReplicas().filter { !$0.isRevoked }, deletedTaskIDs: deleted,
        isMassDeletion: Double(deleted.count) > max(50, 0.3 * Double(count)),
        listsOfOneName: try transaction.lists().ofOneName(notAmong: listsBefore),
        clocks: try transaction.clockDifferences(), unsentTexts: try transaction.unsentTexts())
    }
    let isStopped = report.blocked.contains { !$0.obstacle.kind.needsAPerson }
    return Exchange(report: report, isUnfinished: progress.received.hasSkipped || isStopped)
  }

  /// Keeps what the place has refused for the status, until an exchange succeeds.
  private func notingRefusals(
    _ exchange: () async throws -> SyncEngine.Progress
  ) async throws -> SyncEngine.Progress {
    do {
      let progress = try await exchange()
      if let refusal = progress.refusal { throw refusal }
      try await change(\.refused, to: nil)
      return progress
    } catch let error as TallyError where error.code == .syncRefused {
      try await change(\.refused, to: error.refusal?.reason)
      throw error
    } catch let error as TallyError where error.code == .deviceRevoked {
      // Only a record of the space shuts this store out for good; a hub is asked again.
      try await change(\.refused, to: error.message)
      try await change(\.isOwner, to: false)
      throw error
    }
  }

  /// Changes one of the settings, unless it already has the value.
  private func change<Value: Equatable & Sendable>(
    _ setting: any WritableKeyPath<SyncSettings, Value> & Sendable, to value: Value
  ) async throws {
    guard try store.readSynchronization({ try $0.requireSyncSettings()[keyPath: setting] }) != value else { return }
    try await store.write { try $0.changeSyncSettings { $0[keyPath: setting] = value } }
  }
}

extension [TaskList] {
  /// The groups of lists with the same name, in any case, except groups whose lists all had that name before.
  fileprivate func ofOneName(notAmong before: [TaskList]) -> [[TaskList]] {
    let known = Dictionary(before.map { ($0.id, $0.name.lowercased()) }) { first, _ in first }
    return Dictionary(grouping: self) { $0.name.lowercased() }
      .filter { name, lists in lists.count > 1 && lists.contains { known[$0.id] != name } }
      .sorted { $0.key < $1.key }.map(\.value)
  }
}
