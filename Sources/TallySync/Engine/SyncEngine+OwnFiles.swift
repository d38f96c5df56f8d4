import Foundation
import Tally

/// Checks that this replica's files at the place are intact.
extension SyncEngine {
  /// Checks that the place still returns what others need from this replica: once an hour, and whenever somebody else has
  /// changed its files.
  ///
  /// That is the newest snapshot and the segments behind it. If something is damaged or lost, a snapshot is due, which
  /// covers it.
  ///
  /// - Returns: Whether the files have changed since their mark was noted.
  /// - Throws: `TallyError` with `syncUnreachable`; what the store throws.
  /// - Complexity: Reads those segments and that snapshot.
  func checkOwnFiles() async throws -> Bool {
    let settings = try store.readSynchronization { try $0.requireSyncSettings() }
    guard !settings.needsSnapshot, settings.acknowledged.number > 0 || settings.snapshot != nil else { return true }
    let mark = try await reach { try await transport.mark(of: settings.replicaID) }
    let isChanged = mark.map { Data($0) != settings.mark } ?? false
    let isDue = try store.readSynchronization { try $0.isCheckDue() }
    guard isDue || isChanged else { return false }
    if isDue { try await store.write { try $0.noteCheck() } }
    if try await !areWhole(settings) { try await requireSnapshot() }
    return isChanged
  }

  /// Whether the place still returns what others need from this replica.
  private func areWhole(_ settings: SyncSettings) async throws -> Bool {
    if let snapshot = settings.snapshot, try await !isWhole(snapshot.name(of: settings.replicaID)) { return false }
    var number = settings.snapshot?.coveredNumber ?? 0
    while number < settings.acknowledged.number {
      let segments = try await reach {
        try await transport.segments(of: settings.replicaID, after: number, byteCount: Self.batchByteCount)
      }
      guard !segments.isEmpty else { return false }
      number += UInt64(segments.count)
    }
    return true
  }

  /// Records the current mark of this replica's files.
  func noteMark() async throws {
    let settings = try store.readSynchronization { try $0.requireSyncSettings() }
    let mark = try await reach { try await transport.mark(of: settings.replicaID) }.map { Data($0) }
    guard mark != settings.mark else { return }
    try await store.write { try $0.changeSyncSettings { $0.mark = mark } }
  }

  private func requireSnapshot() async throws {
    try await store.write { try $0.changeSyncSettings { $0.needsSnapshot = true } }
  }

  /// Whether all parts of a snapshot are there and can be opened.
  func isWhole(_ name: SnapshotName) async throws -> Bool {
    guard try await reach({ try await transport.snapshots() }).contains(name) else { return false }
    guard let opener = try store.readSynchronization({ try $0.opener(of: name) }) else { return false }
    for number in 0..<name.partCount {
      // One that cannot be read is not whole, either.
      guard let bytes = try? await transport.part(number, of: name), opener.content(of: bytes, number) != nil else {
        return false
      }
    }
    return true
  }
}

extension StoreTransaction where Base: ~Copyable {
  /// Whether the hourly check is due.
  fileprivate func isCheckDue() throws -> Bool {
    guard let last = try requireSyncSettings().lastCheck else { return true }
    let now = now.microsecondsSince1970
    return last > now || now - last >= 3_600 * 1_000_000
  }
}

extension StoreWriteTransaction {
  /// Notes that the hourly check is done now.
  fileprivate mutating func noteCheck() throws {
    let now = now.microsecondsSince1970
    try changeSyncSettings { $0.lastCheck = now }
  }
}
