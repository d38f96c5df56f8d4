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

  private static let segmentEnding = ".seg"
  private static let cardStart = "card-"
  private static let cardEnding = ".card"
  private static let partEnding = ".snap"
  private static let partSeparator = "of"
  private static let temporaryStart = ".tmp-"
  private static let placeholderEnding = ".icloud"

  /// Reads a name; `nil` for names of others.
  ///
  /// - Parameter text: The name, without its directory.
  init?(_ text: String) {
    // The parsers take more than they should, such as a number without its zeros; writing the name again finds that.
    guard let name = Self.parse(text[...]), name.text == text else { return nil }
    self = name
  }

  /// The name as it is written.
  var text: String {
    switch self {
    case .segments(let range):
      "\(Self.padded(range.first))-\(Self.padded(range.last))-\(HexDigits.text(of: range.digest))\(Self.segmentEnding)"
    case .card(let number):
      Self.cardStart + Self.padded(number) + Self.cardEnding
    case .part(let part, let stem):
      "\(Self.padded(stem.number))-\(HexDigits.text(of: stem.digest))-\(Self.padded(part, Self.partDigitCount))"
        + Self.partSeparator + Self.padded(stem.partCount, Self.partDigitCount) + Self.partEnding
    case .temporary(let random):
      Self.temporaryStart + Self.padded(random)
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
  private static func parse(_ text: Substring) -> FolderName? {
    if let stem = text.between("", segmentEnding) { return segments(stem) }
    if let digits = text.between(cardStart, cardEnding) { return number(digits).map { .card($0) } }
    if let stem = text.between("", partEnding) { return part(stem) }
    if let stem = text.between(".", placeholderEnding) {
      guard let name = FolderName(String(stem)), !name.isOfThisDevice else { return nil }
      return .placeholder(name)
    }
    return text.between(temporaryStart, "").flatMap { UInt64($0) }.map { .temporary($0) }
  }

  /// Whether other devices never have a file of the name.
  private var isOfThisDevice: Bool {
    switch self {
    case .temporary, .placeholder: true
    case .segments, .card, .part: false
    }
  }

  private static func segments(_ stem: Substring) -> FolderName? {
    let words = stem.split(separator: "-", omittingEmptySubsequences: false)
    guard words.count == 3, let first = number(words[0]), let last = number(words[1]), let digest = digest(words[2]),
      first <= last
    else { return nil }
    return .segments(SegmentRange(first: first, last: last, digest: digest))
  }

  private static func part(_ stem: Substring) -> FolderName? {
    let words = stem.split(separator: "-", omittingEmptySubsequences: false)
    guard words.count == 3, let number = number(words[0]), let digest = digest(words[1]),
      let part = Int(words[2].prefix(partDigitCount)), let count = Int(words[2].suffix(partDigitCount))
    else { return nil }
    let snapshot = SnapshotStem(number: number, digest: digest, partCount: count)
    return snapshot.hasPart(part) ? .part(part, of: snapshot) : nil
  }

  private static func digest(_ text: Substring) -> [UInt8]? {
    HexDigits.bytes(of: text).flatMap { $0.count == SegmentHead.digestByteCount ? $0 : nil }
  }

  private static func number(_ text: Substring) -> UInt64? {
    UInt64(text).flatMap { (1...greatestNumber).contains($0) ? $0 : nil }
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

extension Substring {
  /// The text between a start and an ending; `nil` if it has not both.
  fileprivate func between(_ start: String, _ ending: String) -> Substring? {
    guard hasPrefix(start), hasSuffix(ending), utf8.count >= start.utf8.count + ending.utf8.count else { return nil }
    return dropFirst(start.count).dropLast(ending.count)
  }
}
