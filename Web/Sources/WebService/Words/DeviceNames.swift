import Tally
import TallySync

/// Names the devices of a space.
struct DeviceNames {
  private let members: [SyncStatus.Member]

  init(_ members: [SyncStatus.Member]) { self.members = members }

  /// Those of a store; none if it does not synchronise.
  init(of store: TaskStore) async throws {
    let sync = StoreSync(store)
    members = try await sync.isSetUp ? sync.members() : []
  }

  /// The name of a device, with its handle where others have the same name; its replica where the name is unknown.
  ///
  /// The former identity of a store has the same name: the device itself is named without a handle.
  func callAsFunction(_ member: SyncStatus.Member) -> String {
    guard let name = member.name else { return member.replica.description }
    let isShared = members.contains {
      $0.replica != member.replica && $0.name == name && (member.isFormer || !$0.isFormer)
    }
    return isShared ? "\(name) (\(member.handle))" : name
  }

  /// The device from which a change came; `nil` for a change of this one.
  func author(of change: HistoryChange) -> String? {
    guard change.isFromElsewhere else { return nil }
    let member = change.replica.flatMap { id in members.first { $0.replica == ReplicaID(id) } }
    return member.map { self($0) } ?? "other devices"
  }
}
