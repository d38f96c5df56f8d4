import Foundation
import SystemPackage
import Tally
import TallySystem

extension TaskStore {
  /// Becomes a replica of its own, in the store and in its directory.
  ///
  /// - Parameter placeHasLost: Whether the place has lost segments of the old one.
  /// - Throws: What the store and its directory throw.
  func becomeNewReplica(placeHasLost: Bool) async throws {
    let replica = try await write { transaction in
      try transaction.becomeNewReplica(placeHasLost: placeHasLost)
      return try transaction.requireSyncSettings().replicaID
    }
    try ReplicaFile(of: self).write(replica)
  }
}

extension StoreWriteTransaction {
  /// The numbers of segments that others have seen were those of the replica that this one was.
  private mutating func resetSeenNumbers() throws {
    for replica in try streamProgress().keys {
      try changeProgress(of: replica) { ($0.hasSeen, $0.announced) = (0, nil) }
    }
    for (key, _) in try syncValues(under: SyncKey.ages) { try setSyncValue(nil, forKey: SyncKey.ages + key) }
  }

  /// Becomes a replica of its own, because another store writes as the old one, or the place has lost segments of it.
  ///
  /// Segments that were not acknowledged are sealed again, with the times and authors of their changes. The stream of the old
  /// one is read like that of any other.
  mutating func becomeNewReplica(placeHasLost: Bool) throws {
    var settings = try requireSyncSettings()
    let (old, space) = (settings.replicaID, try settings.spaceKeys())
    var changes: [ObjectChange] = []
    for (key, bytes) in try syncValues(under: SyncKey.outbox) {
      let body = try SegmentBody(decoding: Envelope(parsing: bytes).content(in: space), by: old)
      changes += body.changes
      try Outbox.remove(UInt64(bigEndianBytes: key), in: &self)
    }
    // The stream of the old replica may have segments that this store does not know: merging all of it again is safe. One
    // that was lost is covered by the snapshot.
    try setProgress(placeHasLost ? StreamProgress(head: settings.acknowledged) : StreamProgress(), of: old)
    settings.becomeNewReplica()
    settings.sealedChangeCount = 0
    (settings.sealed, settings.acknowledged) = (.start, .start)
    (settings.cardNumber, settings.snapshot) = (0, nil)
    (settings.sealTimes, settings.beginsStream) = (nil, nil)
    try resetSeenNumbers()
    settings.needsSnapshot = settings.needsSnapshot || placeHasLost
    try Outbox.seal(changes, &settings, in: &self)
    let successor = settings.replicaID.bytes
    try write([DeviceWrite(object: ObjectKey(ofDevice: old), field: .successor, value: successor)], &settings)
    try setSyncSettings(settings)
  }
}

/// The file `replica.id` next to a store: it says that this directory, on this machine, is the replica that the store
/// names.
///
/// A copy or a restored backup of a store has no such file, or one with another inode: it must not write as the same
/// replica.
struct ReplicaFile {
  private let path: FilePath

  init(of store: TaskStore) { path = store.directory.appending(TaskStore.replicaFileName) }

  /// Whether this directory is the replica.
  func names(_ replica: ReplicaID) -> Bool {
    guard let bytes = try? WholeFile.read(path, atMost: Self.mostBytes), let inode = try? inode(of: path) else {
      return false
    }
    return content(replica, inode: inode).utf8.elementsEqual(bytes)
  }

  /// Says that this directory is the replica.
  ///
  /// The content has the inode of the file itself, which a copy cannot keep.
  func write(_ replica: ReplicaID) throws {
    let file = try AtomicFile(replacing: path)
    let inode = try file.descriptor.stat().inode
    _ = try file.descriptor.writeAll(Array(content(replica, inode: UInt64(inode.rawValue)).utf8))
    try file.publish()
  }

  func remove() throws { try SystemCalls.removeFile(path) }

  private static let mostBytes = 4_096

  private func inode(of path: FilePath) throws -> UInt64 { UInt64(try path.stat().inode.rawValue) }

  private func content(_ replica: ReplicaID, inode: UInt64) -> String { "\(replica) \(Self.machine) \(inode)\n" }

  /// Identifies the machine: systemd's machine id, or else the name of the host.
  private static let machine: String = {
    let id = try? WholeFile.read("/etc/machine-id", atMost: mostBytes)
    let text = id.map { String(decoding: $0, as: UTF8.self).filter { !$0.isWhitespace } } ?? ""
    return text.isEmpty ? ProcessInfo.processInfo.hostName : text
  }()
}

/// The key of a space in its folder, wrapped with a passphrase.
struct KeyFile {
  private let path: FilePath
  private static let mostBytes = 1 << 16

  init(in folder: FilePath, space: SpaceID) { path = folder.appending("tally-\(space)").appending("space.key") }

  func write(_ keys: SpaceKeys, passphrase: String) throws {
    let file = try AtomicFile(replacing: path)
    _ = try file.descriptor.writeAll(WrappedKey(wrapping: keys, passphrase: passphrase).bytes)
    try file.publish()
    // The others who share the folder read the file, too; only the passphrase opens it.
    try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: path.string)
  }

  /// Deletes the file.
  ///
  /// - Returns: Whether there was one.
  func remove() throws -> Bool {
    guard FileManager.default.fileExists(atPath: path.string) else { return false }
    try SystemCalls.removeFile(path)
    return true
  }

  /// The keys of the space in a folder whose passphrase this is.
  ///
  /// - Throws: `TallyError` with `wrongPassphrase` or `syncUnreachable`.
  static func keys(in folder: FilePath, passphrase: String) throws -> SpaceKeys {
    let spaces = try FolderSpaces.find(in: folder)
    for space in spaces {
      // Anybody who shares the folder may have put this file there.
      guard let bytes = try? WholeFile.read(KeyFile(in: folder, space: space).path, atMost: mostBytes),
        let wrapped = try? WrappedKey(parsing: bytes)
      else { continue }
      guard let key = try? wrapped.key(passphrase: passphrase) else { continue }
      return SpaceKeys(space: space, epoch: wrapped.epoch, keys: [wrapped.epoch: key])
    }
    throw TallyError(
      .wrongPassphrase, "The passphrase opens no space in the folder", remedy: "Check it, or join with an invitation")
  }
}

extension SpaceKeys {
  /// The space that an invitation or a recovery code opens.
  ///
  /// - Throws: `TallyError` with `invalidInvitation`.
  init(invitation text: String, folder: FilePath, now: Timestamp) throws {
    self = try TallyError.readingInvitation { try Self.keys(of: text, folder: folder, now: now) }
  }

  private static func keys(of text: String, folder: FilePath, now: Timestamp) throws -> SpaceKeys {
    do {
      return try Invitation(text, now: now.microsecondsSince1970 / 1_000_000).spaceKeys
    } catch KeyTextFault.notOfThisKind(_, found: .recoveryCode) {
      let key = try RecoveryCode(text).key
      let spaces = try FolderSpaces.find(in: folder)
      guard let space = spaces.first, spaces.count == 1 else {
        throw TallyError.invalidInvitation("The folder holds \(spaces.count) spaces, and the code names none.")
      }
      return SpaceKeys(space: space, epoch: 1, keys: [1: key])
    }
  }

  /// The keys with the number of the epoch whose cards they open, which a recovery code does not have.
  ///
  /// - Parameter cards: The cards at the place.
  /// - Returns: The keys.
  /// - Throws: `TallyError` with `invalidInvitation` if they open none, or the space has a newer key.
  func matched(to cards: [ReplicaID: [UInt8]]) throws -> SpaceKeys {
    let envelopes = cards.values.compactMap { try? Envelope(parsing: $0) }
    let newest = envelopes.compactMap { try? $0.epochRecord?.number }.max() ?? 0
    let found = candidates(for: Set(envelopes.map(\.header.epoch))).first { keys in
      envelopes.contains { (try? Card(opening: $0, of: $0.header.label.replica, in: keys)) != nil }
    }
    guard newest <= (found ?? self).epoch else {
      throw TallyError(
        .invalidInvitation, "The space has a new key, because a device was revoked",
        remedy: "Use the new recovery code, which another device shows (tally sync recovery-code), or a new invitation")
    }
    guard let found else {
      guard cards.isEmpty else { throw TallyError.invalidInvitation("The key opens nothing in the folder") }
      return self
    }
    return found
  }

  /// These keys, then the same as those of other epochs.
  private func candidates(for epochs: Set<UInt32>) -> [SpaceKeys] {
    guard isEncrypted, let key = keys[epoch] else { return [self] }
    let others = epochs.subtracting([epoch]).sorted(by: >)
    return [self] + others.map { SpaceKeys(space: space, epoch: $0, keys: [$0: key]) }
  }
}
