import Foundation
import TallySync

/// Writes the fields of a row one after the other.
struct RowWriter {
  private(set) var bytes: [UInt8] = []

  mutating func append(_ field: some Sequence<UInt8>) { bytes += field }
  mutating func append(_ number: UInt64) { bytes += number.bytes }
  mutating func append(_ number: Int) { append(UInt64(bitPattern: Int64(number))) }
  mutating func append(_ id: UUID) { bytes += id.bytes }
}

/// Reads the fields of a row in their order; a row that is too short is damaged.
struct RowReader {
  struct Damaged: Error {}

  private var rest: ArraySlice<UInt8>

  init(_ bytes: [UInt8]) { rest = bytes[...] }

  mutating func bytes(_ count: Int) throws -> [UInt8] {
    guard rest.count >= count else { throw Damaged() }
    defer { rest = rest.dropFirst(count) }
    return Array(rest.prefix(count))
  }

  mutating func number() throws -> UInt64 { UInt64(bytes: try bytes(8)) }
  mutating func integer() throws -> Int { Int(Int64(bitPattern: try number())) }
  mutating func id() throws -> UUID { try bytes(16).uuid }
  mutating func space() throws -> SpaceID { try SpaceID(bytes: try bytes(16)).orDamaged() }
  /// The bytes that were not read.
  mutating func remainder() -> [UInt8] {
    defer { rest = [] }
    return Array(rest)
  }
}

extension Optional {
  fileprivate func orDamaged() throws -> Wrapped {
    guard let self else { throw RowReader.Damaged() }
    return self
  }
}

extension UInt64 {
  /// Big endian.
  var bytes: [UInt8] { (0..<8).map { UInt8(truncatingIfNeeded: self >> (56 - 8 * $0)) } }

  init(bytes: some Sequence<UInt8>) { self = bytes.reduce(0) { $0 << 8 | UInt64($1) } }
}

extension UUID {
  var bytes: [UInt8] { ReplicaID(self).bytes }
}

extension [UInt8] {
  /// The id that these sixteen bytes represent.
  fileprivate var uuid: UUID {
    UUID(
      uuid: (
        self[0], self[1], self[2], self[3], self[4], self[5], self[6], self[7],
        self[8], self[9], self[10], self[11], self[12], self[13], self[14], self[15]
      ))
  }
}

// MARK: - Rows

extension HubAccount {
  init(id: UUID, row: [UInt8]) throws {
    var reader = RowReader(row)
    self.init(id: id, limitInBytes: try reader.integer())
  }

  var row: [UInt8] { UInt64(limitInBytes).bytes }
}

extension HubGrant {
  init(row: [UInt8]) throws {
    var reader = RowReader(row)
    switch try reader.bytes(1)[0] {
    case 1: self = .account(try reader.id())
    case 2:
      let id = try reader.id()
      self = .member(HubMember(id: id, space: try reader.space(), role: try HubRole(code: reader.bytes(1)[0])))
    case 3:
      let space = try reader.space()
      let role = try HubRole(code: reader.bytes(1)[0])
      self = .invitation(space, role, by: try reader.id(), expiresAt: Int64(try reader.integer()))
    case 4: self = .revoked(try reader.space())
    default: throw RowReader.Damaged()
    }
  }

  var row: [UInt8] {
    var writer = RowWriter()
    switch self {
    case .account(let id):
      writer.append([1])
      writer.append(id)
    case .member(let member):
      writer.append([2])
      writer.append(member.id)
      writer.append(member.space.bytes)
      writer.append([member.role.code])
    case .invitation(let space, let role, let inviter, let expiresAt):
      writer.append([3])
      writer.append(space.bytes)
      writer.append([role.code])
      writer.append(inviter)
      writer.append(Int(expiresAt))
    case .revoked(let space):
      writer.append([4])
      writer.append(space.bytes)
    }
    return writer.bytes
  }
}

extension HubRole {
  /// The code is stored: do not change it.
  var code: UInt8 {
    switch self {
    case .owner: 1
    case .writer: 2
    case .reader: 3
    }
  }

  init(code: UInt8) throws { self = try Self.allCases.first { $0.code == code }.orDamaged() }
}

/// The row of a space.
struct SpaceRow {
  private(set) var account: UUID
  var position: UInt64 = 0
  var changeCount: UInt64 = 0
  var byteCount = 0
  var limitInBytes: Int

  init(of account: HubAccount) { (self.account, limitInBytes) = (account.id, account.limitInBytes) }

  init(_ row: [UInt8]) throws {
    var reader = RowReader(row)
    account = try reader.id()
    (position, changeCount) = (try reader.number(), try reader.number())
    (byteCount, limitInBytes) = (try reader.integer(), try reader.integer())
  }

  var bytes: [UInt8] {
    var writer = RowWriter()
    writer.append(account)
    writer.append(position)
    writer.append(changeCount)
    writer.append(byteCount)
    writer.append(limitInBytes)
    return writer.bytes
  }

  /// The row with another account that is responsible for the space.
  func given(to account: HubAccount) -> SpaceRow {
    var row = self
    (row.account, row.limitInBytes) = (account.id, account.limitInBytes)
    return row
  }

  var space: HubSpace {
    HubSpace(
      account: account, position: position, changeCount: changeCount, byteCount: byteCount, limitInBytes: limitInBytes)
  }
}

/// The row of a replica.
struct ReplicaRow {
  let member: UUID
  /// `UInt64.max` unless it was revoked.
  var cutOff = UInt64.max
  var number: UInt64 = 0
  /// The SHA-256 of the last segment; zeros before the first one.
  var hash = [UInt8](repeating: 0, count: 32)

  init(of member: HubMember) { self.member = member.id }

  init(_ row: [UInt8]) throws {
    var reader = RowReader(row)
    (member, cutOff, number) = (try reader.id(), try reader.number(), try reader.number())
    hash = try reader.bytes(32)
  }

  var bytes: [UInt8] {
    var writer = RowWriter()
    writer.append(member)
    writer.append(cutOff)
    writer.append(number)
    writer.append(hash)
    return writer.bytes
  }

  var head: SegmentHead { SegmentHead(number: number, digest: hash) }
  var replica: HubReplica { HubReplica(member: member, cutOff: cutOff == .max ? nil : cutOff, head: head) }
}

/// The row of a recovery code.
struct RecoveryRow {
  let space: SpaceID
  var member: UUID
  var isShared: Bool
  var isReplaced = false
  /// When it was stored, in microseconds since 1970.
  let time: Int64

  private static let sharedFlag: UInt8 = 1, replacedFlag: UInt8 = 2

  init(of member: HubMember, isShared: Bool, at time: Int64) {
    (space, self.member, self.isShared, self.time) = (member.space, member.id, isShared, time)
  }

  init(_ row: [UInt8]) throws {
    var reader = RowReader(row)
    (space, member) = (try reader.space(), try reader.id())
    let flags = try reader.bytes(1)[0]
    (isShared, isReplaced) = (flags & Self.sharedFlag != 0, flags & Self.replacedFlag != 0)
    time = Int64(try reader.integer())
  }

  var bytes: [UInt8] {
    var writer = RowWriter()
    writer.append(space.bytes)
    writer.append(member)
    writer.append([(isShared ? Self.sharedFlag : 0) | (isReplaced ? Self.replacedFlag : 0)])
    writer.append(Int(time))
    return writer.bytes
  }
}
