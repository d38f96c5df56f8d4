import Foundation
public import SystemPackage
import Tally
import TallySystem

// A store continues with its space at another place: the folder was renamed or moved, or another folder or a hub replaces it.
// The store remains the same replica if its stream can continue there: the new place already has its last segment, gets it from
// the old place, or has none of its segments. Otherwise it continues as a new replica, as it does at a place that has lost
// segments. Nothing is lost either way.

/// The result of moving a store's space to another place.
public struct PlaceMove: Hashable, Sendable {
  /// Where the space is now: the path of a folder, or the address of a hub.
  public let place: String
  /// How many files or segments were copied from the old place; `nil` if the old place could not be reached.
  public let copied: Int?
  /// Whether the new place lacks segments of this replica that the old place had stored: the next exchange sends a snapshot.
  public let lacksOwnSegments: Bool
}

extension StoreSync {
  /// Continues with the space in another folder, which may be the old folder under a new name.
  ///
  /// If the old place can be reached, whatever the new one lacks is copied from it; the old place stays as it is. Each other
  /// device that used the old place has to move, too. Nothing is exchanged yet.
  ///
  /// - Parameter folder: A folder that has the space, or has no space yet.
  /// - Returns: What was done.
  /// - Throws: `TallyError` with `notSynchronising`, `deviceRevoked` or `placeOfOtherSpace`; with `syncUnreachable` if the
  ///   folder is not there or this user may not write to it. After an error the store stays at the old place.
  @discardableResult
  public func move(to folder: FilePath) async throws -> PlaceMove {
    let lock = try await takeTurn()
    defer { lock.release() }
    let settings = try await movableSettings()
    let space = try settings.spaceKeys()
    var path = try absolute(folder)
    // The user named the directory of the space itself.
    if path.lastComponent?.string == "tally-\(space.space)" { path.removeLastComponent() }
    let spaces = try FolderSpaces.find(in: path)
    guard spaces.contains(space.space) || spaces.isEmpty else { throw TallyError.placeOfOtherSpace }
    let target = FolderTransport(at: path, space: space.space.bytes, disk: FolderDisk())
    do {
      try await target.prepare()
      try await target.checkWritable()
      guard try await target.belongs(to: space) else { throw TallyError.placeOfOtherSpace }
    } catch let error as TallyError {
      throw error
    } catch {
      throw TallyError.unreachable(error)
    }
    let copied = try await copy(from: settings, to: target)
    return try await settle(at: SyncPlace(path.string), through: target, copied: copied)
  }

  /// Continues with the space at a place that already knows this device, such as a hub.
  ///
  /// The segments of this replica at the old place are sent to the new one; those of other devices arrive when these move.
  ///
  /// - Parameter place: The place, which has room for the space.
  /// - Returns: What was done.
  /// - Throws: `TallyError` with `notSynchronising`, `deviceRevoked`, `placeOfOtherSpace` or `syncUnreachable`. After an error
  ///   the store stays at the old place.
  @discardableResult
  public func move(to place: SyncPlace) async throws -> PlaceMove {
    guard place.isHub else { return try await move(to: FilePath(place.address)) }
    let lock = try await takeTurn()
    defer { lock.release() }
    let settings = try await movableSettings()
    let space = try settings.spaceKeys()
    let target = try transport(to: place, space: space.space)
    let copied: Int?
    do {
      guard try await target.belongs(to: space) else { throw TallyError.placeOfOtherSpace }
      copied = try await target.takeStream(
        of: settings.replicaID, from: try? transport(to: settings.syncPlace, space: space.space))
    } catch let error as TallyError {
      throw error
    } catch {
      throw TallyError.unreachable(error)
    }
    return try await settle(at: place, through: target, copied: copied)
  }

  private func movableSettings() async throws -> SyncSettings {
    let settings = try store.readSynchronization { try $0.requireSyncSettings() }
    if settings.isRevoked == true { throw TallyError.deviceRevoked }
    return settings
  }

  /// Copies from the old place what a folder lacks.
  ///
  /// - Returns: How many files or segments; `nil` if the old place cannot be reached.
  private func copy(from settings: SyncSettings, to target: FolderTransport) async throws -> Int? {
    guard let old = try? transport(to: settings.syncPlace, space: settings.spaceKeys().space) else { return nil }
    do {
      if let folder = old as? FolderTransport { return try await target.takeFiles(of: folder.listing) }
      return try await target.takeStream(of: settings.replicaID, from: old)
    } catch let fault as FolderFault where fault.path.starts(with: target.listing.space) {
      // It is the new folder that failed: the move fails.
      throw TallyError.unreachable(fault)
    } catch let error as CancellationError {
      throw error
    } catch {
      return nil
    }
  }

  /// Stores the new place in the settings.
  private func settle(
    at place: SyncPlace, through target: any SyncTransport, copied: Int?
  ) async throws -> PlaceMove {
    let own = try store.readSynchronization { try $0.requireSyncSettings().replicaID }
    let head: SegmentHead
    do {
      head = try await target.heads()[own] ?? .none
    } catch {
      throw TallyError.unreachable(error)
    }
    let isBehind = try await store.write { transaction in
      var settings = try transaction.requireSyncSettings()
      (settings.place, settings.token) = (place.address, place.token)
      (settings.refused, settings.mark, settings.lastCheck) = (nil, nil, nil)
      settings.beginsStream = nil
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
    return PlaceMove(place: place.address, copied: copied, lacksOwnSegments: isBehind)
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

  /// Appends the segments of a replica that another place has and this place lacks.
  ///
  /// - Returns: How many; `nil` if the other place cannot be reached.
  fileprivate func takeStream(of replica: ReplicaID, from old: (any SyncTransport)?) async throws -> Int? {
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
  /// - Returns: How many.
  /// - Throws: `FolderFault`.
  fileprivate func takeFiles(of other: FolderListing) async throws -> Int {
    try await onQueue { transport in
      try other.requireReachable()
      guard SystemCalls.resolvingLinks(other.space) != SystemCalls.resolvingLinks(transport.listing.space) else {
        return 0
      }
      var count = 0
      for part in FolderListing.Part.allCases {
        for replica in try other.replicas(part) {
          let known = Set(try transport.listing.entries(part, of: replica).map(\.name))
          for entry in try other.entries(part, of: replica) where entry.name.isOfSpace && !known.contains(entry.name) {
            let bytes = try FolderFault.at(entry.path) { try transport.disk.read(entry.path) }
            let path = try transport.ownDirectory(part, of: replica).appending(entry.name.text)
            try FolderFault.at(path) { try transport.disk.publish(bytes, as: path, isReplacing: true) }
            count += 1
          }
        }
      }
      return count
    }
  }
}

extension FolderName {
  /// Whether the file is a complete part of the space: neither a temporary file nor a placeholder.
  fileprivate var isOfSpace: Bool {
    switch self {
    case .segments, .card, .part: true
    case .temporary, .placeholder: false
    }
  }
}
