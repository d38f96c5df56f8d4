import LMDB

/// The tables of ``LMDBHubStore``.
///
/// Keys begin with the space, so that one space is one range of each table. Numbers in keys are big endian.
struct HubTables: Sendable {
  typealias Table = Database<[UInt8], [UInt8]>

  /// The format and the incarnation of the store.
  let meta: Table
  /// By id: the limit.
  let accounts: Table
  /// By the hash of the token: the grant.
  let tokens: Table
  /// By space and member: the hash of its token.
  let members: Table
  /// By space: account, position, bytes, limit.
  let spaces: Table
  /// By account and space: nothing.
  let accountSpaces: Table
  /// By space and replica: member, cut-off, number and hash of the last segment.
  let replicas: Table
  /// By space and position: replica, number, then the sealed bytes.
  let segments: Table
  /// By space, replica and number: the position.
  let positions: Table
  /// By space and replica: the number, then the sealed bytes.
  let cards: Table
  /// By space, replica, number and digest: how many parts it has, and how many of them are stored.
  let snapshots: Table
  /// By the key of the snapshot and the number of the part: the sealed bytes.
  let parts: Table
  /// By space and the hash of the token of an invitation: nothing.
  let invitations: Table
  /// By the verifier of a recovery code: space, member, flags, time.
  let recoveries: Table
  /// By space and verifier: nothing.
  let spaceRecoveries: Table

  init(in transaction: inout WriteTransaction) throws {
    func open(_ name: String, in transaction: inout WriteTransaction) throws -> Table {
      try Table(opening: name, creating: true, in: &transaction)
    }
    meta = try open("meta", in: &transaction)
    accounts = try open("accounts", in: &transaction)
    tokens = try open("tokens", in: &transaction)
    members = try open("members", in: &transaction)
    spaces = try open("spaces", in: &transaction)
    accountSpaces = try open("accountSpaces", in: &transaction)
    replicas = try open("replicas", in: &transaction)
    segments = try open("segments", in: &transaction)
    positions = try open("positions", in: &transaction)
    cards = try open("cards", in: &transaction)
    snapshots = try open("snapshots", in: &transaction)
    parts = try open("parts", in: &transaction)
    invitations = try open("invitations", in: &transaction)
    recoveries = try open("recoveries", in: &transaction)
    spaceRecoveries = try open("spaceRecoveries", in: &transaction)
  }
}
