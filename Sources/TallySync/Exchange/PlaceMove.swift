import Foundation
public import SystemPackage
import Tally
import TallySystem

// A store continues with its space at another place: the folder was renamed or moved, or another folder or a hub
// replaces it. The store remains the same replica if its stream can continue there: the new place already has its last
// segment, gets it from the old place, or has none of its segments. Otherwise it continues as a new replica, as it does
// at a place that has lost segments, and at a hub where another member has written its stream. Nothing is lost either
// way.

/// The result of moving a store's space to another place.
public struct PlaceMove: Hashable, Sendable {
  /// The present place of the space: the path of a folder, or the address of a hub.
  public let place: String
  /// How many files or segments were copied from the old place; `nil` if the old place could not be reached.
  public let copied: Int?
  /// How many files of the old place the new one lacks because they could not be read, are incomplete, or are not downloaded.
  ///
  /// A directory that could not be read counts as one.
  public let notCopied: Int
  /// Whether this store has first exchanged changes with the old place; if not, it may lack changes of other devices.
  public let hasExchanged: Bool
  /// The replicas whose changes are known to exist but were not completely at the old place.
  public let incomplete: [BlockedReplica]
  /// Whether the new place lacks segments of this device that the old place had stored: the next exchange sends a snapshot.
  public let lacksOwnSegments: Bool
}

extension StoreSync {
  /// Continues with the space in another folder, which may be the old folder under a new name.
  ///
  /// If the old place can be reached, this store first exchanges changes with it, and then whatever the new place lacks is
  /// copied, file by file. No file of the old place is removed. Each other device that used the old place must also
  /// move. Nothing is exchanged with the new place yet.
  ///
  /// - Parameter folder: A folder that has the space, or has no space yet.
  /// - Returns: What was done.
  /// - Throws: `TallyError` with `notSynchronising`, `deviceRevoked` or `placeOfOtherSpace`; with `syncUnreachable` if the
  ///   folder is not there or this user may not write to it. After an error the store stays at the old place.
  @discardableResult
  public func move(to folder: FilePath) async throws -> PlaceMove {
    let lock = try await acquireTurn()
    defer { lock.release() }
    let settings = try await movableSettings()
    let space = try settings.spaceKeys()
    var path = try absolute(folder)
    if let named = (path.lastComponent?.string).flatMap(FolderSpaces.space) {
      guard named == space.space else { throw TallyError.placeOfOtherSpace }
      // The user named the directory of the space itself.
      path.removeLastComponent()
    }
    let spaces = try FolderSpaces.find(in: path)
    guard spaces.contains(space.space) || spaces.isEmpty else { throw TallyError.placeOfOtherSpace }
    let target = FolderTransport(at: path, space: space.space.bytes, disk: FolderDisk())
    let old = try await exchangeWithOldPlace(of: settings)
    do {
      try await target.prepare()
      try await target.checkWritable()
      guard try await target.belongs(to: space) else { throw TallyError.placeOfOtherSpace }
    } catch let error as TallyError {
      throw error
    } catch {
      throw TallyError.unreachable(error)
    }
    let copied = try await copy(from: old, to: target)
    return try await settle(at: SyncPlace(path.string), through: target, after: old, copied: copied)
  }

  /// Continues with the space at a place that already knows this device, such as a hub.
  ///
  /// If the old place can be reached, this store first exchanges changes with it. This store sends its own segments to
  /// the new place, and a snapshot of the changes that it has read of others. Other devices send their own segments
  /// when they move.
  ///
  /// - Parameter place: The place, where the space already exists.
  /// - Returns: What was done.
  /// - Throws: `TallyError` with `notSynchronising`, `deviceRevoked`, `placeOfOtherSpace` or `syncUnreachable`. After
  ///   an error the store stays at the old place; it may have become a new replica.
  @discardableResult
  public func move(to place: SyncPlace) async throws -> PlaceMove {
    guard place.isHub else { return try await move(to: FilePath(place.address)) }
    let lock = try await acquireTurn()
    defer { lock.release() }
    let settings = try await movableSettings()
    let space = try settings.spaceKeys()
    let target = try transport(to: place, space: space.space)
    do {
      guard try await target.belongs(to: space) else { throw TallyError.placeOfOtherSpace }
      let old = try await exchangeWithOldPlace(of: settings)
      let former = try store.requireSyncSettings().replicaID
      if try await target.refuses(former) { try await store.becomeNewReplica(placeHasLost: true) }
      let own = try store.requireSyncSettings().replicaID
      let copied = own == former ? try await target.copyStream(of: own, from: old.transport) : 0
      return try await settle(
        at: place, through: target, after: old, copied: Copied(count: copied), isNewReplica: own != former)
    } catch let error as TallyError {
      throw error
    } catch let error as CancellationError {
      throw error
    } catch {
      throw TallyError.unreachable(error)
    }
  }

  /// The token by which a hub will know this device; it is stored before the hub gets it.
  ///
  /// If the answer of the hub is lost, the store still has the token that the hub then knows.
  ///
  /// - Parameter address: The address of the hub.
  /// - Returns: The token of earlier calls and moves, or a new one.
  /// - Throws: `TallyError` with `notSynchronising` or `deviceRevoked`; what the store throws.
  public func tokenForMove(toHub address: String) async throws -> (token: String, isNew: Bool) {
    _ = try await movableSettings()
    return try await store.changeSyncSettings { settings in
      if let known = settings.token(ofHub: address) { return (known, false) }
      let token = SyncPlace.newToken()
      settings.storeToken(token, ofHub: address)
      return (token, true)
    }
  }

  /// Stores this device's token for a hub, so that a repeated move uses it again.
  ///
  /// - Parameters:
  ///   - token: The token, which an older hub has made.
  ///   - address: The address of the hub.
  /// - Throws: `TallyError` with `notSynchronising`; what the store throws.
  public func storeToken(_ token: String, ofHub address: String) async throws {
    guard try store.requireSyncSettings().token(ofHub: address) != token else { return }
    try await store.changeSyncSettings { $0.storeToken(token, ofHub: address) }
  }

  private func movableSettings() async throws -> SyncSettings {
    let settings = try store.requireSyncSettings()
    if settings.isRevoked == true { throw TallyError.deviceRevoked }
    return settings
  }

  /// The old place, and what the last exchange with it has left.
  fileprivate struct OldPlace {
    /// `nil` if this program has no way there.
    let transport: (any SyncTransport)?
    let hasExchanged: Bool
    let incomplete: [BlockedReplica]
  }

  /// The result of copying from the old place.
  fileprivate struct Copied {
    /// How many files or segments; `nil` if the old place could not be reached.
    var count: Int?
    /// How many files could not be copied.
    var failures = 0
  }

  /// Exchanges changes with the old place, if that can be reached, so that nothing readable stays behind.
  ///
  /// - Throws: `TallyError` with `deviceRevoked`; what the store throws.
  private func exchangeWithOldPlace(of settings: SyncSettings) async throws -> OldPlace {
    let transport = try? self.transport(to: settings.syncPlace, space: settings.spaceKeys().space)
    var hasExchanged = false
    if let transport {
      do {
        // Without its missing parts: a folder that was renamed is not created again.
        let progress = try await SyncEngine(store: store, transport: transport).synchronize()
        hasExchanged = progress.refusal == nil
      } catch let error as TallyError where [.syncUnreachable, .syncRefused, .spaceKeyMissing].contains(error.code) {
        // The move continues without it, and reports that.
      }
    }
    let blocked = try store.readSynchronization { try $0.blockedReplicas() }
    return OldPlace(
      transport: transport, hasExchanged: hasExchanged, incomplete: blocked.filter { $0.isIncomplete && !$0.isRevoked })
  }

  /// Copies files that a folder lacks from the old place.
  private func copy(from old: OldPlace, to target: FolderTransport) async throws -> Copied {
    guard let transport = old.transport else { return Copied(count: nil) }
    do {
      if let folder = transport as? FolderTransport { return try await target.copyFiles(of: folder.listing) }
      let own = try store.requireSyncSettings().replicaID
      return Copied(count: try await target.copyStream(of: own, from: transport))
    } catch let fault as FolderFault where fault.path.starts(with: target.listing.space) {
      // It is the new folder that failed: the move fails.
      throw TallyError.unreachable(fault)
    } catch let error as CancellationError {
      throw error
    } catch {
      return Copied(count: nil)
    }
  }

  /// Stores the new place in the settings.
  private func settle(
    at place: SyncPlace, through target: any SyncTransport, after old: OldPlace, copied: Copied,
    isNewReplica: Bool = false
  ) async throws -> PlaceMove {
    let settings = try store.requireSyncSettings()
    let (own, snapshot) = (settings.replicaID, settings.snapshot?.name(of: settings.replicaID))
    let (head, hasSnapshot): (SegmentHead, Bool)
    do {
      head = try await target.heads()[own] ?? .none
      let snapshots = try await target.snapshots()
      hasSnapshot = snapshot.map(snapshots.contains) ?? true
    } catch {
      throw TallyError.unreachable(error)
    }
    let isBehind = try await store.write { transaction in
      var settings = try transaction.requireSyncSettings()
      // If the same hub has a new address, its token is no longer stored for the old address.
      let former = settings.token == place.token ? nil : settings.token
      settings.storeToken(former, ofHub: settings.place)
      (settings.place, settings.token) = (place.address, place.token)
      (settings.refused, settings.mark, settings.lastCheck) = (nil, nil, nil)
      settings.beginsStream = nil
      // The next exchange with a hub says.
      settings.isOwner = place.isHub ? false : nil
      // Segments that a snapshot at the old place covered may be missing at the new one.
      if !hasSnapshot { settings.needsSnapshot = true }
      if !place.isHub, head == .none, settings.acknowledged.number > 0 {
        // The stream continues with its next segment, so there must be one; the snapshot has everything before it.
        (settings.beginsStream, settings.needsSnapshot) = (true, true)
        let name = Array(settings.deviceName.utf8)
        let write = DeviceWrite(object: ObjectKey(ofDevice: own), field: .title, value: name, isRepeated: true)
        try transaction.write([write], &settings)
      }
      try transaction.setSyncSettings(settings)
      return head.number < settings.acknowledged.number
    }
    return PlaceMove(
      place: place.address, copied: copied.count, notCopied: copied.failures, hasExchanged: old.hasExchanged,
      incomplete: old.incomplete, lacksOwnSegments: isBehind || isNewReplica)
  }
}

extension SyncTransport {
  /// Whether the place has a card of the space, or none at all.
  fileprivate func belongs(to space: SpaceKeys) async throws -> Bool {
    let cards = try await cards()
    return cards.isEmpty
      || cards.contains { replica, bytes in
        guard let envelope = try? Envelope(parsing: bytes) else { return false }
        if (try? Card(opening: envelope, of: replica, in: space)) != nil { return true }
        // A card with a newer key: another device has revoked one, which this device learns at its next exchange.
        return envelope.header.space == space.space && envelope.header.epoch > space.epoch
      }
  }

  /// Whether another member has written as this replica at the hub, so that the hub refuses this device's writes as
  /// that replica.
  fileprivate func refuses(_ replica: ReplicaID) async throws -> Bool {
    // A replica has a card before it has segments.
    guard let card = try await cards()[replica], let number = try? Envelope(parsing: card).header.label.number else {
      return false
    }
    do {
      // The place has it already; only the member that writes as the replica may put it again.
      try await putCard(card, of: replica, number: number)
      return false
    } catch {
      // A place that refuses for another reason, such as a full one, does not say whose the replica is.
      guard (error as? any SyncTransportError)?.refusal?.isDenial == true else { throw error }
      return true
    }
  }

  /// Appends the segments of a replica that another place has and this place lacks.
  ///
  /// - Returns: How many; `nil` if the other place cannot be reached.
  fileprivate func copyStream(of replica: ReplicaID, from old: (any SyncTransport)?) async throws -> Int? {
    guard let old else { return nil }
    var (count, number) = (0, try await heads()[replica]?.number ?? 0)
    while true {
      guard let segments = try? await old.segments(of: replica, after: number, byteCount: SyncEngine.batchByteCount)
      else { return count == 0 ? nil : count }
      guard !segments.isEmpty else { return count }
      let stored = try await append(segments, of: replica).prefix { $0.isThere }.count
      (count, number) = (count + stored, number + UInt64(stored))
      guard stored == segments.count else { return count }
    }
  }
}

extension FolderTransport {
  /// Copies the files that another folder of the space has and this one lacks, each durably.
  ///
  /// A file that cannot be read is counted, and so is one that is incomplete or not downloaded; all others are copied.
  ///
  /// - Throws: `FolderFault` if this folder fails, or the other one cannot be reached.
  fileprivate func copyFiles(of other: FolderListing) async throws -> StoreSync.Copied {
    try await onQueue { transport in
      try other.requireReachable()
      var copied = StoreSync.Copied(count: 0)
      guard SystemCalls.resolvingLinks(other.space) != SystemCalls.resolvingLinks(transport.listing.space) else {
        return copied
      }
      for part in FolderListing.Part.allCases {
        guard let replicas = try? other.replicas(part) else {
          copied.failures += 1
          continue
        }
        for replica in replicas { try transport.copy(part, of: replica, from: other, &copied) }
      }
      return copied
    }
  }

  private func copy(
    _ part: FolderListing.Part, of replica: ReplicaID, from other: FolderListing, _ copied: inout StoreSync.Copied
  ) throws {
    let earlier = copied.failures
    var listed: Set<FolderEntry>?
    // A file that has vanished is in a pack by now.
    for _ in 0..<FolderListing.mostListings {
      guard let entries = try? Set(other.entries(part, of: replica)) else {
        copied.failures = earlier + 1
        return
      }
      if entries == listed { return }
      listed = entries
      copied.failures = earlier
      try copy(entries, part, of: replica, &copied)
      if copied.failures == earlier { return }
    }
  }

  private func copy(
    _ entries: Set<FolderEntry>, _ part: FolderListing.Part, of replica: ReplicaID, _ copied: inout StoreSync.Copied
  ) throws {
    let known = Dictionary(try listing.entries(part, of: replica).map { ($0.name, $0.byteCount) }) { first, _ in first }
    let present = Set(entries.map(\.name)).union(known.keys)
    for entry in entries {
      if case .placeholder(let name) = entry.name {
        if !present.contains(name) { copied.failures += 1 }
        continue
      }
      // An incomplete file of the new folder is replaced.
      guard entry.name.isComplete, known[entry.name] ?? -1 < entry.byteCount else { continue }
      guard let bytes = disk.wholeFile(entry, of: replica) else {
        copied.failures += 1
        continue
      }
      try publish(bytes, as: entry.name, part, of: replica)
      copied.count = (copied.count ?? 0) + 1
    }
  }
}

extension FolderDisk {
  /// Reads a file of a replica; `nil` if it cannot be read, or is not exactly what its name says.
  fileprivate func wholeFile(_ entry: FolderEntry, of replica: ReplicaID) -> [UInt8]? {
    guard let bytes = try? read(entry.path) else { return nil }
    let isWhole =
      switch entry.name {
      case .segments(let range): Self.segments(in: bytes, range: range, of: replica) != nil
      case .card: SegmentFrame(bytes[...])?.isWhole(.card, by: replica, byteCount: bytes.count) == true
      case .part: SegmentFrame(bytes[...])?.isWhole(.snapshotPart, by: replica, byteCount: bytes.count) == true
      case .temporary, .placeholder: false
      }
    return isWhole ? bytes : nil
  }
}

extension FolderName {
  /// Whether the file is a complete part of the space: neither a temporary file nor a placeholder.
  fileprivate var isComplete: Bool {
    switch self {
    case .segments, .card, .part: true
    case .temporary, .placeholder: false
    }
  }
}

/// The spaces in a folder.
enum FolderSpaces {
  /// - Throws: `TallyError` with `syncUnreachable`.
  static func find(in folder: FilePath) throws -> [SpaceID] {
    try TallyError.replacing({ .unreachable(FolderFault($0, at: folder)) }) {
      try SystemCalls.names(in: folder).sorted().compactMap(space)
    }
  }

  /// The space whose directory has a name; `nil` for other names.
  static func space(named name: String) -> SpaceID? {
    name.hasPrefix("tally-") ? SpaceID(String(name.dropFirst(6))) : nil
  }
}
