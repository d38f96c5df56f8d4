public import Foundation
import Synchronization
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
/// let report = try await sync.synchronize()
/// ```
///
/// All state is in the store, so several values for one store are equivalent. Processes synchronise one at a time.
public struct StoreSync: Sendable {
  /// The store.
  public let store: TaskStore
  private let connector: (any SyncConnector)?

  /// Creates a value for a store, which may or may not belong to a space.
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
    let code = try await store.changeSyncSettings { try $0.showRecoveryCode() }
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
  /// - Returns: The replica that this store is in the space.
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
  /// - Returns: The replica that this store is in the space.
  /// - Throws: `TallyError` with `invalidInvitation`, `alreadySynchronises` or `syncUnreachable`.
  @discardableResult
  public func join(_ text: String, at place: SyncPlace, deviceName: String) async throws -> ReplicaID {
    try await requireNoSpace()
    let keys = try TallyError.readingInvitation {
      try Invitation(text, now: store.configuration.now().microsecondsSince1970 / 1_000_000).spaceKeys
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
  /// - Returns: The replica that this store is in the space.
  /// - Throws: `TallyError` with `invalidInvitation`, `alreadySynchronises` or `syncUnreachable`.
  @discardableResult
  public func join(
    recoveryCode text: String, to space: SpaceID, at place: SyncPlace, deviceName: String
  ) async throws -> ReplicaID {
    try await requireNoSpace()
    let code = try TallyError.readingInvitation { try RecoveryCode(text) }
    let keys = SpaceKeys(space: space, epoch: 1, keys: [1: code.key])
    return try await join(keys, at: place, deviceName: deviceName, with: code)
  }

  /// Joins the only space in a folder with its passphrase.
  ///
  /// - Parameters:
  ///   - passphrase: The passphrase that its creator has chosen.
  ///   - folder: Where the space is on this machine.
  ///   - deviceName: The name of this device.
  /// - Returns: The replica that this store is in the space.
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
    let settings = try store.requireSyncSettings()
    if settings.isRevoked == true { throw TallyError.deviceRevoked }
    let keys = try settings.spaceKeys()
    return try invitation(to: keys, until: store.configuration.now().adding(seconds: duration.components.seconds))
  }

  /// The place of the space, with the token of this device there; secret.
  ///
  /// - Returns: The place.
  /// - Throws: `TallyError` with `notSynchronising`.
  public func place() async throws -> SyncPlace { try store.requireSyncSettings().syncPlace }

  /// Stops synchronising until the next ``synchronize()``; changes wait in the store.
  ///
  /// - Throws: `TallyError` with `notSynchronising`.
  public func stop() async throws { try await store.changeSyncSettings { $0.isStopped = true } }

  /// Leaves the space; the store keeps its tasks, and the space keeps its data.
  ///
  /// - Throws: `TallyError` with `notSynchronising`.
  public func leave() async throws {
    let lock = try await acquireTurn()
    defer { lock.release() }
    try await store.write { transaction in
      _ = try transaction.requireSyncSettings()
      try transaction.endSynchronizing()
    }
    try ReplicaFile(of: store).remove()
  }

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
      try new.recordShownRecoveryCode()
    }
    let settings = new
    // First the file: a crash between the two leaves a file that nobody reads.
    try ReplicaFile(of: store).write(settings.replicaID)
    try await store.write { transaction in
      guard try transaction.syncSettings() == nil else { throw TallyError.alreadySynchronises }
      try transaction.beginSynchronizing()
      try transaction.setSyncSettings(settings)
      try transaction.noteEverything(refusingLargeTexts: true)
    }
    return settings.replicaID
  }

  /// Waits until no other process synchronises the store.
  func acquireTurn() async throws -> FileLock {
    let lock = try FileLock(opening: store.directory.appending("sync.lock"))
    let deadline = ContinuousClock.now + .seconds(60)
    while try !lock.tryAcquire(.exclusive) {
      guard ContinuousClock.now < deadline else { throw TallyError.syncBusy }
      try await Task.sleep(for: .milliseconds(20))
    }
    return lock
  }
}

/// An event of the agent that synchronises a store.
public enum SyncEvent: Sendable {
  /// It has exchanged changes, or found nothing to exchange.
  case synchronized(SyncReport)
  /// It has failed, and tries again after a number of seconds.
  case failed(TallyError, retryInSeconds: Double)
  /// Synchronisation was stopped; it resumes at the next synchronisation.
  case stopped
}

extension StoreSync {
  /// Synchronises whenever something changes, here or at the place, until the task is cancelled.
  ///
  /// Local changes are sent a moment after the last commit, at most a second after the first. After a failure it tries
  /// again after one second, then after twice the time, up to 30 seconds; at once when the place changes. What the
  /// place refuses is tried again after five seconds, then after twice the time, up to five minutes, or when the place
  /// says; at once when it has something new, or somebody has synchronised the store.
  ///
  /// - Parameter report: Receives what happened.
  /// - Throws: `TallyError` with `notSynchronising` or `deviceRevoked`; what the store throws.
  public func run(_ report: @Sendable (SyncEvent) -> Void) async throws {
    while true {
      let connection = try await connect()
      do {
        return try await run(through: connection, report)
      } catch is PlaceChanged {
        // The store has moved to another place or joined another space: the agent continues there.
      }
    }
  }

  /// Runs with one transport for exchanges and waits, so that changes which the last exchange has seen do not end a
  /// wait.
  private func run(through connection: Connection, _ report: @Sendable (SyncEvent) -> Void) async throws {
    let (wakes, wake) = AsyncThrowingStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
    try await withThrowingTaskGroup(of: Void.self) { group in
      group.addTask { await Self.reporting(to: wake) { try await followStore(wake) } }
      let news = PlaceNews()
      group.addTask { await Self.reporting(to: wake) { try await followPlace(of: connection, news, wake) } }
      wake.yield()
      var (failures, wasStopped) = (0, false)
      var refusedUntil: ContinuousClock.Instant?
      var retry: Task<Void, any Error>?
      defer { retry?.cancel() }
      for try await _ in wakes {
        try Task.checkCancellation()
        let isNews = news.isThere.exchange(false, ordering: .relaxed)
        if !isNews, try isRefused(until: refusedUntil) { continue }
        let (event, seconds) = try await exchangeOnce(through: connection, news, failures: failures)
        if case .failed = event { failures += 1 } else { failures = 0 }
        refusedUntil = event.isRefusal ? seconds.map { .now + .seconds($0) } : nil
        retry?.cancel()
        retry = seconds.map { seconds in
          Task {
            try await Task.sleep(for: .seconds(seconds))
            wake.yield()
          }
        }
        let isStopped = if case .stopped = event { true } else { false }
        if !isStopped || !wasStopped { report(event) }
        wasStopped = isStopped
      }
      group.cancelAll()
    }
    try Task.checkCancellation()
  }

  /// Whether a refused exchange must not be tried again yet; another process may have synchronised the store meanwhile.
  private func isRefused(until end: ContinuousClock.Instant?) throws -> Bool {
    guard let end, end > .now else { return false }
    return try store.readSynchronization { try $0.requireSyncSettings().refused != nil }
  }

  private typealias Wake = AsyncThrowingStream<Void, any Error>.Continuation

  /// Runs a body; its error ends the agent.
  private static func reporting(to wake: Wake, _ body: () async throws -> Void) async {
    do {
      try await body()
    } catch {
      wake.finish(throwing: error)
    }
  }

  /// Exchanges once.
  ///
  /// - Returns: What happened, and after how many seconds to exchange again although nothing changes.
  private func exchangeOnce(
    through connection: Connection, _ news: PlaceNews, failures: Int
  ) async throws -> (event: SyncEvent, retryInSeconds: Double?) {
    if try store.requireSyncSettings().isStopped { return (.stopped, nil) }
    do {
      let exchange = try await exchange(through: connection)
      news.checkedTransactionID.store(exchange.transactionID, ordering: .relaxed)
      return (.synchronized(exchange.report), exchange.isUnfinished ? 30 : nil)
    } catch let error as TallyError where Self.retriedCodes.contains(error.code) {
      let seconds = min(30, Double(1 << min(failures, 5)))
      return (.failed(error, retryInSeconds: seconds), seconds)
    } catch let error as TallyError where error.code == .syncRefused {
      let seconds = Self.secondsAfterRefusal(error.refusal, failures: failures)
      return (.failed(error, retryInSeconds: seconds), seconds)
    }
  }

  /// After how many seconds to ask a place again that has refused, and has done so some times before.
  static func secondsAfterRefusal(_ refusal: SyncRefusal?, failures: Int) -> Double {
    refusal?.retryInSeconds ?? min(300, 5 * Double(1 << min(failures, 6)))
  }

  /// The codes of faults that may pass without an action here: another device may send the missing key.
  private static let retriedCodes: [TallyError.Code] = [
    .syncUnreachable, .syncBusy, .storeBusy, .diskFull, .spaceKeyMissing,
  ]

  /// Wakes the agent after local commits, when none follows for a moment.
  private func followStore(_ wake: Wake) async throws {
    for try await _ in try store.changes() {
      try await Task.sleep(for: .milliseconds(150))
      wake.yield()
    }
  }

  /// Wakes the agent when the place changes, and once an hour: an agent with nothing to do writes nothing.
  ///
  /// It also notices within a minute that the store has moved to another place.
  private func followPlace(of connection: Connection, _ news: PlaceNews, _ wake: Wake) async throws {
    var (lastWake, refusals) = (ContinuousClock.now, 0)
    while !Task.isCancelled {
      var isChanged = true
      do {
        isChanged = try await connection.transport.waitForChanges(seconds: 60)
        if isChanged { news.isThere.store(true, ordering: .relaxed) }
        refusals = 0
      } catch let error as CancellationError {
        throw error
      } catch {
        // It cannot be reached, or refuses: the exchange says so.
        let refusal = (error as? any SyncTransportError)?.refusal
        let seconds = refusal.map { Self.secondsAfterRefusal($0, failures: refusals) } ?? 5
        refusals = refusal == nil ? 0 : refusals + 1
        try await Task.sleep(for: .seconds(seconds))
      }
      if !isChanged { isChanged = try await hasMoved(from: connection, news) }
      guard isChanged || lastWake + .seconds(3_600) < .now else { continue }
      lastWake = .now
      wake.yield()
    }
  }

  /// Whether the store has moved to another place or space.
  ///
  /// The store is read only if something was committed since the last look: even a read writes, into the lock file.
  private func hasMoved(from connection: Connection, _ news: PlaceNews) async throws -> Bool {
    let transactionID = try store.lastTransactionID()
    if transactionID == news.checkedTransactionID.load(ordering: .relaxed) { return false }
    guard try await spaceAndPlace() == (connection.space, connection.place) else { return true }
    news.checkedTransactionID.store(transactionID, ordering: .relaxed)
    return false
  }

  /// The tasks and lists deleted since the store joined its space, the newest first.
  ///
  /// - Returns: The deleted tasks and lists.
  /// - Throws: `TallyError` with `notSynchronising`.
  public func trash() async throws -> [DeletedItem] {
    try store.readSynchronization { transaction in
      _ = try transaction.requireSyncSettings()
      let table = try StateTable(in: transaction)
      let items = try transaction.deletedObjects().map { object in
        let (key, name) =
          switch object {
          case .task(let task): (ObjectKey(isList: false, id: task.id), task.title)
          case .list(let list): (ObjectKey(isList: true, id: list.id), list.name)
          }
        let time = try transaction.pendingTime(ofDeleting: key) ?? table.state(of: key, in: transaction).deletionTime
        let noticed = try transaction.timeOfKeeping(isList: key.isList, id: key.id)
        return DeletedItem(
          id: key.id, isList: key.isList, name: name, deletedAt: time.map(Timestamp.init(clamping:)) ?? noticed,
          noticedAt: noticed)
      }
      return items.sorted {
        ($0.deletedAt ?? .earliest, $0.id.uuidString) > ($1.deletedAt ?? .earliest, $1.id.uuidString)
      }
    }
  }

  /// Creates deleted tasks and lists again, with everything that they had, on every replica.
  ///
  /// - Parameter ids: Their ids.
  /// - Throws: `TallyError` with `notSynchronising`, or `taskNotFound` for an id that is not in the trash; nothing is
  ///   restored then.
  public func restore(_ ids: [UUID]) async throws {
    try await store.write { transaction in
      _ = try transaction.requireSyncSettings()
      // Lists before their tasks, and parents before their sub-tasks.
      var open = try ids.filter { id in
        guard try transaction.deletedList(id) != nil else { return true }
        try transaction.restoreDeletedList(id)
        return false
      }
      while !open.isEmpty {
        let waiting = Set(open)
        let next = try open.filter { try transaction.deletedTask($0)?.parentID.map { !waiting.contains($0) } ?? true }
        // Parents never form a ring; if they did, one of them would be restored first.
        for id in next.isEmpty ? [open[0]] : next { try transaction.restoreDeletedTask(id) }
        let done = Set(next.isEmpty ? [open[0]] : next)
        open.removeAll { done.contains($0) }
      }
    }
  }
}

/// The agent's knowledge of its place.
private final class PlaceNews: Sendable {
  /// Whether the place has something new, which is fetched even while it refuses this store's segments.
  ///
  /// True at first: the first exchange always happens.
  let isThere = Atomic(true)
  /// The newest transaction with which the store had not moved; -1 for none.
  let checkedTransactionID = Atomic(-1)
}

extension SyncEvent {
  fileprivate var isRefusal: Bool { if case .failed(let error, _) = self { error.code == .syncRefused } else { false } }
}

/// A deleted task or list that can be restored.
public struct DeletedItem: Hashable, Sendable, Identifiable {
  /// The id that it had, and has again when it is restored.
  public let id: UUID
  /// Whether it is a list.
  public let isList: Bool
  /// The title of the task or the name of the list.
  public let name: String
  /// When it was deleted, by the clock of the device that has deleted it.
  public let deletedAt: Timestamp?
  /// When this store has deleted it, or has learned that another one had; 30 days later it cannot be restored any more.
  public let noticedAt: Timestamp?
}

extension StoreTransaction where Base: ~Copyable {
  /// When an object was deleted, if that was not undone yet.
  fileprivate func pendingTime(ofDeleting object: ObjectKey) throws -> Int64? {
    try pendingTime(of: .life, isList: object.isList, id: object.id).flatMap { GeneratedTime.contains($0) ? nil : $0 }
  }
}

extension ObjectState {
  /// When it was deleted; `nil` if it is not.
  fileprivate var deletionTime: Int64? {
    registers[.life].flatMap { isDeleted && !GeneratedTime.contains($0.time) ? $0.time : nil }
  }
}
