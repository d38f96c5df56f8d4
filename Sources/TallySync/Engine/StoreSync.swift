import Foundation
public import SystemPackage
public import Tally
import TallySystem

/// Keeps a store the same as others of its space.
///
/// ```swift
/// let sync = StoreSync(store)
/// let setup = try await sync.setUp(in: "/home/me/Sync", deviceName: "laptop")
/// // On the other device, with the text of `setup.invitation`:
/// try await StoreSync(otherStore).join(invitation, in: "/home/me/Sync", deviceName: "phone")
/// let report = try await sync.synchronise()
/// ```
///
/// Everything it knows is in the store, so any number of values for one store are the same; processes take turns.
public struct StoreSync: Sendable {
  /// The store.
  public let store: TaskStore

  /// Takes a store, which may or may not belong to a space.
  ///
  /// - Parameter store: The store.
  public init(_ store: TaskStore) {
    self.store = store
  }

  /// The file in the directory of a store that belongs to a space; backups have none.
  public static let replicaFileName = TaskStore.replicaFileName

  /// Whether the store belongs to a space.
  ///
  /// - Throws: What the store throws.
  public var isSetUp: Bool {
    get async throws { try await store.write { try $0.syncSettings() != nil } }
  }

  /// Creates a space in a folder, with all that the store has.
  ///
  /// - Parameters:
  ///   - folder: A folder that exists; the space is a folder in it.
  ///   - deviceName: How this device is called, for people.
  ///   - isEncrypted: Whether to encrypt all files in the folder; without, everybody who sees the folder can read it.
  ///   - passphrase: A passphrase with which others can join instead of an invitation; `nil` for none.
  /// - Returns: What others need to join.
  /// - Throws: `TallyError` with `alreadySynchronises` or `syncUnreachable`; what the store throws.
  public func setUp(
    in folder: FilePath, deviceName: String, isEncrypted: Bool = true, passphrase: String? = nil
  ) async throws -> SpaceSetup {
    let space = SpaceID()
    let keys =
      isEncrypted ? SpaceKeys(space: space, epoch: 1, keys: [1: SpaceKey()]) : SpaceKeys(unencrypted: space)
    try await requireNoSpace()
    let place = try absolute(folder)
    do {
      _ = try FolderTransport.create(at: place, space: space.bytes)
      if let passphrase, isEncrypted { try KeyFile(in: place, space: space).write(keys, passphrase: passphrase) }
    } catch {
      throw TallyError.unreachable(error)
    }
    let replica = try await begin(in: keys, at: place, deviceName: deviceName)
    let now = store.configuration.now()
    return SpaceSetup(
      space: space, replica: replica, invitation: try invitation(to: keys, until: now.adding(seconds: 86_400)),
      recoveryCode: keys.keys[keys.epoch].map { RecoveryCode($0).text })
  }

  /// Joins a space with an invitation or a recovery code.
  ///
  /// Tasks that the store has are added to those of the space.
  ///
  /// - Parameters:
  ///   - text: The invitation, or the recovery code of the only space in the folder.
  ///   - folder: Where the space is on this machine.
  ///   - deviceName: How this device is called, for people.
  /// - Returns: Who this store is in the space.
  /// - Throws: `TallyError` with `invalidInvitation`, `alreadySynchronises` or `syncUnreachable`.
  @discardableResult
  public func join(_ text: String, in folder: FilePath, deviceName: String) async throws -> ReplicaID {
    try await requireNoSpace()
    let place = try absolute(folder)
    let keys = try SpaceKeys(invitation: text, folder: place, now: store.configuration.now())
    return try await join(keys, at: place, deviceName: deviceName)
  }

  /// Joins the only space in a folder with its passphrase.
  ///
  /// - Parameters:
  ///   - passphrase: What its creator has chosen.
  ///   - folder: Where the space is on this machine.
  ///   - deviceName: How this device is called, for people.
  /// - Returns: Who this store is in the space.
  /// - Throws: `TallyError` with `wrongPassphrase`, `alreadySynchronises` or `syncUnreachable`.
  @discardableResult
  public func join(passphrase: String, in folder: FilePath, deviceName: String) async throws -> ReplicaID {
    try await requireNoSpace()
    let place = try absolute(folder)
    return try await join(
      KeyFile.keys(in: place, passphrase: passphrase), at: place, deviceName: deviceName)
  }

  /// A text with which another store joins the space; secret.
  ///
  /// - Parameter duration: How long it is taken, in whole seconds.
  /// - Returns: The text.
  /// - Throws: `TallyError` with `notSynchronising`.
  public func invite(for duration: Duration = .seconds(86_400)) async throws -> String {
    let keys = try await store.write { try $0.requireSyncSettings().spaceKeys() }
    return try invitation(to: keys, until: store.configuration.now().adding(seconds: duration.components.seconds))
  }

  /// Stops synchronising until the next ``synchronise()``; changes wait in the store.
  ///
  /// - Throws: `TallyError` with `notSynchronising`.
  public func stop() async throws {
    try await store.write { try $0.changeSyncSettings { $0.isStopped = true } }
  }

  /// Leaves the space: the store keeps all tasks, and the space all that it has.
  ///
  /// - Throws: `TallyError` with `notSynchronising`.
  public func leave() async throws {
    let lock = try await takeTurn()
    defer { lock.release() }
    try await store.write { transaction in
      _ = try transaction.requireSyncSettings()
      try transaction.endSynchronising()
    }
    try ReplicaFile(of: store).remove()
  }
}

extension StoreSync {
  /// The folder of the space, which need not be there.
  func transport(of settings: SyncSettings) throws -> FolderTransport {
    FolderTransport(at: FilePath(settings.place), space: try settings.spaceKeys().space.bytes, disk: FolderDisk())
  }

  private func absolute(_ folder: FilePath) throws -> FilePath {
    FilePath(URL(filePath: folder.string).standardizedFileURL.path(percentEncoded: false))
  }

  private func requireNoSpace() async throws {
    guard try await store.write({ try $0.syncSettings() }) == nil else { throw TallyError.alreadySynchronises }
  }

  private func invitation(to keys: SpaceKeys, until end: Timestamp) throws -> String {
    try Invitation(to: keys, expiry: end.microsecondsSince1970 / 1_000_000).text
  }

  private func join(_ keys: SpaceKeys, at place: FilePath, deviceName: String) async throws -> ReplicaID {
    let cards: [ReplicaID: [UInt8]]
    do {
      cards = try await FolderTransport(at: place, space: keys.space.bytes).cards()
    } catch {
      throw TallyError.unreachable(error)
    }
    let opens = cards.contains { replica, bytes in
      (try? Card(opening: Envelope(parsing: bytes), of: replica, in: keys)) != nil
    }
    guard opens || cards.isEmpty else {
      throw TallyError.invalidInvitation("The key opens nothing in the folder")
    }
    return try await begin(in: keys, at: place, deviceName: deviceName)
  }

  /// Makes the store a replica: everything that it has counts as a change.
  private func begin(in keys: SpaceKeys, at place: FilePath, deviceName: String) async throws -> ReplicaID {
    let settings = SyncSettings(
      space: keys.space.description, replica: UUID(), keys: keys.keys.mapValues { Data($0.bytes) },
      isEncrypted: keys.isEncrypted, replicaKeys: Data(ReplicaKeys().bytes), deviceName: deviceName,
      place: place.string)
    // First the file: a crash between the two leaves a file that nobody reads.
    try ReplicaFile(of: store).write(settings.replicaID)
    try await store.write { transaction in
      guard try transaction.syncSettings() == nil else { throw TallyError.alreadySynchronises }
      try transaction.beginSynchronising()
      try transaction.setSyncSettings(settings)
      try transaction.noteEverything()
    }
    return settings.replicaID
  }

  /// Waits until no other process synchronises the store.
  func takeTurn() async throws -> FileLock {
    let lock = try FileLock(opening: store.directory.appending("sync.lock"))
    let deadline = ContinuousClock.now + .seconds(60)
    while try !lock.tryAcquire(.exclusive) {
      guard ContinuousClock.now < deadline else { throw TallyError.syncBusy }
      try await Task.sleep(for: .milliseconds(20))
    }
    return lock
  }
}
