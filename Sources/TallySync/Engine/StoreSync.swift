import Foundation
public import SystemPackage
public import Tally
import TallySystem

/// Synchronises a store with the other stores of its space.
///
/// ```swift
/// let sync = StoreSync(store)
/// let setup = try await sync.setUp(in: "/home/me/Sync", deviceName: "laptop")
/// // On the other device, with the text of `setup.invitation`:
/// try await StoreSync(otherStore).join(invitation, in: "/home/me/Sync", deviceName: "phone")
/// let report = try await sync.synchronise()
/// ```
///
/// All state is in the store, so several values for one store are equivalent. Processes synchronise one at a time.
public struct StoreSync: Sendable {
  /// The store.
  public let store: TaskStore
  private let connector: (any SyncConnector)?

  /// Takes a store, which may or may not belong to a space.
  ///
  /// - Parameters:
  ///   - store: The store.
  ///   - connector: Connects it to a hub; `nil` where places are folders only.
  public init(_ store: TaskStore, connector: (any SyncConnector)? = nil) {
    (self.store, self.connector) = (store, connector)
  }

  /// The file in the directory of a store that belongs to a space; backups have none.
  public static let replicaFileName = TaskStore.replicaFileName

  /// Whether the store belongs to a space.
  ///
  /// - Throws: What the store throws.
  public var isSetUp: Bool {
    get async throws { try store.readSynchronization { try $0.syncSettings() != nil } }
  }

  /// Creates a space in a folder, with all that the store has.
  ///
  /// - Parameters:
  ///   - folder: A folder that exists; the space is a folder in it.
  ///   - deviceName: The name of this device.
  ///   - isEncrypted: Whether to encrypt all files in the folder; if false, everybody who can read the folder can read the tasks.
  ///   - passphrase: A passphrase with which others can join instead of an invitation; `nil` for none.
  /// - Returns: What others need to join.
  /// - Throws: `TallyError` with `alreadySynchronises` or `syncUnreachable`; what the store throws.
  public func setUp(
    in folder: FilePath, deviceName: String, isEncrypted: Bool = true, passphrase: String? = nil
  ) async throws -> SpaceSetup {
    let keys = SpaceKeys(new: SpaceID(), isEncrypted: isEncrypted)
    try await requireNoSpace()
    let place = try absolute(folder)
    do {
      _ = try FolderTransport.create(at: place, space: keys.space.bytes)
      if let passphrase, isEncrypted { try KeyFile(in: place, space: keys.space).write(keys, passphrase: passphrase) }
    } catch let fault as FolderFault where fault.kind == .unreachable && fault.path == place {
      throw TallyError.noFolder(fault)
    } catch {
      throw TallyError.unreachable(error)
    }
    return try await setUp(keys, at: SyncPlace(place.string), deviceName: deviceName)
  }

  /// Creates a space at a place that has room for it already, such as a hub, with all that the store has.
  ///
  /// - Parameters:
  ///   - space: The space, by the id under which the place knows it.
  ///   - place: The place.
  ///   - deviceName: The name of this device.
  ///   - isEncrypted: Whether to encrypt everything; if false, everybody who can read the place can read the tasks.
  /// - Returns: What others need to join besides the place.
  /// - Throws: `TallyError` with `alreadySynchronises`; what the store throws.
  public func setUp(
    _ space: SpaceID, at place: SyncPlace, deviceName: String, isEncrypted: Bool = true
  ) async throws -> SpaceSetup {
    try await setUp(SpaceKeys(new: space, isEncrypted: isEncrypted), at: place, deviceName: deviceName)
  }

  private func setUp(_ keys: SpaceKeys, at place: SyncPlace, deviceName: String) async throws -> SpaceSetup {
    let replica = try await begin(in: keys, at: place, deviceName: deviceName)
    let now = store.configuration.now()
    let code = try await store.write { try $0.changeSyncSettings { try $0.showRecoveryCode() } }
    return SpaceSetup(
      space: keys.space, replica: replica, invitation: try invitation(to: keys, until: now.adding(seconds: 86_400)),
      recoveryCode: code)
  }

  /// Joins a space with an invitation or a recovery code.
  ///
  /// Tasks that the store has are added to those of the space.
  ///
  /// - Parameters:
  ///   - text: The invitation, or the recovery code of the only space in the folder.
  ///   - folder: Where the space is on this machine.
  ///   - deviceName: The name of this device.
  /// - Returns: Who this store is in the space.
  /// - Throws: `TallyError` with `invalidInvitation` or `alreadySynchronises`; with `syncUnreachable` if the folder cannot be
  ///   reached or this user may not write to it.
  @discardableResult
  public func join(_ text: String, in folder: FilePath, deviceName: String) async throws -> ReplicaID {
    try await requireNoSpace()
    let place = try absolute(folder)
    let keys = try SpaceKeys(invitation: text, folder: place, now: store.configuration.now())
    return try await join(keys, at: SyncPlace(place.string), deviceName: deviceName)
  }

  /// Joins a space at a place that knows this device already, such as a hub, with an invitation.
  ///
  /// Tasks that the store has are added to those of the space.
  ///
  /// - Parameters:
  ///   - text: The invitation.
  ///   - place: The place.
  ///   - deviceName: The name of this device.
  /// - Returns: Who this store is in the space.
  /// - Throws: `TallyError` with `invalidInvitation`, `alreadySynchronises` or `syncUnreachable`.
  @discardableResult
  public func join(_ text: String, at place: SyncPlace, deviceName: String) async throws -> ReplicaID {
    try await requireNoSpace()
    let keys: SpaceKeys
    do {
      keys = try Invitation(text, now: store.configuration.now().microsecondsSince1970 / 1_000_000).spaceKeys
    } catch {
      throw TallyError.invalidInvitation(error.description)
    }
    return try await join(keys, at: place, deviceName: deviceName)
  }

  /// Joins a space at a place that has made this device an owner because of its recovery code, such as a hub.
  ///
  /// Tasks that the store has are added to those of the space.
  ///
  /// - Parameters:
  ///   - text: The recovery code.
  ///   - space: The space, which the code does not name.
  ///   - place: The place.
  ///   - deviceName: The name of this device.
  /// - Returns: Who this store is in the space.
  /// - Throws: `TallyError` with `invalidInvitation`, `alreadySynchronises` or `syncUnreachable`.
  @discardableResult
  public func join(
    recoveryCode text: String, to space: SpaceID, at place: SyncPlace, deviceName: String
  ) async throws -> ReplicaID {
    try await requireNoSpace()
    let code: RecoveryCode
    do {
      code = try RecoveryCode(text)
    } catch {
      throw TallyError.invalidInvitation(error.description)
    }
    let keys = SpaceKeys(space: space, epoch: 1, keys: [1: code.key])
    return try await join(keys, at: place, deviceName: deviceName, with: code)
  }

  /// Joins the only space in a folder with its passphrase.
  ///
  /// - Parameters:
  ///   - passphrase: What its creator has chosen.
  ///   - folder: Where the space is on this machine.
  ///   - deviceName: The name of this device.
  /// - Returns: Who this store is in the space.
  /// - Throws: `TallyError` with `wrongPassphrase`, `alreadySynchronises` or `syncUnreachable`.
  @discardableResult
  public func join(passphrase: String, in folder: FilePath, deviceName: String) async throws -> ReplicaID {
    try await requireNoSpace()
    let place = try absolute(folder)
    return try await join(
      KeyFile.keys(in: place, passphrase: passphrase), at: SyncPlace(place.string), deviceName: deviceName)
  }

  /// A text with which another store joins the space; secret.
  ///
  /// - Parameter duration: How long the invitation is valid, in whole seconds.
  /// - Returns: The text.
  /// - Throws: `TallyError` with `notSynchronising` or `deviceRevoked`.
  public func invite(for duration: Duration = .seconds(86_400)) async throws -> String {
    let settings = try store.readSynchronization { try $0.requireSyncSettings() }
    if settings.isRevoked == true { throw TallyError.deviceRevoked }
    let keys = try settings.spaceKeys()
    return try invitation(to: keys, until: store.configuration.now().adding(seconds: duration.components.seconds))
  }

  /// The place of the space, with the token of this device there; secret.
  ///
  /// - Returns: The place.
  /// - Throws: `TallyError` with `notSynchronising`.
  public func place() async throws -> SyncPlace {
    try store.readSynchronization { try $0.requireSyncSettings().syncPlace }
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
  /// Connects to the place of a space, which need not be there.
  func transport(to place: SyncPlace, space: SpaceID) throws -> any SyncTransport {
    guard place.isHub else {
      return FolderTransport(at: FilePath(place.address), space: space.bytes, disk: FolderDisk())
    }
    guard let connector else { throw TallyError.noConnector }
    return try connector.transport(to: place, space: space)
  }

  func absolute(_ folder: FilePath) throws -> FilePath {
    FilePath(URL(filePath: folder.string).standardizedFileURL.path(percentEncoded: false))
  }

  private func requireNoSpace() async throws {
    guard try store.readSynchronization({ try $0.syncSettings() }) == nil else { throw TallyError.alreadySynchronises }
  }

  private func invitation(to keys: SpaceKeys, until end: Timestamp) throws -> String {
    try Invitation(to: keys, expiry: end.microsecondsSince1970 / 1_000_000).text
  }

  private func join(
    _ keys: SpaceKeys, at place: SyncPlace, deviceName: String, with code: RecoveryCode? = nil
  ) async throws -> ReplicaID {
    let cards: [ReplicaID: [UInt8]]
    let transport = try transport(to: place, space: keys.space)
    do {
      cards = try await transport.cards()
      if let folder = transport as? FolderTransport {
        try await folder.prepare()
        try await folder.checkWritable()
      }
    } catch {
      throw TallyError.unreachable(error)
    }
    return try await begin(in: keys.matched(to: cards), at: place, deviceName: deviceName, with: code)
  }

  /// Makes the store a replica: everything that it has counts as a change.
  private func begin(
    in keys: SpaceKeys, at place: SyncPlace, deviceName: String, with code: RecoveryCode? = nil
  ) async throws -> ReplicaID {
    var new = SyncSettings(
      space: keys.space.description, replica: UUID(), keys: keys.keys.mapValues { Data($0.bytes) },
      isEncrypted: keys.isEncrypted, replicaKeys: Data(ReplicaKeys().bytes), deviceName: deviceName,
      place: place.address, token: place.token)
    if let code {
      // The code on paper stays valid.
      new.recoverySecret = code.ownerSecret.map { Data($0) }
      try new.noteShownRecoveryCode()
    }
    let settings = new
    // First the file: a crash between the two leaves a file that nobody reads.
    try ReplicaFile(of: store).write(settings.replicaID)
    try await store.write { transaction in
      guard try transaction.syncSettings() == nil else { throw TallyError.alreadySynchronises }
      try transaction.beginSynchronising()
      try transaction.setSyncSettings(settings)
      try transaction.noteEverything(refusingLargeTexts: true)
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
