/// Reads what ``ByteWriter`` has written, or anything else: what cannot be right throws.
struct ByteReader {
  private let all: [UInt8]
  private var position: Int

  /// Reads bytes.
  ///
  /// - Parameters:
  ///   - bytes: The bytes, which are not copied.
  ///   - position: Where the first one is.
  init(_ bytes: [UInt8], from position: Int = 0) {
    (all, self.position) = (bytes, min(position, bytes.count))
  }

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

  /// Reads how many things follow, each of at least a number of bytes: more than there are bytes would be a lie that costs
  /// memory.
  mutating func count(ofAtLeast byteCount: Int = 1) throws(CodingFault) -> Int {
    let count = try number()
    guard count <= UInt64(leftCount / byteCount) else { throw .endsEarly }
    return Int(count)
  }

  /// Reads bytes after their number.
  mutating func countedBytes() throws(CodingFault) -> [UInt8] {
    try bytes(count())
  }

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

/// Why bytes cannot be the state of an object.
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
