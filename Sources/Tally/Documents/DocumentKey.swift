/// The keys that an object of a document may have.
protocol DocumentKey: CaseIterable, Sendable {
  /// The key as it is written.
  var text: String { get }
  /// The keys with their bytes; stored, because building the table costs more than reading an object.
  static var table: DocumentKeyTable<Self> { get }
}

extension DocumentKey where Self: RawRepresentable<String> {
  var text: String { rawValue }
}

/// Finds keys by their bytes.
struct DocumentKeyTable<Key: DocumentKey>: Sendable {
  private let keys = Array(Key.allCases)
  private let names = Key.allCases.map { Array($0.text.utf8) }
  private let quotedNames = Key.allCases.map { Array("\"\($0.text)\"".utf8) }

  /// The index of the key with these bytes, tried first at `hint`: most objects have their keys in one order.
  func index(of bytes: [UInt8], hint: Int) -> Int? {
    if hint < names.count, names[hint] == bytes { return hint }
    return names.firstIndex(of: bytes)
  }

  subscript(index: Int) -> Key { keys[index] }

  /// Skips the key with an index if it comes next.
  func skipKey(at index: Int, in reader: inout JSONReader) throws -> Bool {
    try index < quotedNames.count && reader.skipKey(inQuotes: quotedNames[index])
  }
}

/// Walks the keys of one object.
struct DocumentEntries<Key: DocumentKey> {
  let isLenient: Bool
  /// A bit for each key that was read, by its index.
  private var seen: UInt32 = 0
  private var hint = 0
  /// The token of the object that the caller has read already.
  private var first: JSONReader.Token?

  init(_ keys: Key.Type, after first: JSONReader.Token? = nil, isLenient: Bool) {
    assert(Key.allCases.count <= UInt32.bitWidth, "more keys than bits")
    self.isLenient = isLenient
    self.first = first
  }

  /// Reads the next key, whose value must be read before the next call; `nil` at the end of the object.
  ///
  /// - Throws: `malformedDocument` for a known key that appears twice, and `unknownKey`, unless lenient: then unknown
  ///   keys are skipped with their values.
  mutating func next(from reader: inout JSONReader) throws -> Key? {
    if first == nil, try Key.table.skipKey(at: hint, in: &reader) { return try accept(hint, reader) }
    while try first.take() ?? reader.next() == .key {
      guard let index = Key.table.index(of: reader.text, hint: hint) else {
        guard isLenient else { throw reader.unknownKey }
        try reader.skipValue(beginningWith: try reader.next())
        continue
      }
      return try accept(index, reader)
    }
    return nil
  }

  private mutating func accept(_ index: Int, _ reader: borrowing JSONReader) throws -> Key {
    let key = Key.table[index]
    guard seen & 1 << UInt32(index) == 0 else {
      throw reader.fault("The key \(key.text) appears twice in its object")
    }
    seen |= 1 << UInt32(index)
    hint = index + 1
    return key
  }
}

extension JSONReader {
  /// The error of the key just read, which names it only if it looks like a key.
  fileprivate var unknownKey: TallyError {
    let isNameable =
      text.count <= 32
      && text.allSatisfy { byte in
        let character = Character(Unicode.Scalar(byte))
        return character.isASCII && (character.isLetter || character.isNumber || "_-".contains(character))
      }
    let name = isNameable ? "The key \(String(decoding: text, as: UTF8.self))" : "The key"
    return TallyError(
      .unknownKey, "\(name) is not one of the format's",
      remedy: "Remove or rename it, or import leniently to skip unknown keys", at: tokenPosition)
  }
}
