package import Foundation
package import TallySync

/// The SHA-256 of a token: the hub keeps no token.
package struct TokenHash: Hashable, Sendable {
  /// Thirty-two bytes.
  package let bytes: [UInt8]

  /// Creates a hash from thirty-two bytes; `nil` for any other number.
  package init?(bytes: [UInt8]) {
    guard bytes.count == 32 else { return nil }
    self.bytes = bytes
  }
}

/// An account, which is responsible for spaces.
package struct HubAccount: Hashable, Sendable {
  /// Its id.
  package let id: UUID
  /// How many bytes each of its spaces may have.
  package let limitInBytes: Int

  /// Takes the fields.
  package init(id: UUID, limitInBytes: Int) {
    (self.id, self.limitInBytes) = (id, limitInBytes)
  }
}

/// The role of a member of a space.
package enum HubRole: String, CaseIterable, Sendable {
  /// Reads, writes, invites and revokes.
  case owner
  /// Reads and writes.
  case writer
  /// Reads.
  case reader
}

/// A device in a space.
///
/// It writes as one replica at a time; a store that was copied or that goes back in time becomes another
/// one, of the same member.
package struct HubMember: Hashable, Sendable {
  /// Its id.
  package let id: UUID
  /// Its space.
  package let space: SpaceID
  /// What it may do.
  package let role: HubRole

  /// Takes the fields.
  package init(id: UUID, space: SpaceID, role: HubRole) {
    (self.id, self.space, self.role) = (id, space, role)
  }
}

/// The permission of the holder of a token.
package enum HubGrant: Hashable, Sendable {
  /// Create spaces.
  case account(UUID)
  /// Act as a member of a space.
  case member(HubMember)
  /// Join a space once, until a time in microseconds since 1970.
  ///
  /// It is worthless when the member that made it was revoked.
  case invitation(SpaceID, HubRole, by: UUID, expiresAt: Int64)
  /// Nothing, because its member of a space was revoked; the device learns that.
  case revoked(SpaceID)

  /// The space of the permission; `nil` for an account.
  var space: SpaceID? {
    switch self {
    case .account: nil
    case .member(let member): member.space
    case .invitation(let space, _, _, _), .revoked(let space): space
    }
  }
}

/// A space.
package struct HubSpace: Hashable, Sendable {
  /// The account that answers for it.
  package let account: UUID
  /// The position of the last segment; 0 before the first one.
  package let position: UInt64
  /// A number that rises with each change of the space.
  package let changeCount: UInt64
  /// The bytes of its segments, snapshots and cards, and what its other rows count.
  package let byteCount: Int
  /// The most bytes that it may have.
  package let limitInBytes: Int

  /// Takes the fields.
  package init(account: UUID, position: UInt64, changeCount: UInt64, byteCount: Int, limitInBytes: Int) {
    (self.account, self.position, self.changeCount) = (account, position, changeCount)
    (self.byteCount, self.limitInBytes) = (byteCount, limitInBytes)
  }
}

/// A replica in a space.
package struct HubReplica: Hashable, Sendable {
  /// The member that writes as it.
  package let member: UUID
  /// The number of its last segment that counts; `nil` unless it was revoked.
  package var cutOff: UInt64?
  /// Its last segment.
  package var head: SegmentHead

  /// Takes the fields.
  package init(member: UUID, cutOff: UInt64? = nil, head: SegmentHead = .none) {
    (self.member, self.cutOff, self.head) = (member, cutOff, head)
  }
}

/// A stored segment.
package struct HubSegment: Hashable, Sendable {
  /// Counts the segments of the space in the order in which they were stored.
  package let position: UInt64
  /// The sealed bytes, or only the beginning of them.
  package let bytes: [UInt8]
  /// How many sealed bytes the segment has.
  package let byteCount: Int

  /// Takes the fields; without a count, the bytes are all that the segment has.
  package init(position: UInt64, bytes: [UInt8], byteCount: Int? = nil) {
    (self.position, self.bytes, self.byteCount) = (position, bytes, byteCount ?? bytes.count)
  }
}

/// A slice of the bytes that a hub stores under a name.
package struct HubSlice: Hashable, Sendable {
  /// The bytes.
  package let bytes: [UInt8]
  /// How many bytes are stored under the name.
  package let byteCount: Int

  /// Takes the fields.
  package init(bytes: [UInt8], byteCount: Int) { (self.bytes, self.byteCount) = (bytes, byteCount) }
}

/// A stored card.
package struct HubCard: Hashable, Sendable {
  /// The author of the card.
  package let replica: ReplicaID
  /// The sealed bytes.
  package let bytes: [UInt8]

  /// Takes the fields.
  package init(replica: ReplicaID, bytes: [UInt8]) { (self.replica, self.bytes) = (replica, bytes) }
}

/// A recovery code of a space.
package struct HubRecovery: Hashable, Sendable {
  /// The space.
  package let space: SpaceID
  /// Whether the code is no longer valid, because its owner has a newer one or a device was revoked.
  package let isReplaced: Bool

  /// Takes the fields.
  package init(space: SpaceID, isReplaced: Bool) { (self.space, self.isReplaced) = (space, isReplaced) }
}

/// Limits on the number of rows, and the bytes that each row counts besides its content.
///
/// The functions in `Schema/Format4.sql` use the same numbers.
package enum HubRowLimits {
  /// The bytes that a member, an invitation and a part of a snapshot each count besides sealed bytes.
  package static let rowByteCount = 128
  /// How many replicas a member may have; a store that was copied or restored becomes a new one.
  package static let mostReplicasOfMember = 50
  /// How many replicas a space may have, including those of revoked members.
  package static let mostReplicas = 2_000
  /// How many complete snapshots of a replica stay.
  package static let mostSnapshotsOfReplica = 4
  /// How many replaced recovery codes a space remembers.
  package static let mostReplacedRecoveries = 32
}

/// An account, for its operator.
package struct HubAccountSummary: Hashable, Codable, Sendable {
  /// Its id.
  package let account: UUID
  /// How many bytes each of its spaces may have.
  package let limitInBytes: Int
  /// How many spaces it has.
  package var spaces: Int
  /// The bytes of all of them.
  package var bytes: Int

  /// Takes the fields.
  package init(account: UUID, limitInBytes: Int, spaces: Int, bytes: Int) {
    (self.account, self.limitInBytes, self.spaces, self.bytes) = (account, limitInBytes, spaces, bytes)
  }
}

/// A space, for its operator.
package struct HubSpaceSummary: Hashable, Codable, Sendable {
  /// Its id, as hexadecimal digits.
  package let space: String
  /// The account that answers for it.
  package let account: UUID
  /// Its bytes, and how many it may have.
  package let bytes: Int, limitInBytes: Int
  /// Segments that were ever appended.
  package let appendedSegments: UInt64
  /// Its members by role, such as `owner`.
  package let members: [String: Int]
  /// Its replicas, those of revoked members included.
  package let replicas: Int

  /// Takes the fields.
  package init(_ id: SpaceID, _ space: HubSpace, members: [String: Int], replicas: Int) {
    self.space = "\(id)"
    (account, bytes, limitInBytes) = (space.account, space.byteCount, space.limitInBytes)
    (appendedSegments, self.members, self.replicas) = (space.position, members, replicas)
  }
}

/// The totals of a hub.
package struct HubTotals: Hashable, Codable, Sendable {
  /// Its accounts.
  package var accounts = 0
  /// Their spaces.
  package var spaces = 0
  /// Segments that were ever appended.
  package var appendedSegments: UInt64 = 0
  /// The bytes of segments, snapshots and cards.
  package var bytes = 0

  /// Nothing.
  package init() {}
}

/// The answer for a segment.
package enum HubAppendAnswer: Hashable, Sendable {
  /// It is stored at a position.
  case stored(UInt64)
  /// The same bytes were stored at a position before.
  case known(UInt64)
  /// Another segment of this replica has its number.
  case fork
  /// It does not follow the last one, which is given.
  case gap(SegmentHead)
  /// The space has no room.
  case quota
  /// The member may not write, or not as this replica, or the replica was revoked.
  case denied
}

/// The reason why a hub's store refuses a call.
package enum HubStoreError: Error, Hashable, CustomStringConvertible {
  /// A space with the id exists.
  case spaceExists
  /// The id is not that of a space.
  case noSpace
  /// The bytes are malformed, for a reason.
  case malformed(String)
  /// A limit of the space or the account would be exceeded, for a reason.
  case full(String)
  /// The member may not do this, or not as this replica, or was revoked.
  case denied
  /// A recovery code was replaced and is no longer valid.
  case replacedCode
  /// Somebody else already uses the token of the new member.
  case knownToken
  /// All members of the space could have the recovery code, which this space does not allow.
  case sharedCode
  /// The database does not answer, or not for this space now; the same call may succeed later.
  case unavailable(String)
  /// The database refuses a statement, with its code.
  case database(code: String, String)

  /// A sentence for operators.
  package var description: String {
    switch self {
    case .spaceExists: "A space with this id exists."
    case .noSpace: "The id is not that of a space."
    case .malformed(let reason): reason
    case .full(let reason): reason
    case .denied: "This member may not do this, or not as this replica."
    case .replacedCode:
      "This recovery code was replaced: the space has got a new key since, because a device was revoked, or its owner has a newer code."
    case .knownToken: "This token is in use: it belongs to another member, an account or a revoked device."
    case .sharedCode: "The space needs a recovery code that only its owners have."
    case .unavailable(let reason): "The database is not available: \(reason)"
    case .database(let code, let reason): "The database refuses a statement: \(code) \(reason)"
    }
  }
}

extension HubStoreError {
  static let noRoom = HubStoreError.full("The space has no room.")
  static let tooManyCards = HubStoreError.full("The space has as many devices as it may have.")
  static let tooManyReplicas = HubStoreError.full(
    "This device was copied or restored too often, or the space has as many devices as it may ever have: leave the space, and join again."
  )
  static let hasSpaces = HubStoreError.full("The account has spaces: erase them, or give them to another account.")
  static let tooManySpaces = HubStoreError.full("The account has as many spaces as it may have.")
}
