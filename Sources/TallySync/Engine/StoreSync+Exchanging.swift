import Tally
import TallySystem

extension StoreSync {
  /// Sends and fetches until nothing is left.
  ///
  /// - Returns: A summary.
  /// - Throws: `TallyError` with `notSynchronising`, `syncUnreachable` (nothing is lost, changes wait) or `syncBusy`.
  @discardableResult
  public func synchronise() async throws -> SyncReport {
    while true {
      let transport = try transport(of: try await store.write { try $0.requireSyncSettings() })
      do {
        return try await exchange(throughFolder: transport).report
      } catch is PlaceChanged {
        // Another process has moved the store to another space meanwhile.
      }
    }
  }

  /// Sends and fetches through another place than a folder.
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

  /// The store belongs to another space than the transport, or its folder is elsewhere.
  struct PlaceChanged: Error {}

  /// Exchanges through the folder of the store's space; the missing parts of it are created.
  ///
  /// - Throws: ``PlaceChanged``; as ``synchronise()``.
  func exchange(throughFolder transport: FolderTransport) async throws -> Exchange {
    let lock = try await takeTurn()
    defer { lock.release() }
    let current = try self.transport(of: try await store.write { try $0.requireSyncSettings() })
    guard current.listing.space == transport.listing.space else { throw PlaceChanged() }
    do {
      try transport.createMissing()
    } catch {
      throw TallyError.unreachable(error)
    }
    return try await exchange(through: transport)
  }

  private func exchange(through transport: some SyncTransport) async throws -> Exchange {
    try await store.write { try $0.changeSyncSettings { $0.isStopped = false } }
    let count = try store.read { try $0.taskCount }
    let progress = try await SyncEngine(store: store, transport: transport).synchronise()
    let report = try await store.write { transaction in
      let deleted = try progress.received.deletedTaskIDs.filter { try transaction.task($0) == nil }
      return SyncReport(
        sent: progress.sent, received: progress.received.changeCount,
        pending: try transaction.countPending().count, conflicts: try transaction.storedConflicts().count,
        blocked: try transaction.blockedReplicas(), deletedTaskIDs: deleted,
        isMassDeletion: Double(deleted.count) > max(50, 0.3 * Double(count)))
    }
    return Exchange(report: report, isUnfinished: progress.received.hasSkipped || !report.blocked.isEmpty)
  }
}
