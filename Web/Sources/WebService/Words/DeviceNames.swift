import Tally
import TallySync

/// Names the devices of a space.
struct DeviceNames {
  private let members: [SyncStatus.Member]

  /// Reads the devices of a store; there are none if the store does not synchronise.
  init(of store: TaskStore) async throws {
    let sync = StoreSync(store)
    members = try await sync.isSetUp ? sync.members() : []
  }

  /// The name of one of the devices.
  func callAsFunction(_ member: SyncStatus.Member) -> String { members.label(of: member) }

  /// The device from which a change came; `nil` for a change of this one.
  func author(of change: HistoryChange) -> String? {
    guard change.isFromElsewhere else { return nil }
    let member = change.replica.flatMap { id in members.first { $0.replica == ReplicaID(id) } }
    return member.map { self($0) } ?? "other devices"
  }
}
