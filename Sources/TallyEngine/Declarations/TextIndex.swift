import LMDB
import TallySystem

/// An index of the words in some texts of a record, for searches.
///
/// ```swift
/// extension Workout {
///   static let words = text("words", by: { Descending($0.start) }) { [$0.sport, $0.notes] }
/// }
/// let found = try store.read { try $0.search(Workout.words, "run ber", limit: 20) }
/// ```
///
/// A text is divided into words, in which case, accents and width do not matter: `creme` finds Crème, `lodz` Łódź. In
/// scripts without spaces, such as Chinese, Japanese and Thai, any part of a text can be found. A collection lists its
/// text indexes among its members.
///
/// Each different word of a record is a row of the index, so that a record costs by its words: a row takes the word, the
/// key that orders the results, and the id. Words are cut at 60 bytes; what is beyond is compared with the record.
public struct TextIndex<Record: StoredRecord>: Sendable {
  /// The name, which is stored.
  public var name: String { declared.name }
  let declared: DeclaredIndex<Record>
  /// The texts of a record.
  let texts: @Sendable (Record) -> [String]

  /// The version of the rules by which texts become words; another one builds every text index again.
  private static var rulesVersion: Int { 1 }

  /// Declares an index.
  ///
  /// - Parameters:
  ///   - name: the name.
  ///   - version: the version of the closures.
  ///   - texts: the texts of a record.
  ///   - appendOrder: appends what orders the results to the bytes of a key.
  ///   - readOrder: moves an offset beyond that.
  fileprivate init(
    _ name: String, version: Int, _ texts: @escaping @Sendable (Record) -> [String],
    _ appendOrder: @escaping @Sendable (Record, inout [UInt8]) -> Void,
    _ readOrder: @escaping @Sendable (RawSpan, inout Int) throws(TallyError) -> Void
  ) {
    self.texts = texts
    // It remembers the scalars that it has seen. Only one write at a time asks it.
    let folder = Monitor(TextFolder())
    let encode: @Sendable ([Record], inout EncodedKeys) -> Void = { records, output in
      for record in records {
        let words = folder.withLock { $0.words(of: texts(record)) }
        var rest: [UInt8] = []
        appendOrder(record, &rest)
        record.id.appendKey(to: &rest)
        for word in words {
          output.bytes += word
          // A word has no zero bytes.
          output.bytes += [0, 0]
          output.bytes += rest
          output.ends.append(output.bytes.count)
        }
      }
    }
    declared = DeclaredIndex(
      name: name, version: version < 1 ? version : version << 8 | Self.rulesVersion, isUnique: false, encode: encode
    ) { bytes, offset throws(TallyError) in
      _ = try String.readKey(bytes, at: &offset)
      try readOrder(bytes, &offset)
    }
  }
}

extension TextFolder {
  /// The different words of some texts, as an index has them, in ascending order.
  fileprivate mutating func words(of texts: [String]) -> [[UInt8]] {
    var (words, folded): (Set<[UInt8]>, [UInt8]) = ([], [])
    for text in texts where !text.isEmpty {
      folded.removeAll(keepingCapacity: true)
      fold(text, into: &folded)
      IndexTerm.forEach(in: folded) { words.insert(Array(folded[$0])) }
    }
    return words.sorted { $0.lexicographicallyPrecedes($1) }
  }

  /// Appends the folding of a text, in UTF-8.
  mutating func fold(_ text: String, into folded: inout [UInt8]) {
    var text = text
    // Read within the closure only.
    text.withUTF8 { unsafe fold($0.span.bytes, into: &folded) }
  }
}

extension StoredRecord {
  /// Declares an index of the words in some texts, whose results are in the order of a key.
  ///
  /// - Parameters:
  ///   - name: the name, which is stored: 1 to 64 bytes, without control characters.
  ///   - version: raise it whenever a closure gives a different result than before.
  ///   - order: the key by which results are ordered, such as `Descending($0.start)` for the newest first.
  ///   - texts: the texts of a record.
  /// - Returns: the index.
  public static func text<Order: KeyComponent>(
    _ name: String, version: Int = 1, by order: @escaping @Sendable (Self) -> Order,
    _ texts: @escaping @Sendable (Self) -> [String]
  ) -> TextIndex<Self> {
    TextIndex(name, version: version, texts, { order($0).appendKey(to: &$1) }) { bytes, offset throws(TallyError) in
      _ = try Order.readKey(bytes, at: &offset)
    }
  }

  /// Declares an index of the words in some texts, whose results are in the order of the ids.
  public static func text(
    _ name: String, version: Int = 1, _ texts: @escaping @Sendable (Self) -> [String]
  ) -> TextIndex<Self> {
    TextIndex(name, version: version, texts, { _, _ in }) { _, _ throws(TallyError) in }
  }
}
