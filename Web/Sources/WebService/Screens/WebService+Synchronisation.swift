import Foundation
import Hummingbird
import Tally
import TallySync

extension WebService {
  func addSynchronizationRoutes(to router: Router<BasicRequestContext>) {
    router.get("sync") { [self] request, _ in
      let version = try store.read(by: DayRules(request)) { try Surroundings.version($0) }
      let content = try await synchronisation(by: DayRules(request))
      return try page("sync", title: "Synchronisation", for: request, following: .store(version: version)) { _ in
        content
      }
    }
    router.post("sync/conflicts") { [self] request, _ in
      let form = try await request.form()
      if form["action"] == "dismiss-all" {
        try await StoreSync(store).dismissConflicts()
        return Self.synchronizationScreen(after: nil)
      }
      guard let id = form["conflict"].flatMap({ UInt64($0) }) else {
        throw HTTPError(.badRequest, message: "A conflict has a number.")
      }
      if form["action"] == "dismiss" {
        try await StoreSync(store).dismissConflicts([id])
        return Self.synchronizationScreen(after: nil)
      }
      let change = try await findingChange { try await StoreSync(store).restoreConflict(id) }.change
      return Self.synchronizationScreen(after: change)
    }
    router.post("sync/trash") { [self] request, _ in
      let ids = try await request.form().ids()
      let change = try await findingChange { try await StoreSync(store).restore(ids) }.change
      return Self.synchronizationScreen(after: change)
    }
  }

  private static func synchronizationScreen(after change: ChangeID?) -> Response {
    .redirect(to: change.map { "/sync?done=\($0.text)" } ?? "/sync")
  }

  /// The status, the devices, the conflicts, and deleted tasks.
  private func synchronisation(by rules: DayRules) async throws -> [String: Any] {
    let sync = StoreSync(store)
    guard try await sync.isSetUp else { return ["isOn": false] }
    let (status, clock) = (try await sync.status(), try store.read(by: rules) { $0.dateReference })
    let (conflicts, trash) = (try await sync.conflicts(), try await sync.trash())
    let devices = try await DeviceNames(of: store)
    let facts = [
      ("Device", status.name), ("Place", status.place), ("Waiting", status.pending.counted("change")),
      ("Last sent", status.lastSent.map(clock.relativeName) ?? "never"),
      ("Last received", status.lastReceived.map(clock.relativeName) ?? "never"),
    ]
    return [
      "isOn": true, "facts": facts.map { ["name": $0.0, "value": $0.1] }, "warnings": warnings(status),
      "members": status.members.map { member in
        [
          "name": devices(member),
          "words": "\(member.lastSeen.map { "seen \(clock.relativeName(of: $0))" } ?? "")"
            + (member.isRevoked
              ? ", revoked"
              : member.isFormer
                ? (member.successor ?? status.replica) == status.replica
                  ? ", this store before it was copied or restored" : ", a former identity of another device"
                : "")
            ,
        ]
      },
      "hasConflicts": !conflicts.isEmpty,
      "conflicts": try conflicts.prefix(Self.longestListInRows).map { try row(of: $0, clock) },
      "trash": trash.filter { !$0.isList }.prefix(Self.longestListInRows).map {
        [
          "id": $0.id.text, "name": $0.name.shortened(to: 100),
          "when": ($0.deletedAt ?? $0.noticedAt).map { "deleted \(clock.relativeName(of: $0))" } ?? "",
        ]
      },
    ]
  }

  /// A conflict: the object that it belongs to, the overwritten value, and when that was written.
  private func row(of conflict: Conflict, _ clock: DateReference) throws -> [String: String] {
    let (id, kind) = (conflict.objectID, conflict.isList ? "lists" : "tasks")
    let (name, isThere) = try store.read { transaction in
      (try transaction.name(of: conflict), try conflict.isList || transaction.task(id) != nil)
    }
    let isFilter = conflict.field == "savedFilter"
    let field = (conflict.isSeries ? "series, " : "") + conflict.field
    return [
      "id": "\(conflict.id)",
      "path": name == nil || !isThere ? (isFilter ? "/filters" : "/history") : "/\(kind)/\(id.text)",
      "name": name?.quotable(to: 80) ?? (isFilter ? "saved filter" : "deleted since"),
      "words": "\(field): \(conflict.lost.quotable(to: 200)), \(clock.relativeName(of: conflict.lostAt))",
    ]
  }

  private static let longestListInRows = 100

  private static func duration(_ clock: ClockDifference) -> String {
    let minutes = Int(clock.secondsAhead.magnitude / 60)
    if minutes < 120 { return minutes.counted("minute") }
    return minutes < 48 * 60 ? (minutes / 60).counted("hour") : (minutes / 1_440).counted("day")
  }

  private func warnings(_ status: SyncStatus) -> [String] {
    [
      status.isStopped ? "Synchronisation is stopped." : nil, status.refused.map { "Refused: \($0)" },
      status.isRevoked ? "This device has been revoked." : nil,
      status.isRecoveryCodeOutdated
        ? "The recovery code on paper is outdated: 'tally sync recovery-code' shows the new one."
        : nil,
      status.needsUpgrade ? "Another device has a newer version: install it here, too." : nil,
    ].compactMap(\.self)
      + status.clocks.map {
        "The clock of \($0.name ?? $0.replica.description) differs from this device's by \(Self.duration($0)): one of them is wrong."
      }
      + status.blocked.map { "\($0.name ?? $0.replica.description) is blocked: \($0.reason)" }
  }
}
