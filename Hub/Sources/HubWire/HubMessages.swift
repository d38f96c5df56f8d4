package import TallySync

/// The bodies of requests and answers, as JSON.
///
/// Ids and hashes are hexadecimal digits in lower case, times are in seconds.
///
/// Sealed bytes are sent as they are: segments and cards one after the other, since their headers give their lengths.
package enum HubMessage {
  /// A new account.
  package struct Account: Codable, Hashable, Sendable {
    package let account: String
    /// A token that allows its holder to create spaces; the hub keeps only its hash.
    package let token: String

    package init(account: String, token: String) { (self.account, self.token) = (account, token) }
  }

  /// The space to create.
  package struct NewSpace: Codable, Hashable, Sendable {
    package let space: String
    /// The SHA-256 of the text of the token that the first member has made; without it, the hub makes a token.
    package let tokenHash: String?

    package init(space: String, tokenHash: String?) { (self.space, self.tokenHash) = (space, tokenHash) }
  }

  /// A new member of a space.
  package struct Member: Codable, Hashable, Sendable {
    package let space: String
    package let member: String
    package let role: String
    /// The member's token, if the hub made it; the hub keeps only its hash.
    package let token: String?

    package init(space: String, member: String, role: String, token: String?) {
      (self.space, self.member, self.role, self.token) = (space, member, role, token)
    }
  }

  /// An invitation to make, for one member.
  package struct NewInvitation: Codable, Hashable, Sendable {
    /// `owner`, `writer` or `reader`; a writer if it is missing.
    package let role: String?
    /// How long it can be used; a week if it is missing.
    package let validInSeconds: Int?

    package init(role: String?, validInSeconds: Int?) { (self.role, self.validInSeconds) = (role, validInSeconds) }
  }

  /// An invitation.
  package struct Invitation: Codable, Hashable, Sendable {
    package let invitation: String

    package init(invitation: String) { self.invitation = invitation }
  }

  /// A request to join with an invitation.
  package struct Joining: Codable, Hashable, Sendable {
    package let invitation: String
    /// The SHA-256 of the text of the token that the new member has made; without it, the hub makes a token.
    package let tokenHash: String?

    package init(invitation: String, tokenHash: String?) { (self.invitation, self.tokenHash) = (invitation, tokenHash) }
  }

  /// The last segment of a replica.
  package struct Head: Codable, Hashable, Sendable {
    package let replica: String
    package let number: UInt64
    package let digest: String

    package init(replica: String, number: UInt64, digest: String) {
      (self.replica, self.number, self.digest) = (replica, number, digest)
    }
  }

  /// The content of a space.
  package struct Heads: Codable, Hashable, Sendable {
    /// Distinguishes one database from another.
    package let incarnation: String
    /// Of the last segment.
    package let position: UInt64
    /// A number that rises with each change; a wait names the number that the client knows.
    package let change: UInt64
    package let heads: [Head]
    /// The role of the member that asks; older hubs do not send it.
    package let role: String?
    /// The verifiers of the valid recovery codes, if an owner asks.
    package let recoveries: [String]?

    package init(
      incarnation: String, position: UInt64, change: UInt64, heads: [Head], role: String? = nil,
      recoveries: [String]? = nil
    ) {
      (self.incarnation, self.position, self.change, self.heads) = (incarnation, position, change, heads)
      (self.role, self.recoveries) = (role, recoveries)
    }
  }

  /// The verifier of an owner's recovery code.
  package struct Recovery: Codable, Hashable, Sendable {
    /// A public key (Ed25519).
    package let verifier: String
    /// Whether every member of the space can have the code.
    package let isShared: Bool

    package init(verifier: String, isShared: Bool) { (self.verifier, self.isShared) = (verifier, isShared) }
  }

  /// The request to become an owner, proven by a recovery code.
  package struct Restoration: Codable, Hashable, Sendable {
    /// The public key that follows from the code.
    package let verifier: String
    /// The SHA-256 of the token of the new owner.
    package let tokenHash: String
    /// The signature of both by that key.
    package let signature: String

    package init(verifier: String, tokenHash: String, signature: String) {
      (self.verifier, self.tokenHash, self.signature) = (verifier, tokenHash, signature)
    }
  }

  /// A member of a space whose token the client already has.
  package struct KnownMember: Codable, Hashable, Sendable {
    package let space: String
    package let member: String
    package let role: String

    package init(space: String, member: String, role: String) {
      (self.space, self.member, self.role) = (space, member, role)
    }
  }

  /// The new role of a member.
  package struct NewRole: Codable, Hashable, Sendable {
    /// `owner`, `writer` or `reader`.
    package let role: String

    package init(role: String) { self.role = role }
  }

  /// The answer for one segment.
  package struct AppendAnswer: Codable, Hashable, Sendable {
    /// `stored`, `known`, `fork`, `gap`, `quota` or `denied`.
    package let answer: String
    /// The position of a stored or known segment.
    package let position: UInt64?
    /// For a gap: the last segment that the hub has.
    package let head: Head?

    package init(answer: String, position: UInt64? = nil, head: Head? = nil) {
      (self.answer, self.position, self.head) = (answer, position, head)
    }

    // None of the texts has a character that JSON escapes: they are words and hexadecimal digits.
    fileprivate var json: String {
      var fields = [#""answer":"\#(answer)""#]
      if let position { fields.append(#""position":\#(position)"#) }
      if let head {
        fields.append(#""head":{"replica":"\#(head.replica)","number":\#(head.number),"digest":"\#(head.digest)"}"#)
      }
      return "{\(fields.joined(separator: ","))}"
    }
  }

  /// The answers for segments, up to the first one that is neither stored nor known.
  package struct AppendAnswers: Codable, Hashable, Sendable {
    package let answers: [AppendAnswer]

    package init(answers: [AppendAnswer]) { self.answers = answers }

    /// The same text as that of `JSONEncoder`, which would take a tenth of the time of an append.
    package var json: String { #"{"answers":[\#(answers.map(\.json).joined(separator: ","))]}"# }
  }

  /// The message of a webhook.
  package struct Append: Codable, Hashable, Sendable {
    package let space: String
    /// Of the last segment.
    package let position: UInt64

    package init(space: String, position: UInt64) { (self.space, self.position) = (space, position) }
  }

  /// A snapshot.
  package struct Snapshot: Codable, Hashable, Sendable {
    package let replica: String
    package let number: UInt64
    package let digest: String
    package let parts: Int

    package init(replica: String, number: UInt64, digest: String, parts: Int) {
      (self.replica, self.number, self.digest, self.parts) = (replica, number, digest, parts)
    }
  }

  /// The complete snapshots of a space, newest first.
  package struct Snapshots: Codable, Hashable, Sendable {
    package let snapshots: [Snapshot]

    package init(snapshots: [Snapshot]) { self.snapshots = snapshots }
  }

  /// The segments and snapshots that a replica no longer needs at the hub.
  package struct Deletion: Codable, Hashable, Sendable {
    /// The last segment to delete.
    package let upTo: UInt64
    package let snapshots: [Snapshot]

    package init(upTo: UInt64, snapshots: [Snapshot]) { (self.upTo, self.snapshots) = (upTo, snapshots) }
  }

  /// The request to wait for a change of one of several spaces.
  package struct Wait: Codable, Hashable, Sendable {
    /// A space, with the change that the client knows.
    package struct Known: Codable, Hashable, Sendable {
      package let change: UInt64
      /// The token of a member of the space.
      package let token: String

      package init(change: UInt64, token: String) { (self.change, self.token) = (change, token) }
    }

    package let spaces: [String: Known]
    /// The longest time to wait.
    package let seconds: Double

    package init(spaces: [String: Known], seconds: Double) { (self.spaces, self.seconds) = (spaces, seconds) }
  }

  /// The spaces that have changed, each with its change now.
  package struct Changes: Codable, Hashable, Sendable {
    package let changes: [String: UInt64]

    package init(changes: [String: UInt64]) { self.changes = changes }
  }
}

extension HubMessage.Head {
  /// The head of a replica.
  package init(_ head: SegmentHead, of replica: ReplicaID) {
    self.init(replica: "\(replica)", number: head.number, digest: Hexadecimal.text(of: head.digest))
  }

  /// The head; `nil` if the digest is invalid.
  package var head: SegmentHead? {
    Hexadecimal.bytes(of: digest).map { SegmentHead(number: number, digest: $0) }
  }
}

extension HubMessage.Snapshot {
  /// The name of a snapshot.
  package init(_ name: SnapshotName) {
    self.init(
      replica: "\(name.replica)", number: name.number, digest: Hexadecimal.text(of: name.digest), parts: name.partCount)
  }

  /// The name; `nil` if an id, the digest or the number of parts is invalid.
  package var name: SnapshotName? {
    guard let replica = ReplicaID(replica), let digest = Hexadecimal.bytes(of: digest), digest.count == 8,
      (1...HubLimits.mostParts).contains(parts)
    else { return nil }
    return SnapshotName(replica: replica, number: number, digest: digest, partCount: parts)
  }
}

/// Limits that a client has to know.
package enum HubLimits {
  /// The longest body of a request.
  package static let bodyByteCount = 16 << 20
  /// The most parts of a snapshot.
  package static let mostParts = 99_999
  /// The most spaces of a wait.
  package static let mostSpacesOfAWait = 1_000
  /// The longest body of a request that creates or joins something.
  package static let messageByteCount = 16 << 10
  /// The longest body of a wait, which names its spaces.
  package static let waitByteCount = 256 << 10
  /// The longest wait.
  package static let waitInSeconds = 60.0
}
