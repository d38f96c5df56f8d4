import Foundation
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

  /// Reads the bytes as a card, and as an envelope with one.
  func readCard(_ bytes: [UInt8]) throws {
    if let card = try? Card(decoding: bytes) { try expectCanonical(card.encoded, bytes) }
    guard let envelope = try? Envelope(parsing: bytes) else { return }
    let (replica, space) = (envelope.header.label.replica, SpaceKeys(unencrypted: envelope.header.space))
    _ = try? Card(opening: envelope, of: replica, in: space)
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
