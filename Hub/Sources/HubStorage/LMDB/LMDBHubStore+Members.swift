package import Foundation
import LMDB
import SystemPackage
package import TallySync

// Revoking members, changing their roles, and recovery codes.
extension LMDBHubStore {
  package func revoke(_ replica: ReplicaID, behind number: UInt64, in space: SpaceID) async throws -> UUID? {
    try await write { tables, transaction in
      guard var row = try tables.replica(replica, of: space, in: transaction) else { return nil }
      row.cutOff = min(row.cutOff, number)
      try tables.replicas.put(row.bytes, forKey: space.bytes + replica.bytes, in: &transaction)
      if let token = try tables.members.value(forKey: space.bytes + row.member.bytes, in: transaction) {
        try tables.tokens.put(HubGrant.revoked(space).row, forKey: token, in: &transaction)
        try tables.members.remove(forKey: space.bytes + row.member.bytes, in: &transaction)
      }
      var freed = try tables.cutOff(allOf: row.member, besides: replica, in: space, &transaction)
      freed += try tables.deleteInvitations(to: space, &transaction) { inviter, _ in inviter == row.member }
      try tables.replaceRecoveries(in: space, &transaction) { _ in true }
      guard var place = try tables.space(space, in: transaction) else { throw HubStoreError.noSpace }
      place.byteCount -= freed
      try tables.putChanged(place, of: space, in: &transaction)
      return row.member
    }
  }

  package func setRole(_ role: HubRole, ofMemberOf replica: ReplicaID, in space: SpaceID) async throws -> UUID? {
    try await write { tables, transaction in
      guard let row = try tables.replica(replica, of: space, in: transaction),
        let token = try tables.members.value(forKey: space.bytes + row.member.bytes, in: transaction)
      else { return nil }
      let member = HubMember(id: row.member, space: space, role: role)
      try tables.tokens.put(HubGrant.member(member).row, forKey: token, in: &transaction)
      // A reader would have a shared code, too, so shared codes are replaced.
      try tables.replaceRecoveries(in: space, &transaction) {
        role != .owner && $0.member == member.id || role == .reader && $0.isShared
      }
      guard let place = try tables.space(space, in: transaction) else { throw HubStoreError.noSpace }
      try tables.putChanged(place, of: space, in: &transaction)
      return row.member
    }
  }

  package func putRecovery(_ verifier: [UInt8], isShared: Bool, by member: HubMember, at time: Int64) async throws {
    let space = member.space
    try await write { tables, transaction in
      guard try tables.role(of: member, in: transaction) == .owner else { throw HubStoreError.denied }
      if let known = try tables.recoveries.value(forKey: verifier, in: transaction).map({ try RecoveryRow($0) }) {
        guard known.space == space else { throw HubStoreError.denied }
        guard !known.isReplaced else { throw HubStoreError.replacedCode }
      }
      if isShared { try tables.requireNoReaders(in: space, transaction) }
      if isShared, try tables.recoveries(in: space, transaction).contains(where: { !$0.row.isShared }) {
        throw HubStoreError.sharedCode
      }
      // The new code replaces the earlier codes of this owner and, if only this owner has it, all shared codes.
      try tables.replaceRecoveries(in: space, &transaction, besides: verifier) {
        $0.member == member.id || !isShared && $0.isShared
      }
      let row = RecoveryRow(of: member, isShared: isShared, at: time)
      try tables.recoveries.put(row.bytes, forKey: verifier, in: &transaction)
      try tables.spaceRecoveries.put([], forKey: space.bytes + verifier, in: &transaction)
    }
  }

  package func recoveries(in space: SpaceID) async throws -> [[UInt8]] {
    try read { tables, transaction in
      try tables.recoveries(in: space, transaction).filter { !$0.row.isReplaced }.map(\.verifier)
    }
  }

  package func recovery(_ verifier: [UInt8]) async throws -> HubRecovery? {
    try read { tables, transaction in
      try tables.recoveries.value(forKey: verifier, in: transaction).map { row in
        let row = try RecoveryRow(row)
        return HubRecovery(space: row.space, isReplaced: row.isReplaced)
      }
    }
  }

  package func addOwner(
    _ id: UUID, token: TokenHash, by verifier: [UInt8], in space: SpaceID
  ) async throws -> HubMember? {
    try await write { tables, transaction in
      guard let row = try tables.recoveries.value(forKey: verifier, in: transaction).map({ try RecoveryRow($0) }),
        row.space == space, !row.isReplaced, var place = try tables.space(space, in: transaction)
      else { return nil }
      if let known = try tables.tokens.value(forKey: token.bytes, in: transaction) {
        guard case .member(let member) = try HubGrant(row: known), member.space == space else { return nil }
        return member
      }
      place.byteCount += HubRowLimits.rowByteCount
      guard place.byteCount <= place.limitInBytes else { throw HubStoreError.noRoom }
      let member = HubMember(id: id, space: space, role: .owner)
      try tables.add(member, token: token, in: &transaction)
      try tables.spaces.put(place.bytes, forKey: space.bytes, in: &transaction)
      return member
    }
  }
}

extension HubTables {
  /// Cuts off the other replicas of a revoked member, and deletes the cards of those that have no segments.
  ///
  /// - Returns: How many bytes are free now.
  fileprivate func cutOff(
    allOf member: UUID, besides named: ReplicaID, in space: SpaceID, _ transaction: inout WriteTransaction
  ) throws -> Int {
    var (own, freed): ([(key: [UInt8], row: ReplicaRow)], Int) = ([], 0)
    try replicas.forEach(withPrefix: space.bytes, in: transaction) { key, value in
      let row = try ReplicaRow([UInt8](decoding: value))
      if row.member == member { own.append((try [UInt8](decoding: key), row)) }
      return true
    }
    for (key, row) in own {
      var row = row
      if key != space.bytes + named.bytes { row.cutOff = min(row.cutOff, row.number) }
      try replicas.put(row.bytes, forKey: key, in: &transaction)
      guard row.number == 0, let card = try cards.value(forKey: key, in: transaction) else { continue }
      freed += card.count - 8
      try cards.remove(forKey: key, in: &transaction)
    }
    return freed
  }

  /// - Returns: How many bytes are free now.
  fileprivate func deleteInvitations(
    to space: SpaceID, _ transaction: inout WriteTransaction, where isDue: (_ inviter: UUID, _ expiresAt: Int64) -> Bool
  ) throws -> Int {
    var due: [[UInt8]] = []
    try invitations.forEach(withPrefix: space.bytes, in: transaction) { key, _ in
      let key = try [UInt8](decoding: key)
      let row = try tokens.value(forKey: Array(key.dropFirst(SpaceID.byteCount)), in: transaction)
      guard let row, case .invitation(_, _, let inviter, let expiresAt) = try HubGrant(row: row) else { return true }
      if isDue(inviter, expiresAt) { due.append(key) }
      return true
    }
    for key in due {
      try invitations.remove(forKey: key, in: &transaction)
      try tokens.remove(forKey: Array(key.dropFirst(SpaceID.byteCount)), in: &transaction)
    }
    return due.count * HubRowLimits.rowByteCount
  }

  /// - Returns: How many bytes are free now.
  func deleteExpiredInvitations(
    to space: SpaceID, at time: Int64, _ transaction: inout WriteTransaction
  ) throws -> Int {
    try deleteInvitations(to: space, &transaction) { _, expiresAt in expiresAt <= time }
  }

  fileprivate func recoveries<T: LMDBTransaction & ~Copyable>(
    in space: SpaceID, _ transaction: borrowing T
  ) throws -> [(verifier: [UInt8], row: RecoveryRow)] {
    var found: [(verifier: [UInt8], row: RecoveryRow)] = []
    try spaceRecoveries.forEach(withPrefix: space.bytes, in: transaction) { key, _ in
      let verifier = try Array([UInt8](decoding: key).dropFirst(SpaceID.byteCount))
      guard let row = try recoveries.value(forKey: verifier, in: transaction) else { throw RowReader.Damaged() }
      found.append((verifier, try RecoveryRow(row)))
      return true
    }
    return found
  }

  /// Marks recovery codes as replaced, and forgets the oldest of those.
  fileprivate func replaceRecoveries(
    in space: SpaceID, _ transaction: inout WriteTransaction, besides own: [UInt8] = [],
    where isDue: (RecoveryRow) -> Bool
  ) throws {
    var replaced: [(verifier: [UInt8], row: RecoveryRow)] = []
    for (verifier, row) in try recoveries(in: space, transaction) where verifier != own {
      guard row.isReplaced || isDue(row) else { continue }
      var row = row
      row.isReplaced = true
      replaced.append((verifier, row))
      try recoveries.put(row.bytes, forKey: verifier, in: &transaction)
    }
    replaced.sort { $0.row.time > $1.row.time }
    for (verifier, _) in replaced.dropFirst(HubRowLimits.mostReplacedRecoveries) {
      try recoveries.remove(forKey: verifier, in: &transaction)
      try spaceRecoveries.remove(forKey: space.bytes + verifier, in: &transaction)
    }
  }

  /// Throws if a member of the space is a reader.
  fileprivate func requireNoReaders(in space: SpaceID, _ transaction: borrowing WriteTransaction) throws {
    try members.forEach(withPrefix: space.bytes, in: transaction) { _, token in
      guard let row = try tokens.value(forKey: [UInt8](decoding: token), in: transaction),
        case .member(let member) = try HubGrant(row: row), member.role == .reader
      else { return true }
      throw HubStoreError.sharedCode
    }
  }

  /// Replaces the shared codes of a space that gets a reader, who would have them, too.
  func replaceSharedRecoveries(in space: SpaceID, _ transaction: inout WriteTransaction) throws {
    try replaceRecoveries(in: space, &transaction) { $0.isShared }
  }

  /// Adds to each space what its rows count since format 2, and lists the invitations of each space.
  func countRows(in transaction: inout WriteTransaction) throws {
    var (rows, listed): ([SpaceID: Int], [[UInt8]]) = ([:], [])
    try tokens.forEach(withPrefix: [UInt8](), in: transaction) { key, value in
      switch try HubGrant(row: [UInt8](decoding: value)) {
      case .account: break
      case .member(let member): rows[member.space, default: 0] += 1
      case .revoked(let space): rows[space, default: 0] += 1
      case .invitation(let space, _, _, _):
        rows[space, default: 0] += 1
        listed.append(space.bytes + (try [UInt8](decoding: key)))
      }
      return true
    }
    try parts.forEach(withPrefix: [UInt8](), in: transaction) { key, _ in
      var reader = RowReader(try [UInt8](decoding: key))
      rows[try reader.space(), default: 0] += 1
      return true
    }
    for key in listed { try invitations.put([], forKey: key, in: &transaction) }
    for (space, count) in rows {
      guard var row = try self.space(space, in: transaction) else { continue }
      row.byteCount += count * HubRowLimits.rowByteCount
      try spaces.put(row.bytes, forKey: space.bytes, in: &transaction)
    }
  }
}

// MARK: - For the operator

extension LMDBHubStore {
  package func accounts(after account: UUID?, limit: Int) async throws -> [HubAccountSummary] {
    try read { tables, transaction in
      var summaries: [HubAccountSummary] = []
      try tables.accounts.forEach(from: account.map { $0.bytes + [0] }, in: transaction) {
        key, value in
        var reader = RowReader(try [UInt8](decoding: key))
        let known = try HubAccount(id: reader.id(), row: [UInt8](decoding: value))
        let spaces = try tables.spaceIDs(of: known.id, in: transaction)
        let bytes = try spaces.reduce(0) { try $0 + (tables.space($1, in: transaction)?.byteCount ?? 0) }
        summaries.append(
          HubAccountSummary(account: known.id, limitInBytes: known.limitInBytes, spaces: spaces.count, bytes: bytes))
        return summaries.count < limit
      }
      return summaries
    }
  }

  package func spaces(after space: SpaceID?, limit: Int) async throws -> [HubSpaceSummary] {
    try read { tables, transaction in
      var summaries: [HubSpaceSummary] = []
      try tables.spaces.forEach(from: space.map { $0.bytes + [0] }, in: transaction) { key, value in
        var reader = RowReader(try [UInt8](decoding: key))
        let (id, row) = (try reader.space(), try SpaceRow([UInt8](decoding: value)))
        var (members, replicas): ([String: Int], Int) = ([:], 0)
        try tables.members.forEach(withPrefix: id.bytes, in: transaction) { _, token in
          guard let row = try tables.tokens.value(forKey: [UInt8](decoding: token), in: transaction),
            case .member(let member) = try HubGrant(row: row)
          else { return true }
          members[member.role.rawValue, default: 0] += 1
          return true
        }
        try tables.replicas.forEach(withPrefix: id.bytes, in: transaction) { _, _ in
          replicas += 1
          return true
        }
        summaries.append(HubSpaceSummary(id, row.space, members: members, replicas: replicas))
        return summaries.count < limit
      }
      return summaries
    }
  }

  package func eraseSpace(_ space: SpaceID) async throws -> Bool {
    try await write { tables, transaction in
      guard let row = try tables.space(space, in: transaction) else { return false }
      var tokens: [[UInt8]] = []
      try tables.tokens.forEach(withPrefix: [UInt8](), in: transaction) { key, value in
        if try HubGrant(row: [UInt8](decoding: value)).space == space { tokens.append(try [UInt8](decoding: key)) }
        return true
      }
      for token in tokens { try tables.tokens.remove(forKey: token, in: &transaction) }
      for (verifier, _) in try tables.recoveries(in: space, transaction) {
        try tables.recoveries.remove(forKey: verifier, in: &transaction)
      }
      for table in [
        tables.members, tables.replicas, tables.segments, tables.positions, tables.cards, tables.snapshots,
        tables.parts, tables.invitations, tables.spaceRecoveries,
      ] { try table.removeAll(withPrefix: space.bytes, in: &transaction) }
      try tables.spaces.remove(forKey: space.bytes, in: &transaction)
      try tables.accountSpaces.remove(forKey: row.account.bytes + space.bytes, in: &transaction)
      return true
    }
  }

  package func eraseAccount(_ account: UUID) async throws {
    try await write { tables, transaction in
      guard try tables.spaceIDs(of: account, in: transaction).isEmpty else { throw HubStoreError.hasSpaces }
      var tokens: [[UInt8]] = []
      try tables.tokens.forEach(withPrefix: [UInt8](), in: transaction) { key, value in
        if try HubGrant(row: [UInt8](decoding: value)) == .account(account) {
          tokens.append(try [UInt8](decoding: key))
        }
        return true
      }
      for token in tokens { try tables.tokens.remove(forKey: token, in: &transaction) }
      try tables.accounts.remove(forKey: account.bytes, in: &transaction)
    }
  }

  package func give(_ space: SpaceID, to account: HubAccount) async throws -> Bool {
    try await write { tables, transaction in
      guard let row = try tables.space(space, in: transaction) else { return false }
      try tables.accountSpaces.remove(forKey: row.account.bytes + space.bytes, in: &transaction)
      try tables.accountSpaces.put([], forKey: account.id.bytes + space.bytes, in: &transaction)
      try tables.spaces.put(row.given(to: account).bytes, forKey: space.bytes, in: &transaction)
      return true
    }
  }

  package func gauges() async throws -> [String: Double] {
    let path = directory.string
    let file = try? FileManager.default.attributesOfItem(atPath: directory.appending("data.mdb").string)
    let disk = try? FileManager.default.attributesOfFileSystem(forPath: path)
    return [
      "tally_hub_store_bytes": (file?[.size] as? NSNumber)?.doubleValue,
      "tally_hub_disk_free_bytes": (disk?[.systemFreeSize] as? NSNumber)?.doubleValue,
    ].compactMapValues { $0 }
  }
}
