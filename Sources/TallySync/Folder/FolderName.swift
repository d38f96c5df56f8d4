/// The name of a file in the folder of a space.
///
/// A folder is shared with programs that copy it between devices, and they leave files of their own: conflict copies,
/// unfinished copies, placeholders. A name counts only if it is exactly one that this writes.
enum FolderName: Hashable, Sendable {
  /// One or more segments, one after the other.
  case segments(SegmentRange)
  /// A card, with its number.
  case card(UInt64)
  /// One part of a snapshot.
  case part(Int, of: SnapshotStem)
  /// A file that is being written, or that a crash has left; the number is random.
  case temporary(UInt64)
  /// Stands for a file that a program has not downloaded yet.
  indirect case placeholder(FolderName)

  /// Which segments a file has.
  struct SegmentRange: Hashable {
    let first: UInt64
    let last: UInt64
    /// The start of the hash of the last one, eight bytes.
    let digest: [UInt8]

    /// The last segment.
    var head: SegmentHead { SegmentHead(number: last, digest: digest) }
    /// How many segments there are.
    var count: UInt64 { last - first + 1 }

    /// Whether all segments of another file are in this one, which is not the same.
    func covers(_ other: SegmentRange) -> Bool {
      first <= other.first && other.last <= last && count > other.count
    }
  }

  /// The name of a snapshot, without its replica.
  struct SnapshotStem: Hashable {
    let number: UInt64
    let digest: [UInt8]
    let partCount: Int
  }

  private static let numberDigitCount = 10
  private static let partDigitCount = 5
  /// The greatest number of parts that a name can have.
  static let mostParts = 99_999
  /// Numbers above it would not allow to count on.
  static let greatestNumber = UInt64(Int64.max)

  private static let segmentEnding: StaticString = ".seg"
  private static let cardStart: StaticString = "card-"
  private static let cardEnding: StaticString = ".card"
  private static let partEnding: StaticString = ".snap"
  private static let partSeparator: StaticString = "of"
  private static let temporaryStart: StaticString = ".tmp-"
  private static let placeholderEnding: StaticString = ".icloud"

  /// Reads a name; `nil` for names of others.
  ///
  /// - Parameter text: The name, without its directory.
  init?(_ text: String) {
    var reader = FolderNameReader(text)
    guard let name = Self.read(&reader), reader.isAtEnd else { return nil }
    self = name
  }

  /// The name as it is written.
  var text: String {
    switch self {
    case .segments(let range):
      "\(Self.padded(range.first))-\(Self.padded(range.last))-\(HexDigits.text(of: range.digest))\(Self.segmentEnding)"
    case .card(let number):
      "\(Self.cardStart)\(Self.padded(number))\(Self.cardEnding)"
    case .part(let part, let stem):
      "\(Self.padded(stem.number))-\(HexDigits.text(of: stem.digest))-\(Self.padded(part, Self.partDigitCount))"
        + "\(Self.partSeparator)\(Self.padded(stem.partCount, Self.partDigitCount))\(Self.partEnding)"
    case .temporary(let random):
      "\(Self.temporaryStart)\(Self.padded(random))"
    case .placeholder(let name):
      ".\(name.text)\(Self.placeholderEnding)"
    }
  }

  private static func padded(_ number: some BinaryInteger, _ digitCount: Int = numberDigitCount) -> String {
    let digits = "\(number)"
    return String(repeating: "0", count: max(0, digitCount - digits.count)) + digits
  }
}

extension FolderName {
  private static func read(_ reader: inout FolderNameReader) -> FolderName? {
    if reader.take(cardStart) { return number(&reader, cardEnding).map { .card($0) } }
    if reader.take(temporaryStart) { return reader.number(numberDigitCount).map { .temporary($0) } }
    if reader.take(".") {
      // Other devices never have a temporary file or a placeholder.
      guard !reader.isAt("."), let name = read(&reader), reader.take(placeholderEnding) else { return nil }
      return .placeholder(name)
    }
    guard let first = number(&reader, "-") else { return nil }
    // Both begin with digits: that of a part is followed by one more sign than the digest has digits.
    if let stem = stem(&reader, first) { return stem }
    guard let last = number(&reader, "-"), first <= last, let digest = reader.digest(), reader.take(segmentEnding)
    else { return nil }
    return .segments(SegmentRange(first: first, last: last, digest: digest))
  }

  /// The rest of the name of a part, whose first number was read; `nil`, and nothing read, for another one.
  private static func stem(_ reader: inout FolderNameReader, _ number: UInt64) -> FolderName? {
    var ahead = reader
    guard let digest = ahead.digest(), ahead.take("-"), let part = ahead.number(partDigitCount),
      ahead.take(partSeparator), let count = ahead.number(partDigitCount), ahead.take(partEnding),
      let part = Int(exactly: part), let count = Int(exactly: count)
    else { return nil }
    let snapshot = SnapshotStem(number: number, digest: digest, partCount: count)
    guard snapshot.hasPart(part) else { return nil }
    reader = ahead
    return .part(part, of: snapshot)
  }

  private static func number(_ reader: inout FolderNameReader, _ ending: StaticString) -> UInt64? {
    guard let number = reader.number(numberDigitCount), reader.take(ending) else { return nil }
    return (1...greatestNumber).contains(number) ? number : nil
  }
}

extension FolderName.SnapshotStem {
  /// Takes the name of a snapshot; `nil` if a file could not have it.
  init?(_ name: SnapshotName) {
    guard (1...FolderName.greatestNumber).contains(name.number), (1...FolderName.mostParts).contains(name.partCount),
      name.digest.count == SegmentHead.digestByteCount
    else { return nil }
    self.init(number: name.number, digest: name.digest, partCount: name.partCount)
  }

  /// Whether the snapshot has a part of a number.
  func hasPart(_ part: Int) -> Bool {
    (1...FolderName.mostParts).contains(partCount) && (0..<partCount).contains(part)
  }
}
