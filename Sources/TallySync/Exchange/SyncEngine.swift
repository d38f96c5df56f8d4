import Foundation
import Tally

/// Exchanges changes with the place of a space: seals and sends local ones, fetches and merges those of others.
///
/// Each step that changes something is a write of its own; the others only read. Any step can fail without loss: sealed
/// changes wait in the store until they are acknowledged, and the position of a stream moves in the write that merges
/// its segment.
struct SyncEngine {
  let store: TaskStore
  let transport: any SyncTransport

  /// The results of one run.
  struct Progress {
    /// Objects whose changes were sent, one for each segment in which they are.
    var sent = 0
    var received = Received()
    /// The refusal, if the place refused part of this replica's data.
    ///
    /// Everything else was done.
    var refusal: TallyError?
    /// Whether files of this replica at the place may have changed.
    var hasWritten = false

    /// Runs a step, and records a refusal by the place, so that the exchange can continue with the next step.
    ///
    /// - Parameter step: Gets whether the place has refused something before; returns whether it has written there.
    /// - Throws: What the step throws, except refusals.
    mutating func attempt(_ step: (_ isRefused: Bool) async throws -> Bool) async throws {
      do {
        if try await step(refusal != nil) { hasWritten = true }
      } catch let error as TallyError where error.code == .syncRefused {
        (refusal, hasWritten) = (refusal ?? error, true)
      }
    }
  }

  /// The streams and cards at the place at one moment.
  struct PlaceContent {
    let heads: [ReplicaID: SegmentHead]
    let cards: [ReplicaID: [UInt8]]
  }

  private func readPlace() async throws -> PlaceContent {
    try await reach { PlaceContent(heads: try await transport.heads(), cards: try await transport.cards()) }
  }

  /// Exchanges until nothing is left in either direction.
  ///
  /// - Returns: How much was sent and received.
  /// - Throws: `TallyError` with `syncUnreachable`, `deviceRevoked` or `spaceKeyMissing`; what the store throws.
  func synchronize() async throws -> Progress {
    var progress = Progress()
    if try store.requireSyncSettings().isRevoked == true { throw TallyError.deviceRevoked }
    if try store.readSynchronization({ try $0.hasSettledConflicts() }) {
      try await store.write { try $0.removeSettledConflicts() }
    }
    if try store.readSynchronization({ try $0.hasCarriedValues() }) {
      try await store.write { try $0.showCarriedValues() }
    }
    let start = try await readPlace()
    // Cards come first: a new key must be known before anything is sealed, and before a copy becomes a new replica, for
    // which nobody has sealed that key.
    try await mergeCards(of: start)
    try await progress.attempt { _ in try await publishIdentity(after: start) }
    if try await checkOwnFiles() { progress.hasWritten = true }
    var (last, stopped) = (start, Set<ReplicaID>())
    // Others may write meanwhile; without a bound, a fast writer could prolong this forever.
    for round in 0..<Self.maximumRounds {
      let content = try await round == 0 ? start : readPlace()
      last = content
      if round > 0 {
        try await mergeCards(of: content)
        try await progress.attempt { _ in try await publishCard(after: content) }
      }
      var sent = 0
      try await progress.attempt { isRefused in
        if !isRefused { sent = try await send() }
        return sent > 0
      }
      // Snapshots that others publish meanwhile are found by the next exchange.
      let received = try await receive(after: content, includingSnapshots: round == 0)
      if received.changeCount > 0, try store.readSynchronization({ try $0.isMergeUnfinished() }) {
        try await store.write { try $0.finishMerge() }
      }
      progress.sent += sent
      progress.received += received
      stopped.formUnion(received.stopped)
      if sent == 0, received.changeCount == 0 { break }
    }
    try await recordBlockReasons(after: last, besides: stopped)
    try await progress.attempt { _ in try await publishSnapshotIfDue() }
    try await progress.attempt { _ in try await deleteOldFiles() }
    try await progress.attempt { _ in try await publishRecovery() }
    try await storeRole()
    if progress.hasWritten {
      let replica = try store.requireSyncSettings().replicaID
      try await reach { try await transport.pack(replica) }
      try await recordMark()
    }
    return progress
  }

  private static let maximumRounds = 100

  /// Ensures that this store writes as a replica that nobody else is, and that the place knows its card.
  ///
  /// - Returns: Whether the card was written.
  private func publishIdentity(after content: PlaceContent) async throws -> Bool {
    let settings = try store.requireSyncSettings()
    let remote = content.heads[settings.replicaID] ?? .none
    let isOurs = ReplicaFile(of: store).names(settings.replicaID)
    // A new place has not lost a stream that will only continue there.
    let isContinued = settings.beginsStream == true && remote == .none
    let isLost = isContinued ? false : try await isBehind(remote, settings)
    if !isOurs || isAhead(remote, of: settings) || isLost {
      try await store.becomeNewReplica(placeHasLost: isLost)
    }
    return try await publishCard(after: content)
  }

  /// Merges the cards of others, which contain the newest key of the space.
  private func mergeCards(of content: PlaceContent) async throws {
    guard try store.readSynchronization({ try $0.hasNewCards(content.cards) }) else { return }
    try await store.write { try $0.mergeCards(content.cards) }.requireMerged()
  }

  /// Ensures that the place has the card of this replica.
  ///
  /// - Returns: Whether it was written.
  private func publishCard(after content: PlaceContent) async throws -> Bool {
    let (replica, known) = try store.readSynchronization { transaction in
      let replica = try transaction.requireSyncSettings().replicaID
      return (replica, try transaction.syncValue(forKey: SyncKey.cards + replica.bytes))
    }
    let there = content.cards[replica]
    guard there == nil || there != known else { return false }
    let (number, card) = try await store.write { try $0.makeCard() }
    try await reach { try await transport.putCard(card.bytes, of: replica, number: number) }
    return true
  }

  /// Stores whether the hub calls this device an owner, which decides whether it has a recovery code.
  private func storeRole() async throws {
    guard try store.requireSyncSettings().syncPlace.isHub else { return }
    try await store.setSyncSetting(\.isOwner, to: transport.isOwner)
  }

  /// Ensures that the place can restore this owner by the recovery code on paper, or by a new one that nobody has seen yet.
  ///
  /// - Returns: Whether files of this replica have changed: never.
  private func publishRecovery() async throws -> Bool {
    guard let known = transport.recoveries else { return false }
    let settings = try store.requireSyncSettings()
    guard let code = try settings.recoveryCode() else { return false }
    let proof = try RecoveryProof(code)
    if known.contains(proof.verifier.bytes) { return false }
    // The user may have a code on paper from before hubs restored owners: it stays valid if the place accepts it.
    if settings.shownKeyHash != nil || settings.recoverySecret != nil {
      if try await reach({ try await transport.putRecovery(proof.verifier) }) { return false }
    }
    let own = try await store.changeSyncSettings { settings in
      settings.renewRecoverySecret()
      return try settings.recoveryCode()
    }
    guard let own else { return false }
    _ = try await reach { try await transport.putRecovery(RecoveryProof(own).verifier) }
    return false
  }

  /// Whether somebody else has written as this replica: it was copied, or the machine went back in time.
  private func isAhead(_ remote: SegmentHead, of settings: SyncSettings) -> Bool {
    if remote.number > settings.sealed.number { return true }
    return remote.number == settings.acknowledged.number && remote.number > 0
      && remote != settings.acknowledged.head
  }

  /// Whether the place has lost what it had acknowledged; segments that are there but cannot be read now are not lost.
  private func isBehind(_ remote: SegmentHead, _ settings: SyncSettings) async throws -> Bool {
    let (replica, last) = (settings.replicaID, settings.acknowledged.number)
    guard remote.number < last else { return false }
    let gaps = try await reach { try await transport.gaps(of: replica, after: remote.number, upTo: last) }
    for gap in gaps { if case .unreadable(let reason) = gap.cause { throw TallyError.unreadableOwnFiles(reason) } }
    return !gaps.allSatisfy { $0.cause == .notFetched }
  }

  /// Runs a call of the transport; its errors say that the place cannot be reached, or refuses.
  func reach<R>(_ body: () async throws -> R) async throws -> R {
    do {
      return try await body()
    } catch let error as CancellationError {
      throw error
    } catch {
      throw TallyError.unreachable(error)
    }
  }

  // MARK: - Sending

  /// Seals local changes and sends what waits.
  ///
  /// - Returns: How many objects' changes were acknowledged.
  private func send() async throws -> Int {
    // A write after the last read goes into the next segment.
    while try store.readSynchronization({ try $0.hasPending() }),
      try await store.write({ try $0.sealLocalChanges() })
    {}
    var (sent, isFlushed) = (0, false)
    while true {
      let batch = try store.readSynchronization { try Outbox.nextBatch(in: $0) }
      guard let replica = batch.first?.header.label.replica else { return sent }
      // After a power cut a relaxed store could have lost a segment that others have already, and seal another one with
      // its number.
      if !isFlushed { try store.flush() }
      isFlushed = true
      let answers = try await reach { try await append(batch, of: replica) }
      let stored = Array(batch.prefix(answers.prefix { $0.isThere }.count))
      sent += try await store.write { try $0.acknowledge(stored) }
      switch answers.last {
      case .fork?, .gap?:
        try await changeIdentity(placeHasLost: answers.last != .fork)
        isFlushed = false
      case .refused(let reason)?:
        throw TallyError.refused(SyncRefusal(reason))
      case .stored?, .known?, nil:
        continue
      }
    }
  }

  /// Sends segments; at a place to which the store has moved, the stream may begin with a later segment than the first.
  private func append(_ batch: [Envelope], of replica: ReplicaID) async throws -> [AppendAnswer] {
    if let folder = transport as? FolderTransport,
      try store.requireSyncSettings().beginsStream == true
    {
      try await folder.begin(batch[0].bytes, of: replica)
      try await store.changeSyncSettings { $0.beginsStream = nil }
    }
    let answers = try await transport.append(batch.map(\.bytes), of: replica)
    guard (1...batch.count).contains(answers.count) else { throw UnansweredSegments() }
    return answers
  }

  /// The place has answered to none of the segments, or to more than it was sent.
  private struct UnansweredSegments: Error, CustomStringConvertible {
    let description = "It does not say which changes it has stored."
  }

  private func changeIdentity(placeHasLost: Bool) async throws {
    try await store.becomeNewReplica(placeHasLost: placeHasLost)
    _ = try await publishIdentity(after: readPlace())
  }
}

extension StoreTransaction where Base: ~Copyable {
  /// Whether changes of others require a write by this replica.
  fileprivate func isMergeUnfinished() throws -> Bool {
    let (settings, records) = (try requireSyncSettings(), try DeviceRecords(in: self))
    if try hasSyncValues(withPrefix: SyncKey.touchedSeries) { return true }
    if try !ListMerges(in: self).isEmpty || records.successor(of: settings.replicaID) != nil { return true }
    return records.name(of: settings.replicaID).map { $0 != settings.deviceName } ?? false
  }

  /// Whether something that was last done at a time is due again: it never was, a period ago or longer, or in the future.
  fileprivate func isDue(since last: Int64?, everySeconds seconds: Int64) -> Bool {
    let now = now.microsecondsSince1970
    return last.map { $0 > now || now - $0 >= seconds * 1_000_000 } ?? true
  }

  /// How long a silent replica is expected to come back.
  private static var maximumSilence: Int64 { 400 * 86_400 * 1_000_000 }

  /// The last own segment that every replica active in the last 400 days has merged.
  fileprivate func numberThatAllHaveSeen() throws -> UInt64 {
    let (settings, progress, revoked) = (try requireSyncSettings(), try streamProgress(), try revocations())
    var least = UInt64.max
    for (key, _) in try syncValues(under: SyncKey.cards) {
      guard let replica = ReplicaID(bytes: key), replica != settings.replicaID, revoked[replica] == nil,
        let card = try card(of: replica)
      else { continue }
      let known = progress[replica]
      let lastSign = max(known?.lastSeen ?? .min, card.createdAt)
      guard lastSign >= now.microsecondsSince1970 - Self.maximumSilence else { continue }
      least = min(least, known?.hasSeen ?? 0)
    }
    return least
  }
}

extension StoreTransaction where Base: ~Copyable {
  /// Whether an earlier version of the program may have merged this store last.
  func hasCarriedValues() throws -> Bool { try syncValue(forKey: SyncKey.shownFields) != ObjectState.shownFields }
}

extension StoreWriteTransaction {
  /// Shows what an earlier version of the program has carried on without knowing it; once, after an upgrade.
  mutating func showCarriedValues() throws {
    guard try hasCarriedValues() else { return }
    _ = try merging { merge, _, transaction in
      // The values of all states need not be in memory at once.
      var objects: [ObjectKey] = []
      try transaction.forEachSyncValue(withPrefix: SyncKey.states) { key, _ in
        if let object = try? ObjectKey(bytes: key.dropFirst(SyncKey.states.count)) { objects.append(object) }
        return true
      }
      for object in objects where object.isTask || object.isSeries {
        let state = try merge.state(of: object, in: transaction)
        if object.isSeries || state.hasLaterFields { try merge.showAgain(object, in: transaction) }
      }
    }
    try setSyncValue(ObjectState.shownFields, forKey: SyncKey.shownFields)
    try finishMerge()
  }

  /// Makes the writes that changes of others require of this replica, after these changes were merged.
  mutating func finishMerge() throws {
    try completeListMerges()
    try completeSeries()
    try applyDeviceRecords()
  }

  /// Makes the next card of this replica.
  mutating func makeCard() throws -> (number: UInt64, card: Envelope) {
    var settings = try requireSyncSettings()
    settings.cardNumber += 1
    try setSyncSettings(settings)
    let keys = try settings.secretKeys()
    let space = try settings.spaceKeys()
    // A card has a limit, and a long name must not stop synchronisation.
    let name = String(decoding: settings.deviceName.utf8.prefix(1_000), as: UTF8.self)
    let card = Card(name: name, keys: keys, createdAt: now.microsecondsSince1970, olderKeys: space.olderKeys)
    let envelope = try card.sealed(
      number: settings.cardNumber, of: settings.replicaID, with: keys, in: space, record: currentRecord())
    try setSyncValue(envelope.bytes, forKey: SyncKey.cards + settings.replicaID.bytes)
    return (settings.cardNumber, envelope)
  }

  /// Seals some of the local changes.
  ///
  /// - Returns: Whether there may be more.
  fileprivate mutating func sealLocalChanges() throws -> Bool {
    try settle(restoredConflicts())
    var settings = try requireSyncSettings()
    var merge = try StateMerge(in: self)
    let hasMore = try Outbox.seal(limit: Outbox.mostSealedAtOnce, with: &merge, &settings, in: &self)
    guard hasMore else { return false }
    try merge.finish(in: &self)
    try setSyncSettings(settings)
    return true
  }

  /// Removes segments that the place has stored.
  ///
  /// - Returns: How many objects they change.
  fileprivate mutating func acknowledge(_ envelopes: [Envelope]) throws -> Int {
    guard let last = envelopes.last else { return 0 }
    var settings = try requireSyncSettings()
    let space = try settings.spaceKeys()
    var count = 0
    for envelope in envelopes {
      try Outbox.remove(envelope.header.label.number, in: &self)
      settings.byteCountSinceSnapshot += envelope.bytes.count
      count += try SegmentBody(decoding: envelope.content(in: space), by: settings.replicaID).changes.count
    }
    settings.sealedChangeCount? -= count
    settings.acknowledged = StreamPosition(last)
    settings.lastSent = now.microsecondsSince1970
    try setSyncSettings(settings)
    return count
  }

  /// How long segments stay at the place, and how long records of deleted objects stay here.
  private static var retention: Int64 { 30 * 86_400 * 1_000_000 }

  /// Records how far the place has acknowledged today, and forgets the records of objects that were deleted long ago.
  ///
  /// - Returns: The last segment that is old enough to be deleted.
  fileprivate mutating func beginUpkeep() throws -> UInt64 {
    let now = now.microsecondsSince1970
    let acknowledged = try changeSyncSettings { settings in
      settings.lastUpkeep = now
      return settings.acknowledged.number
    }
    try setSyncValue(acknowledged.bigEndianBytes, forKey: SyncKey.ages + FieldValue.instant(self.now).storedBytes)
    try removeValuesOfDeleted(before: now - Self.retention)
    return try removeAges(before: now - Self.retention)
  }

  /// Returns the last segment that had been acknowledged at a time, and removes the rows before it.
  private mutating func removeAges(before time: Int64) throws -> UInt64 {
    var (number, old): (UInt64, [[UInt8]]) = (0, [])
    for (key, value) in try syncValues(under: SyncKey.ages) {
      guard let recorded = try FieldValue(.instant, storedBytes: key).instant?.microsecondsSince1970, recorded <= time
      else {
        break
      }
      number = max(number, UInt64(bigEndianBytes: value))
      old.append(key)
    }
    for key in old.dropLast() { try setSyncValue(nil, forKey: SyncKey.ages + key) }
    return number
  }
}

/// Checks that this replica's files at the place are intact.
extension SyncEngine {
  /// Checks that the place still returns the segments that others need from this replica: once an hour, and whenever
  /// somebody else has changed its files.
  ///
  /// That is the newest snapshot and the segments after it. If something is damaged or lost, a snapshot is due, which
  /// covers it.
  ///
  /// - Returns: Whether the files have changed since their mark was recorded.
  /// - Throws: `TallyError` with `syncUnreachable`; what the store throws.
  /// - Complexity: Reads those segments and that snapshot.
  func checkOwnFiles() async throws -> Bool {
    let settings = try store.requireSyncSettings()
    guard !settings.needsSnapshot, settings.acknowledged.number > 0 || settings.snapshot != nil else { return true }
    let mark = try await reach { try await transport.mark(of: settings.replicaID) }
    let isChanged = mark.map { Data($0) != settings.mark } ?? false
    let isDue = try store.readSynchronization { $0.isDue(since: settings.lastCheck, everySeconds: 3_600) }
    guard isDue || isChanged else { return false }
    if isDue {
      try await store.write { transaction in
        let now = transaction.now.microsecondsSince1970
        try transaction.changeSyncSettings { $0.lastCheck = now }
      }
    }
    if try await !areWhole(settings) { try await store.changeSyncSettings { $0.needsSnapshot = true } }
    return isChanged
  }

  /// Whether the place still returns the segments that others need from this replica.
  private func areWhole(_ settings: SyncSettings) async throws -> Bool {
    if let snapshot = settings.snapshot, try await !isWhole(snapshot.name(of: settings.replicaID)) { return false }
    return try await readOwnSegments(after: settings.snapshot?.coveredNumber ?? 0, settings)
  }

  /// Records the current mark of this replica's files.
  func recordMark() async throws {
    let settings = try store.requireSyncSettings()
    let mark = try await reach { try await transport.mark(of: settings.replicaID) }.map { Data($0) }
    if mark != settings.mark { try await store.changeSyncSettings { $0.mark = mark } }
  }

  /// Whether all parts of a snapshot are there and can be opened.
  func isWhole(_ name: SnapshotName) async throws -> Bool {
    guard try await reach({ try await transport.snapshots() }).contains(name) else { return false }
    guard let opener = try store.readSynchronization({ try $0.opener(of: name) }) else { return false }
    for number in 0..<name.partCount {
      // A snapshot with an unreadable part is not whole, either.
      guard let bytes = try? await transport.part(number, of: name), (try? opener.content(of: bytes, number)) != nil
      else {
        return false
      }
    }
    return true
  }
}

/// Deletes files of this replica that nobody needs any more.
extension SyncEngine {
  /// Deletes old segments of this replica that everybody has, and old snapshots of it, once a day.
  ///
  /// A segment is deleted if it is older than 30 days and a snapshot of this replica covers it. In addition, a snapshot
  /// of another replica must cover it, or all replicas that were active in the last 400 days must have merged it.
  ///
  /// - Returns: Whether some may have been deleted.
  /// - Throws: `TallyError` with `syncUnreachable`; what the store throws.
  func deleteOldFiles() async throws -> Bool {
    let isDue = try store.readSynchronization {
      try $0.isDue(since: $0.requireSyncSettings().lastUpkeep, everySeconds: 86_400)
    }
    guard isDue else { return false }
    let (old, settings) = try await store.write { try ($0.beginUpkeep(), $0.requireSyncSettings()) }
    guard let own = settings.snapshot else { return false }
    let names = try await reach { try await transport.snapshots() }
    guard names.contains(own.name(of: settings.replicaID)) else { return false }
    let number = try await lastDeletableNumber(upTo: min(old, own.coveredNumber), names)
    let snapshots = names.filter { $0.replica == settings.replicaID && $0.number + 1 < own.number }
    try await reach { try await transport.delete(segmentsOf: settings.replicaID, upTo: number, snapshots: snapshots) }
    return true
  }

  /// The last own segment that all active replicas have merged, or that another replica's snapshot covers.
  private func lastDeletableNumber(upTo last: UInt64, _ names: [SnapshotName]) async throws -> UInt64 {
    guard last > 0 else { return 0 }
    var (own, covered) = try store.readSynchronization {
      try ($0.requireSyncSettings().replicaID, $0.numberThatAllHaveSeen())
    }
    for name in names where name.replica != own && covered < last {
      guard let first = try? await openPart(0, of: name), let position = first.summary.coverage[own],
        position.number > covered, try await isWhole(name)
      else { continue }
      covered = position.number
    }
    return min(last, covered)
  }
}
