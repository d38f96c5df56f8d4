import Crypto
package import Foundation
import LMDB
package import SystemPackage
package import TallySync

/// A hub's store in one directory, for one process.
///
/// Appends of concurrent requests share a commit, and so one flush of the disk.
package final class LMDBHubStore: HubStore {
  let environment: LMDBEnvironment
  let directory: FilePath
  let tables: HubTables

  private static let incarnationKey = Array("incarnation".utf8)
  private static let formatKey = Array("format".utf8)
  private static let format: UInt64 = 2

  /// Opens a store, or creates it.
  ///
  /// - Parameters:
  ///   - directory: Its directory, which is created if it is missing.
  ///   - limit: The largest size of its file; `nil` for no limit but the disk.
  /// - Throws: `LMDBError`; ``HubStoreError/malformed(_:)`` for a store of a newer version.
  package init(at directory: FilePath, limitInBytes limit: Int? = nil) throws {
    var options = LMDBEnvironment.Options()
    if let limit { (options.mapSizeInBytes, options.maximumMapSizeInBytes) = (limit, limit) }
    options.createsDirectory = true
    self.directory = directory
    environment = try LMDBEnvironment(path: directory, options: options)
    tables = try environment.write { transaction in
      let tables = try HubTables(in: &transaction)
      if let format = try tables.meta.value(forKey: Self.formatKey, in: transaction).map(UInt64.init(bytes:)) {
        guard (1...Self.format).contains(format) else {
          throw HubStoreError.malformed("The store has format \(format); this version reads \(Self.format).")
        }
        if format == 1 {
          try tables.countRows(in: &transaction)
          try tables.meta.put(Self.format.bytes, forKey: Self.formatKey, in: &transaction)
        }
        return tables
      }
      var generator = SystemRandomNumberGenerator()
      let incarnation = (0..<16).map { _ in UInt8.random(in: .min ... .max, using: &generator) }
      try tables.meta.put(incarnation, forKey: Self.incarnationKey, in: &transaction)
      try tables.meta.put(Self.format.bytes, forKey: Self.formatKey, in: &transaction)
      return tables
    }
  }

  /// Closes the store.
  ///
  /// - Throws: `LMDBError`.
  package func close() throws { try environment.close(waitingAtMost: .seconds(5)) }

  func write<R: Sendable>(
    _ body: @escaping @Sendable (HubTables, inout WriteTransaction) throws -> R
  ) async throws -> R {
    do {
      return try await environment.groupCommit { [tables] transaction in try body(tables, &transaction) }
    } catch let error as LMDBError where [.diskFull, .mapFull].contains(error.code) {
      throw HubStoreError.unavailable("\(error)")
    }
  }

  func read<R>(_ body: (HubTables, borrowing ReadTransaction) throws -> R) throws -> R {
    try environment.read { transaction in try body(tables, transaction) }
  }

  package func incarnation(for _: SpaceID?) async throws -> [UInt8] {
    try read { tables, transaction in try tables.meta.value(forKey: Self.incarnationKey, in: transaction) ?? [] }
  }
}

extension LMDBHubStore {
  package func totals() async throws -> HubTotals {
    try read { tables, transaction in
      var totals = HubTotals()
      totals.accounts = try tables.accounts.count(in: transaction)
      try tables.spaces.forEach(withPrefix: [], in: transaction) { _, value in
        let row = try SpaceRow([UInt8](decoding: value))
        totals.spaces += 1
        totals.appendedSegments += row.position
        totals.bytes += row.byteCount
        return true
      }
      return totals
    }
  }
}

// MARK: - Other hubs

extension LMDBHubStore {
  package var isShared: Bool { false }

  package func announceChange(of space: SpaceID) {}

  package func followOthers(_ report: @escaping @Sendable ([SpaceID]) -> Void) async {}

  package func changeCounts(of spaces: [SpaceID]) async throws -> [SpaceID: UInt64] {
    try read { tables, transaction in
      let counts = try spaces.compactMap { id in try tables.space(id, in: transaction).map { (id, $0.changeCount) } }
      return Dictionary(counts) { first, _ in first }
    }
  }
}

// MARK: - Accounts and tokens

extension LMDBHubStore {
  package func put(_ account: HubAccount) async throws {
    try await write { tables, transaction in
      let isNew = try tables.accounts.insert(account.row, forKey: account.id.bytes, in: &transaction)
      guard !isNew else { return }
      try tables.accounts.put(account.row, forKey: account.id.bytes, in: &transaction)
      for space in try tables.spaceIDs(of: account.id, in: transaction) {
        guard var row = try tables.space(space, in: transaction) else { continue }
        row.limitInBytes = account.limitInBytes
        try tables.spaces.put(row.bytes, forKey: space.bytes, in: &transaction)
      }
    }
  }

  package func account(_ id: UUID) async throws -> HubAccount? {
    try read { tables, transaction in
      try tables.accounts.value(forKey: id.bytes, in: transaction).map { try HubAccount(id: id, row: $0) }
    }
  }

  package func put(_ grant: HubGrant, for token: TokenHash, at time: Int64) async throws {
    try await write { tables, transaction in
      if case .invitation(let space, _, _, _) = grant, var row = try tables.space(space, in: transaction) {
        row.byteCount -= try tables.deleteExpiredInvitations(to: space, at: time, &transaction)
        row.byteCount += HubRowLimits.rowByteCount
        guard row.byteCount <= row.limitInBytes else { throw HubStoreError.noRoom }
        try tables.invitations.put([], forKey: space.bytes + token.bytes, in: &transaction)
        try tables.spaces.put(row.bytes, forKey: space.bytes, in: &transaction)
      }
      try tables.tokens.put(grant.row, forKey: token.bytes, in: &transaction)
    }
  }

  package func grant(for token: TokenHash, in space: SpaceID?) async throws -> HubGrant? {
    try read { tables, transaction in
      try tables.tokens.value(forKey: token.bytes, in: transaction).map { try HubGrant(row: $0) }
    }
  }
}

// MARK: - Spaces and members

extension LMDBHubStore {
  package func createSpace(
    of account: HubAccount, with member: HubMember, token: TokenHash, mostSpaces: Int
  ) async throws {
    try await write { tables, transaction in
      guard try !tables.spaces.contains(member.space.bytes, in: transaction) else { throw HubStoreError.spaceExists }
      guard try tables.spaceIDs(of: account.id, in: transaction).count < mostSpaces else {
        throw HubStoreError.tooManySpaces
      }
      var row = SpaceRow(of: account)
      row.byteCount = HubRowLimits.rowByteCount
      try tables.spaces.put(row.bytes, forKey: member.space.bytes, in: &transaction)
      try tables.accountSpaces.put([], forKey: account.id.bytes + member.space.bytes, in: &transaction)
      try tables.add(member, token: token, in: &transaction)
    }
  }

  package func spaceCount(of account: UUID) async throws -> Int {
    try read { tables, transaction in try tables.spaceIDs(of: account, in: transaction).count }
  }

  package func space(_ id: SpaceID) async throws -> HubSpace? {
    try read { tables, transaction in try tables.space(id, in: transaction)?.space }
  }

  package func join(
    _ space: SpaceID, as id: UUID, token: TokenHash, by invitation: TokenHash, at time: Int64
  ) async throws -> HubMember? {
    try await write { tables, transaction in
      guard let row = try tables.tokens.value(forKey: invitation.bytes, in: transaction),
        case .invitation(space, let role, let inviter, let expiresAt) = try HubGrant(row: row), time < expiresAt,
        try tables.members.contains(space.bytes + inviter.bytes, in: transaction)
      else { return nil }
      // From now on the member's row counts instead of the invitation's.
      try tables.tokens.remove(forKey: invitation.bytes, in: &transaction)
      try tables.invitations.remove(forKey: space.bytes + invitation.bytes, in: &transaction)
      let member = HubMember(id: id, space: space, role: role)
      try tables.add(member, token: token, in: &transaction)
      if role == .reader { try tables.replaceSharedRecoveries(in: space, &transaction) }
      return member
    }
  }

  package func replicas(in space: SpaceID) async throws -> [ReplicaID: HubReplica] {
    try read { tables, transaction in
      var replicas: [ReplicaID: HubReplica] = [:]
      try tables.replicas.forEach(withPrefix: space.bytes, in: transaction) { key, value in
        guard let replica = ReplicaID(bytes: try [UInt8](decoding: key).dropFirst(SpaceID.byteCount)) else {
          throw RowReader.Damaged()
        }
        replicas[replica] = try ReplicaRow([UInt8](decoding: value)).replica
        return true
      }
      return replicas
    }
  }
}

extension HubTables {
  func add(_ member: HubMember, token: TokenHash, in transaction: inout WriteTransaction) throws {
    guard try !tokens.contains(token.bytes, in: transaction) else { throw HubStoreError.knownToken }
    try tokens.put(HubGrant.member(member).row, forKey: token.bytes, in: &transaction)
    try members.put(token.bytes, forKey: member.space.bytes + member.id.bytes, in: &transaction)
  }

  func spaceIDs<T: LMDBTransaction & ~Copyable>(of account: UUID, in transaction: borrowing T) throws -> [SpaceID] {
    var spaces: [SpaceID] = []
    try accountSpaces.forEach(withPrefix: account.bytes, in: transaction) { key, _ in
      var reader = RowReader(try [UInt8](decoding: key))
      _ = try reader.id()
      spaces.append(try reader.space())
      return true
    }
    return spaces
  }

  func space<T: LMDBTransaction & ~Copyable>(_ id: SpaceID, in transaction: borrowing T) throws -> SpaceRow? {
    try spaces.value(forKey: id.bytes, in: transaction).map { try SpaceRow($0) }
  }

  /// The row of a replica as which a member may write; a new replica belongs to the member from now on.
  ///
  /// It is looked up in the write itself, because the member may have been revoked since its request was authorised.
  func ownReplica<T: LMDBTransaction & ~Copyable>(
    _ replica: ReplicaID, of member: HubMember, in transaction: borrowing T
  ) throws -> ReplicaRow {
    guard try members.contains(member.space.bytes + member.id.bytes, in: transaction) else {
      throw HubStoreError.denied
    }
    guard let row = try self.replica(replica, of: member.space, in: transaction) else {
      try requireRoomForReplica(of: member, in: transaction)
      return ReplicaRow(of: member)
    }
    guard row.member == member.id else { throw HubStoreError.denied }
    return row
  }

  private func requireRoomForReplica<T: LMDBTransaction & ~Copyable>(
    of member: HubMember, in transaction: borrowing T
  ) throws {
    var (ofMember, inAll) = (0, 0)
    try replicas.forEach(withPrefix: member.space.bytes, in: transaction) { _, value in
      inAll += 1
      if try ReplicaRow([UInt8](decoding: value)).member == member.id { ofMember += 1 }
      return true
    }
    guard ofMember < HubRowLimits.mostReplicasOfMember, inAll < HubRowLimits.mostReplicas else {
      throw HubStoreError.tooManyReplicas
    }
  }

  /// The present role of a member; `nil` if it was revoked.
  func role<T: LMDBTransaction & ~Copyable>(of member: HubMember, in transaction: borrowing T) throws -> HubRole? {
    guard let token = try members.value(forKey: member.space.bytes + member.id.bytes, in: transaction),
      let row = try tokens.value(forKey: token, in: transaction), case .member(let known) = try HubGrant(row: row)
    else { return nil }
    return known.role
  }

  /// Stores the row of a space, whose contents have changed.
  func putChanged(_ row: SpaceRow, of space: SpaceID, in transaction: inout WriteTransaction) throws {
    var row = row
    row.changeCount += 1
    try spaces.put(row.bytes, forKey: space.bytes, in: &transaction)
  }

  func replica<T: LMDBTransaction & ~Copyable>(
    _ replica: ReplicaID, of space: SpaceID, in transaction: borrowing T
  ) throws -> ReplicaRow? {
    try replicas.value(forKey: space.bytes + replica.bytes, in: transaction).map { try ReplicaRow($0) }
  }
}
