import Crypto
import Foundation

extension FixedWidthInteger {
  /// The bytes, most significant first.
  var bigEndianBytes: [UInt8] {
    stride(from: Self.bitWidth - 8, through: 0, by: -8).map { UInt8(truncatingIfNeeded: self >> Self($0)) }
  }

  /// The number in some bytes, most significant first; bytes that do not fit are shifted out.
  init(bigEndianBytes bytes: some Sequence<UInt8>) { self = bytes.reduce(0) { $0 << 8 | Self(truncatingIfNeeded: $1) } }
}

/// Reads the bytes of a ``ByteWriter``, or any others; throws for bytes that cannot be right.
struct ByteReader {
  private let all: [UInt8]
  private var position: Int

  /// Reads bytes.
  ///
  /// - Parameters:
  ///   - bytes: The bytes, which are not copied.
  ///   - position: The position of the first one.
  init(_ bytes: [UInt8], from position: Int = 0) { (all, self.position) = (bytes, min(position, bytes.count)) }

  var isAtEnd: Bool { position == all.count }
  private var leftCount: Int { all.count - position }

  mutating func byte() throws(CodingFault) -> UInt8 {
    guard position < all.count else { throw .endsEarly }
    defer { position += 1 }
    return all[position]
  }

  /// Reads a number; the shortest form is the only one.
  mutating func number() throws(CodingFault) -> UInt64 {
    var (number, shift) = (UInt64(0), UInt64(0))
    while true {
      let byte = try byte()
      let group = UInt64(byte & 0x7F)
      guard shift < 63 || group <= 1 else { throw .numberTooLarge }
      number |= group << shift
      if byte & 0x80 == 0 {
        guard byte != 0 || shift == 0 else { throw .numberTooLong }
        return number
      }
      shift += 7
      guard shift <= 63 else { throw .numberTooLarge }
    }
  }

  mutating func signedNumber() throws(CodingFault) -> Int64 {
    let number = try number()
    return Int64(bitPattern: number >> 1) ^ -Int64(bitPattern: number & 1)
  }

  /// Reads how many values follow, each of at least a number of bytes.
  ///
  /// A count for which the bytes do not suffice throws, so that a false one does not cost memory.
  mutating func count(ofAtLeast byteCount: Int = 1) throws(CodingFault) -> Int {
    let count = try number()
    guard count <= UInt64(leftCount / byteCount) else { throw .endsEarly }
    return Int(count)
  }

  /// Reads bytes after their number.
  mutating func countedBytes() throws(CodingFault) -> [UInt8] { try bytes(count()) }

  /// Reads all that is left.
  mutating func rest() -> [UInt8] {
    defer { position = all.count }
    return Array(all[position...])
  }

  /// Reads a known number of bytes.
  mutating func bytes(_ count: Int) throws(CodingFault) -> [UInt8] {
    guard count <= leftCount else { throw .endsEarly }
    defer { position += count }
    return Array(all[position..<position + count])
  }
}

/// The reason why bytes cannot be the state of an object.
enum CodingFault: Error, Hashable {
  case endsEarly, numberTooLarge, numberTooLong
  /// Parts are out of order or there twice, so that there would be two forms of one state.
  case notCanonical
  /// A replica that the list of replicas does not have.
  case unknownReplica
  /// More follows.
  case trailingBytes
  /// A time, a count or a text that no replica writes.
  case impossibleValue
}

/// Appends numbers and bytes in the form in which states are stored and sent.
struct ByteWriter {
  private(set) var bytes: [UInt8] = []

  /// - Parameter capacity: How many bytes are expected.
  init(reservingCapacity capacity: Int = 0) { bytes.reserveCapacity(capacity) }

  /// Appends a number in groups of seven bits, the lowest first; all groups except the last have the eighth bit set.
  ///
  /// The same as LEB128 (DWARF 5, 7.6).
  mutating func append(_ number: UInt64) {
    var rest = number
    while rest >= 0x80 {
      bytes.append(UInt8(truncatingIfNeeded: rest) | 0x80)
      rest >>= 7
    }
    bytes.append(UInt8(rest))
  }

  /// Appends a number with its sign in the lowest bit, so that small ones take few bytes.
  mutating func append(signed number: Int64) { append(UInt64(bitPattern: (number << 1) ^ (number >> 63))) }

  /// Appends bytes after their number.
  mutating func append(counted value: some Collection<UInt8>) {
    append(UInt64(value.count))
    bytes += value
  }

  /// Appends bytes whose number the reader knows.
  mutating func append(raw value: some Collection<UInt8>) { bytes += value }
}

/// Bytes as two lower-case hexadecimal digits each, as ids and the names in a folder have them.
enum HexDigits {
  private static let digits = Array("0123456789abcdef".utf8)

  /// The digits of some bytes.
  static func text(of bytes: some Sequence<UInt8>) -> String {
    var text: [UInt8] = []
    text.reserveCapacity(2 * bytes.underestimatedCount)
    for byte in bytes {
      text.append(digits[Int(byte >> 4)])
      text.append(digits[Int(byte & 0xF)])
    }
    return String(decoding: text, as: UTF8.self)
  }

  /// The bytes of some digits; `nil` if there is anything else, upper case included.
  static func bytes(of text: some StringProtocol) -> [UInt8]? { bytes(of: Array(text.utf8)[...]) }

  /// The bytes of some digits in ASCII.
  static func bytes(of digits: ArraySlice<UInt8>) -> [UInt8]? {
    guard digits.count.isMultiple(of: 2) else { return nil }
    var bytes: [UInt8] = []
    bytes.reserveCapacity(digits.count / 2)
    for index in stride(from: digits.startIndex, to: digits.endIndex, by: 2) {
      guard let high = value(of: digits[index]), let low = value(of: digits[index + 1]) else { return nil }
      bytes.append(high << 4 | low)
    }
    return bytes
  }

  private static func value(of digit: UInt8) -> UInt8? {
    switch digit {
    case UInt8(ascii: "0")...UInt8(ascii: "9"): digit - UInt8(ascii: "0")
    case UInt8(ascii: "a")...UInt8(ascii: "f"): digit - UInt8(ascii: "a") + 10
    default: nil
    }
  }
}

/// The SHA-256 of some bytes.
struct ContentHash: Hashable, Comparable, Codable, Sendable {
  static let byteCount = SHA256.byteCount

  let bytes: [UInt8]

  /// Hashes bytes.
  init(of content: [UInt8]) { bytes = Array(SHA256.hash(data: content)) }

  /// The hash with some bytes; `nil` for another number of them.
  init?(bytes: some Collection<UInt8>) {
    guard bytes.count == Self.byteCount else { return nil }
    self.bytes = Array(bytes)
  }

  private init() { bytes = Array(repeating: 0, count: Self.byteCount) }

  /// Zeros: before the first segment, and in a card.
  static let none = ContentHash()

  static func < (left: ContentHash, right: ContentHash) -> Bool { left.bytes.lexicographicallyPrecedes(right.bytes) }

  init(from decoder: any Decoder) throws {
    let bytes = try decoder.singleValueContainer().decode(Data.self)
    guard let hash = ContentHash(bytes: bytes) else { throw CodingFault.impossibleValue }
    self = hash
  }

  func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    try container.encode(Data(bytes))
  }
}
