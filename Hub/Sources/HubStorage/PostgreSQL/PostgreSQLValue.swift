import Foundation
import TallySync

/// A parameter of a statement, in PostgreSQL's binary format.
///
/// Source: `src/backend/utils/adt/arrayfuncs.c`, `array_recv`, for arrays; numbers are big endian.
enum PostgreSQLValue: Sendable {
  case null
  case bytes([UInt8])
  case integer(Int64)
  case small(Int16)
  case integers([Int64])
  case smallIntegers([Int32])
  case byteStrings([[UInt8]])
  case ids([[UInt8]])

  static func id(_ id: UUID) -> PostgreSQLValue { .bytes(id.bytes) }
  static func id(_ id: SpaceID) -> PostgreSQLValue { .bytes(id.bytes) }
  static func id(_ id: ReplicaID) -> PostgreSQLValue { .bytes(id.bytes) }
  /// A number for a column of eight bytes; a greater one becomes the greatest that the column can have.
  static func number(_ number: UInt64) -> PostgreSQLValue { .integer(Int64(clamping: number)) }

  /// The bytes of the value; `nil` for a missing value.
  var encoded: [UInt8]? {
    switch self {
    case .null: nil
    case .bytes(let bytes): bytes
    case .integer(let number): UInt64(bitPattern: number).bytes
    case .small(let number): [UInt8(truncatingIfNeeded: number >> 8), UInt8(truncatingIfNeeded: number)]
    case .integers(let numbers):
      Self.array(of: numbers.map { UInt64(bitPattern: $0).bytes }, type: 20)
    case .smallIntegers(let numbers): Self.array(of: numbers.map(\.bytes), type: 23)
    case .byteStrings(let strings): Self.array(of: strings, type: 17)
    case .ids(let ids): Self.array(of: ids, type: 2_950)
    }
  }

  /// The approximate bytes that it needs in memory.
  var byteCount: Int {
    switch self {
    case .null, .integer, .small: 8
    case .bytes(let bytes): bytes.count
    case .integers(let numbers): 8 * numbers.count
    case .smallIntegers(let numbers): 4 * numbers.count
    case .byteStrings(let strings), .ids(let strings): strings.reduce(0) { $0 + $1.count }
    }
  }

  /// One dimension without missing values, counted from 1; none for an empty array.
  private static func array(of elements: [[UInt8]], type: Int32) -> [UInt8] {
    var bytes = (elements.isEmpty ? 0 : 1 as Int32).bytes + (0 as Int32).bytes + type.bytes
    guard !elements.isEmpty else { return bytes }
    bytes.reserveCapacity(20 + elements.reduce(0) { $0 + $1.count + 4 })
    bytes += Int32(elements.count).bytes + (1 as Int32).bytes
    for element in elements {
      bytes += Int32(element.count).bytes
      bytes += element
    }
    return bytes
  }
}

extension Int32 {
  /// Big endian.
  fileprivate var bytes: [UInt8] { (0..<4).map { UInt8(truncatingIfNeeded: self >> (24 - 8 * $0)) } }
}

/// A row of an answer, whose columns are read in their order.
struct PostgreSQLRow: Sendable {
  private let columns: [[UInt8]?]
  private var next = 0

  init(_ columns: [[UInt8]?]) { self.columns = columns }

  /// The next column; `nil` if its value is missing.
  mutating func optionalBytes() throws -> [UInt8]? {
    guard next < columns.count else { throw RowReader.Damaged() }
    defer { next += 1 }
    return columns[next]
  }

  mutating func bytes() throws -> [UInt8] {
    guard let bytes = try optionalBytes() else { throw RowReader.Damaged() }
    return bytes
  }

  /// A number of two, four or eight bytes.
  mutating func optionalInteger() throws -> Int64? {
    try optionalBytes().map { bytes in
      let isNegative = (bytes.first ?? 0) >= 0x80
      return bytes.reduce(isNegative ? -1 : 0) { $0 << 8 | Int64($1) }
    }
  }

  mutating func integer() throws -> Int64 {
    guard let number = try optionalInteger() else { throw RowReader.Damaged() }
    return number
  }

  mutating func number() throws -> UInt64 { UInt64(bitPattern: try integer()) }
  mutating func boolean() throws -> Bool { try bytes() == [1] }

  mutating func id() throws -> UUID {
    var reader = RowReader(try bytes())
    return try reader.id()
  }

  mutating func space() throws -> SpaceID {
    var reader = RowReader(try bytes())
    return try reader.space()
  }

  mutating func replica() throws -> ReplicaID {
    guard let replica = ReplicaID(bytes: try bytes()) else { throw RowReader.Damaged() }
    return replica
  }
}
