import Foundation
public import SystemPackage
import Tally
import TallySystem

extension StoreSync {
  /// Sends and fetches until nothing is left.
  ///
  /// - Returns: A summary.
  /// - Throws: `TallyError` with `notSynchronising`, `syncUnreachable` or `syncRefused` (nothing is lost, changes wait),
  ///   `syncBusy`, `deviceRevoked` or `spaceKeyMissing`.
  @discardableResult
  public func synchronize() async throws -> SyncReport {
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
  /// - Throws: As ``synchronize()``.
  @discardableResult
  public func synchronize(through transport: some SyncTransport) async throws -> SyncReport {
    let lock = try await acquireTurn()
    defer { lock.release() }
    return try await exchange(through: transport).report
  }

  /// The outcome of one exchange.
  struct Exchange {
    let report: SyncReport
    /// Whether something could not be read that may be readable soon.
    let isUnfinished: Bool
    /// The store's newest transaction when it ended: until then the store had not moved.
    let transactionID: Int
  }

  /// The store belongs to a different space than the connection, or its place is elsewhere.
  struct PlaceChanged: Error {}

  /// The place of a store's space, and the way there.
  struct Connection {
    let space: SpaceID
    let place: SyncPlace
    let transport: any SyncTransport
  }

  /// Connects to the place of the store's space.
  ///
  /// - Throws: As ``synchronize()``.
  func connect() async throws -> Connection {
    let (space, place) = try await spaceAndPlace()
    return Connection(space: space, place: place, transport: try transport(to: place, space: space))
  }

  func spaceAndPlace() async throws -> (SpaceID, SyncPlace) {
    let settings = try store.requireSyncSettings()
    return (try settings.spaceKeys().space, settings.syncPlace)
  }

  /// Exchanges through the place of the store's space; missing parts are created.
  ///
  /// - Throws: ``PlaceChanged``; what ``synchronize()`` throws.
  func exchange(through connection: Connection) async throws -> Exchange {
    let lock = try await acquireTurn()
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
    try await store.setSyncSetting(\.isStopped, to: false)
    let (count, listsBefore) = try store.read { (try $0.taskCount, try $0.lists()) }
    let progress = try await recordingRefusals {
      try await SyncEngine(store: store, transport: transport).synchronize()
    }
    let report = try store.readSynchronization { transaction in
      let deleted = try progress.received.deletedTaskIDs.filter { try transaction.task($0) == nil }
      return SyncReport(
        sent: progress.sent, received: progress.received.changeCount,
        pending: try transaction.countPending().count,
        conflicts: try transaction.openConflicts().count,
        blocked: try transaction.blockedReplicas().filter { !$0.isRevoked }, deletedTaskIDs: deleted,
        isMassDeletion: Double(deleted.count) > max(50, 0.3 * Double(count)),
        listsOfOneName: try transaction.lists().ofOneName(notAmong: listsBefore),
        clocks: try transaction.clockDifferences(), unsentTexts: try transaction.unsentTexts())
    }
    let isStopped = report.blocked.contains { !$0.blockReason.kind.needsAPerson }
    let isUnfinished = progress.received.hasSkipped || isStopped
    return Exchange(report: report, isUnfinished: isUnfinished, transactionID: try store.lastTransactionID())
  }

  /// Records a refusal by the place for the status, until an exchange succeeds.
  private func recordingRefusals(
    _ exchange: () async throws -> SyncEngine.Progress
  ) async throws -> SyncEngine.Progress {
    do {
      let progress = try await exchange()
      if let refusal = progress.refusal { throw refusal }
      try await store.setSyncSetting(\.refused, to: nil)
      return progress
    } catch let error as TallyError where error.code == .syncRefused {
      try await store.setSyncSetting(\.refused, to: error.refusal?.reason)
      throw error
    } catch let error as TallyError where error.code == .deviceRevoked {
      // Only a record of the space shuts this store out for good; a hub is asked again.
      try await store.setSyncSetting(\.refused, to: error.message)
      try await store.setSyncSetting(\.isOwner, to: false)
      throw error
    }
  }

  /// Writes all that this store knows into one sealed file, which another store of the space applies.
  ///
  /// ```swift
  /// try await StoreSync(laptop).writeDifference(to: "/media/stick/laptop.tally")
  /// try await StoreSync(phone).apply("/media/stick/laptop.tally")
  /// ```
  ///
  /// - Parameters:
  ///   - file: The file, which is replaced as a whole.
  ///   - other: A file that the other store has written, so that only the differences from it are written; `nil` to
  ///     write everything.
  /// - Returns: How many objects the file has.
  /// - Throws: `TallyError` with `notSynchronising`, `outputNotCreated`, `inputUnreadable` or `malformedDocument`.
  @discardableResult
  public func writeDifference(to file: FilePath, from other: FilePath? = nil) async throws -> Int {
    let bytes = try other.map(Self.contents)
    let lock = try await acquireTurn()
    defer { lock.release() }
    try await becomeOwnReplica()
    let (card, draft) = try await store.write { transaction in
      let known = try bytes.map { try transaction.open($0).content.states } ?? [:]
      return (try transaction.ownCard(), try transaction.draftSnapshot(without: known))
    }
    do {
      let output = try AtomicFile(replacing: file)
      _ = try output.descriptor.writeAll(card)
      try await draft.forEachPart { _, part in _ = try output.descriptor.writeAll(part) }
      try output.publish()
    } catch {
      throw TallyError(
        .outputNotCreated, "The file cannot be written: \(file.string)", remedy: "Name another file", cause: error)
    }
    return draft.objectCount
  }

  /// Merges a file that another store of the space has written.
  ///
  /// Applying a file again, or an old one, changes nothing.
  ///
  /// - Parameter file: The file.
  /// - Returns: How many objects have changed.
  /// - Throws: `TallyError` with `notSynchronising`, `deviceRevoked`, `spaceKeyMissing`, `inputUnreadable`, or
  ///   `malformedDocument` for a file that is damaged, of another space, of a revoked device, or no such file; nothing
  ///   is changed then.
  @discardableResult
  public func apply(_ file: FilePath) async throws -> Int {
    let bytes = try Self.contents(of: file)
    let lock = try await acquireTurn()
    defer { lock.release() }
    try await becomeOwnReplica()
    return try await store.write { transaction in
      try transaction.showCarriedValues()
      let (card, content) = try transaction.open(bytes)
      let count = try transaction.apply(content, by: card)
      if count > 0 { try transaction.finishMerge() }
      return count
    }
  }

  /// Ensures that a copy of a store does not write as the replica that the original is.
  private func becomeOwnReplica() async throws {
    let replica = try store.requireSyncSettings().replicaID
    if !ReplicaFile(of: store).names(replica) { try await store.becomeNewReplica(placeHasLost: false) }
  }

  /// The largest file that is read: its sealed parts and their content are in memory at the same time.
  private static let mostBytes = 4 << 30

  private static func contents(of file: FilePath) throws -> [UInt8] {
    do {
      return try WholeFile.read(file, atMost: mostBytes)
    } catch {
      let reason = error is Errno ? "" : " (\(error))"
      throw TallyError(
        .inputUnreadable, "The file cannot be read: \(file.string)\(reason)", remedy: "Check its name", cause: error)
    }
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

// Without a place: two stores of a space that cannot share a folder exchange files.

extension StoreWriteTransaction {
  /// The card of this replica, made if there is none yet.
  fileprivate mutating func ownCard() throws -> [UInt8] {
    let replica = try requireSyncSettings().replicaID
    return try syncValue(forKey: SyncKey.cards + replica.bytes) ?? makeCard().card.bytes
  }

  /// Verifies and opens a file: a card, then the parts of a snapshot of the same replica.
  ///
  /// The card may bring a new key.
  fileprivate mutating func open(_ bytes: [UInt8]) throws -> (card: Envelope, content: SnapshotPart) {
    do {
      let envelopes = try Envelope.all(in: bytes)
      guard let first = envelopes.first, envelopes.count > 1 else { throw EnvelopeFault.tooShort }
      let author = first.header.label.replica
      try mergeCards([author: first.bytes]).requireMerged()
      let (keys, membership) = (try requireSyncSettings().spaceKeys(), try membership())
      let card = try Card(opening: first, of: author, in: keys)
      guard membership.revocations[author] == nil,
        membership.admits(author, card.verifyingKey, sealedInEpoch: first.header.epoch)
      else { throw EnvelopeFault.notOfMember }
      if let known = try self.card(of: author), known.verifyingKey != card.verifyingKey {
        throw EnvelopeFault.signatureDoesNotVerify
      }
      var (states, summary): (SnapshotPart.States, SnapshotSummary?) = ([:], nil)
      for (number, envelope) in envelopes.dropFirst().enumerated() {
        let content = try envelope.open(as: .snapshotPart, of: author, verifying: card.verifyingKey, in: keys)
        let part = try SnapshotPart(decoding: content, by: author)
        guard envelope.header.label.number == UInt64(number), part.summary.partCount == envelopes.count - 1,
          part.summary == summary ?? part.summary
        else { throw EnvelopeFault.tooShort }
        summary = part.summary
        states.merge(part.states) { $0.joined(with: $1) }
      }
      guard let summary else { throw EnvelopeFault.tooShort }
      return (first, SnapshotPart(summary: summary, states: states))
    } catch let fault as EnvelopeFault {
      throw TallyError(
        .malformedDocument, "The file cannot be read: \(fault.description)",
        remedy: "Write it again with the other store of the space", cause: fault)
    }
  }

  fileprivate mutating func apply(_ content: SnapshotPart, by card: Envelope) throws -> Int {
    let author = card.header.label.replica
    if try self.card(of: author) == nil { try setSyncValue(card.bytes, forKey: SyncKey.cards + author.bytes) }
    do {
      return try merge(content.states, reading: SnapshotReading(content.summary, in: self)).result
    } catch let fault as CodingFault {
      throw TallyError(
        .malformedDocument, "The file has values that no task can have", remedy: "Write it with a newer version",
        cause: fault)
    }
  }
}
