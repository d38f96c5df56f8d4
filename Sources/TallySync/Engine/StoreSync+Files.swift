import Foundation
public import SystemPackage
import Tally
import TallySystem

// Without a place: two stores of a space that cannot share a folder exchange files.

extension StoreSync {
  /// Writes all that this store knows into one sealed file, which another store of the space applies.
  ///
  /// ```swift
  /// try await StoreSync(laptop).writeDifference(to: "/media/stick/laptop.tally")
  /// try await StoreSync(phone).apply("/media/stick/laptop.tally")
  /// ```
  ///
  /// - Parameters:
  ///   - file: The file, which is replaced as a whole.
  ///   - other: A file that the other store has written: only what differs from it is written then; `nil` for everything.
  /// - Returns: How many objects the file has.
  /// - Throws: `TallyError` with `notSynchronising`, `outputNotCreated`, `inputUnreadable` or `malformedDocument`.
  @discardableResult
  public func writeDifference(to file: FilePath, from other: FilePath? = nil) async throws -> Int {
    let bytes = try other.map(Self.contents)
    let lock = try await takeTurn()
    defer { lock.release() }
    try await becomeOwnReplica()
    let (card, draft) = try await store.write { transaction in
      let known = try bytes.map { try transaction.open($0).states } ?? [:]
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
  /// - Throws: `TallyError` with `notSynchronising`, `deviceRevoked`, `spaceKeyMissing`, `inputUnreadable`, or `malformedDocument` for a
  ///   file that is damaged, of another space, of a revoked device, or no such file; nothing is changed then.
  @discardableResult
  public func apply(_ file: FilePath) async throws -> Int {
    let bytes = try Self.contents(of: file)
    let lock = try await takeTurn()
    defer { lock.release() }
    try await becomeOwnReplica()
    return try await store.write { transaction in
      let content = try transaction.open(bytes)
      let count = try transaction.apply(content)
      if count > 0 { try transaction.followOthers() }
      return count
    }
  }

  /// Ensures that a copy of a store does not write as the replica that the original is.
  private func becomeOwnReplica() async throws {
    let replica = try store.readSynchronization { try $0.requireSyncSettings().replicaID }
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

/// What a file holds.
private struct FileContent {
  let author: ReplicaID
  let card: [UInt8]
  let summary: SnapshotSummary
  let states: SnapshotPart.States
}

extension StoreWriteTransaction {
  /// The card of this replica, made if there is none yet.
  fileprivate mutating func ownCard() throws -> [UInt8] {
    let replica = try requireSyncSettings().replicaID
    return try syncValue(forKey: SyncKey.cards + replica.bytes) ?? makeCard().card.bytes
  }

  /// Verifies and opens a file: a card, then the parts of a snapshot of the same replica.
  ///
  /// The card may bring a new key.
  fileprivate mutating func open(_ bytes: [UInt8]) throws -> FileContent {
    do {
      let envelopes = try Envelope.all(in: bytes)
      guard let first = envelopes.first, envelopes.count > 1 else { throw EnvelopeFault.tooShort }
      let author = first.header.label.replica
      try take([author: first.bytes]).requireTaken()
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
      return FileContent(author: author, card: first.bytes, summary: summary, states: states)
    } catch let fault as EnvelopeFault {
      throw TallyError(
        .malformedDocument, "The file cannot be read: \(fault.description)",
        remedy: "Write it again with the other store of the space", cause: fault)
    }
  }

  fileprivate mutating func apply(_ content: FileContent) throws -> Int {
    if try card(of: content.author) == nil {
      try setSyncValue(content.card, forKey: SyncKey.cards + content.author.bytes)
    }
    do {
      return try merge(content.states, reading: SnapshotReading(content.summary, in: self)).result
    } catch let fault as CodingFault {
      throw TallyError(
        .malformedDocument, "The file has values that no task can have", remedy: "Write it with a newer version",
        cause: fault)
    }
  }
}
