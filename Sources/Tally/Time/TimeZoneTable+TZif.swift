extension TimeZoneTable {
  /// Reads a file of the tz database: the Time Zone Information Format of RFC 9636.
  ///
  /// `nil` for what is not such a file, and for the "right" zones, which count leap seconds as instants do not.
  init?(tzif bytes: [UInt8]) {
    // Unsafe by signature only: bytes are bytes.
    let bytes = unsafe bytes.span.bytes
    guard let first = TZifHeader(bytes, at: 0) else { return nil }
    guard first.version != 0 else {
      self.init(bytes, first, timeByteCount: 4, rule: nil)
      return
    }
    // A second block with times of 64 bits follows the first, and the rule for later times follows in a line.
    guard let second = TZifHeader(bytes, at: first.end(timeByteCount: 4)) else { return nil }
    let end = second.end(timeByteCount: 8)
    guard bytes.byteCount > end, bytes.load(bigEndianAt: end) == UInt8(ascii: "\n") else { return nil }
    let line = bytes.bytes(from: end + 1).prefix { $0 != UInt8(ascii: "\n") }
    let rule = YearlyRule(posix: line)
    guard line.isEmpty || rule != nil else { return nil }
    self.init(bytes, second, timeByteCount: 8, rule: rule)
  }

  private init?(_ bytes: RawSpan, _ header: TZifHeader, timeByteCount: Int, rule: YearlyRule?) {
    guard header.leapSecondCount == 0, header.typeCount > 0, header.end(timeByteCount: timeByteCount) <= bytes.byteCount
    else { return nil }
    let typeIndexes = header.start + header.changeCount * timeByteCount
    let types = typeIndexes + header.changeCount
    let offsets = (0..<header.typeCount).map { index in
      Int64(Int32(bitPattern: bytes.load(bigEndianAt: types + index * TZifHeader.typeByteCount)))
    }
    // No clock was ever a whole day from UTC; computing with days relies on it.
    guard offsets.allSatisfy({ abs($0) < 86_400 }) else { return nil }
    var changes: [(second: Int64, offset: Int64)] = []
    for index in 0..<header.changeCount {
      let start = header.start + index * timeByteCount
      let second =
        timeByteCount == 4
        ? Int64(Int32(bitPattern: bytes.load(bigEndianAt: start))) : Int64(bitPattern: bytes.load(bigEndianAt: start))
      let type = Int(bytes.load(bigEndianAt: typeIndexes + index, as: UInt8.self))
      guard type < offsets.count, changes.last.map({ $0.second < second }) ?? true else { return nil }
      changes.append((second: second, offset: offsets[type]))
    }
    // Some files begin billions of years ago; in microseconds that would overflow.
    let limit: Int64 = 1 << 40
    let within = changes.map { (second: min(max($0.second, -limit), limit), offset: $0.offset) }
    self.init(firstOffset: offsets[0], changes: within, rule: rule)
  }
}

/// The header of a block of a TZif file, which counts the parts of the block (RFC 9636, section 3.1).
private struct TZifHeader {
  static let byteCount = 44
  /// An offset of four bytes, whether it is daylight saving time, and where its name stands.
  static let typeByteCount = 6

  let version: UInt8
  /// Where the block's data begin.
  let start: Int
  let changeCount: Int
  let typeCount: Int
  let leapSecondCount: Int
  private let nameByteCount: Int
  private let indicatorCount: Int

  init?(_ bytes: RawSpan, at offset: Int) {
    guard offset + Self.byteCount <= bytes.byteCount, bytes.load(bigEndianAt: offset, as: UInt32.self) == 0x545A_6966
    else { return nil }
    func count(_ index: Int) -> Int { Int(bytes.load(bigEndianAt: offset + 20 + 4 * index, as: UInt32.self)) }
    version = bytes.load(bigEndianAt: offset + 4)
    start = offset + Self.byteCount
    indicatorCount = count(0) + count(1)
    leapSecondCount = count(2)
    changeCount = count(3)
    typeCount = count(4)
    nameByteCount = count(5)
  }

  /// Where the block ends, if each of its times takes this many bytes.
  func end(timeByteCount: Int) -> Int {
    start + changeCount * (timeByteCount + 1) + typeCount * Self.typeByteCount + nameByteCount
      + leapSecondCount * (timeByteCount + 4) + indicatorCount
  }
}
