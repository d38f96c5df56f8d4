import Foundation
import SystemPackage
import TallyTestSupport

@testable import TallySync

// What other replicas have written, as a folder or a hub hands it over. Errors are typed at their functions, so that a
// finding is a trap, or bytes that are read although no replica writes them.

extension FuzzTarget {
  private static let author = ReplicaID(UUID(uuid: (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1)))

  /// Reads envelopes one after the other, and the same bytes as the body of one.
  func readSegments(_ bytes: [UInt8]) throws {
    for envelope in (try? Envelope.all(in: bytes)) ?? [] {
      guard envelope.bytes.starts(with: envelope.header.bytes) else {
        throw Finding(description: "a header reads back as another one")
      }
      let space = SpaceKeys(unencrypted: envelope.header.space)
      guard let body = try? envelope.content(in: space) else { continue }
      try readSegmentBody(body, by: envelope.header.label.replica)
    }
    try readSegmentBody(bytes, by: Self.author)
  }

  private func readSegmentBody(_ bytes: [UInt8], by author: ReplicaID) throws {
    guard let body = try? SegmentBody(decoding: bytes, by: author) else { return }
    try expectCanonical(body.encoded(by: author), bytes)
    guard SegmentBody(sealedAt: body.sealedAt, seen: body.seen, changes: body.changes) == body else {
      throw Finding(description: "a body is not one that a replica makes")
    }
  }

  func readSnapshotPart(_ bytes: [UInt8]) throws {
    guard let part = try? SnapshotPart(decoding: bytes, by: Self.author) else { return }
    try expectCanonical(part.encoded(by: Self.author), bytes)
  }

  /// Merges the bytes into a store as the body of a segment or, by the first byte, as a part of a snapshot.
  func mergeContent(_ bytes: [UInt8]) throws {
    let body = Array(bytes.dropFirst())
    if let first = bytes.first, first.isMultiple(of: 2) {
      guard (try? SegmentBody(decoding: body, by: FuzzReplica.author)) != nil else { return }
      try FuzzReplica.shared.receiveSegment(body)
    } else {
      guard (try? SnapshotPart(decoding: body, by: FuzzReplica.author)) != nil else { return }
      try FuzzReplica.shared.receivePart(body)
    }
  }

  /// Reads the bytes as a card, as its clear part, as an envelope with one, and as the key that lies beside the cards.
  func readCard(_ bytes: [UInt8]) throws {
    if let clear = try? CardClearPart(decoding: bytes) { try expectCanonical(clear.encoded, bytes) }
    if let record = try? EpochRecord(decoding: bytes) { try expectCanonical(record.encoded, bytes) }
    if let card = try? Card(decoding: bytes) { try expectCanonical(card.encoded, bytes) }
    if let key = try? WrappedKey(parsing: bytes) { try expectCanonical(key.bytes, bytes) }
    guard let envelope = try? Envelope(parsing: bytes) else { return }
    _ = try? envelope.cardClearPart
    let (replica, space) = (envelope.header.label.replica, SpaceKeys(unencrypted: envelope.header.space))
    _ = try? Card(opening: envelope, of: replica, in: space)
  }

  /// Any file: this one.
  private static let file = Result {
    let path = FilePath(#filePath)
    return try FolderEntry(.card(1), named: path.lastComponent?.string ?? "", in: path.removingLastComponent().string)
  }

  /// Reads the names of a directory, one in a line, and what they say of a stream.
  func readNames(_ text: String) throws {
    guard let file = try Self.file.get() else { throw Finding(description: "this file is missing") }
    var entries: [FolderEntry] = []
    for text in text.split(separator: "\n", omittingEmptySubsequences: false).map(String.init) {
      let utf8 = Array(text.utf8)
      if let bytes = HexDigits.bytes(of: text) { try expectCanonical(Array(HexDigits.text(of: bytes).utf8), utf8) }
      if let space = SpaceID(text) { try expectCanonical(Array(space.description.utf8), utf8) }
      guard let name = FolderName(text) else { continue }
      try expectCanonical(Array(name.text.utf8), utf8)
      entries.append(FolderEntry(name, replacing: file))
    }
    let files = SegmentFiles(entries)
    guard let head = files.head else { return }
    guard files.files(with: head.number).contains(where: { $0.range.head == head }),
      files.files(with: head.number + 1).isEmpty
    else { throw Finding(description: "segment \(head.number) is not the last one of \(text)") }
  }

  func readKeyText(_ text: String) throws {
    if let invitation = try? Invitation(text, now: 0) {
      guard try Invitation(invitation.text, now: 0) == invitation else {
        throw Finding(description: "an invitation reads back as another one")
      }
    }
    if let code = try? RecoveryCode(text) {
      guard try RecoveryCode(code.text) == code else {
        throw Finding(description: "a recovery code reads back as another one")
      }
    }
  }

  private func expectCanonical(_ written: [UInt8], _ read: [UInt8]) throws {
    guard written == read else { throw Finding(description: "\(read) is a second form of \(written)") }
  }
}
