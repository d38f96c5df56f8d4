import Foundation
import LMDB
import TallyEngine

/// The bytes of an index's key, or of a position in a view, which are ordered bytewise.
///
/// They are stored inline: a walk over days needs several bounds for each day, and an array would be an allocation.
struct KeyBytes: KeyCodable, Hashable, Comparable {
  /// Room for the longest key of an index with the longest prefix of a position, in bytes.
  static let capacity = 64
  private var storage = InlineArray<64, UInt8>(repeating: 0)
  private(set) var encodedByteCount = 0

  init() {}

  /// The encoding of a key or of a value.
  init(_ value: some BinaryCodable) {
    append(value)
  }

  /// A key above every key of an index.
  static let highest = KeyBytes([UInt8](repeating: .max, count: capacity))

  init(decoding bytes: RawSpan) throws(LMDBError) {
    guard bytes.byteCount <= Self.capacity else {
      throw .undecodable("an index key has \(bytes.byteCount) bytes, more than \(Self.capacity)")
    }
    append { $0.append(copying: bytes) }
  }

  /// The bytes, in place.
  var bytes: RawSpan {
    @_lifetime(borrow self)
    // Unsafe by signature only: bytes have no padding.
    get { unsafe storage.span.bytes.extracting(first: encodedByteCount) }
  }

  /// Appends the encoding of a value; there must be room for it.
  mutating func append(_ value: some BinaryCodable) {
    assert(encodedByteCount + value.encodedByteCount <= Self.capacity, "a key is too long")
    append { value.encode(into: &$0) }
  }

  private mutating func append(_ encode: (inout OutputRawSpan) -> Void) {
    let start = encodedByteCount
    var span = storage.mutableSpan
    // The encoder writes into the rest of the array, and only the bytes that it wrote are counted.
    encodedByteCount = unsafe span.withUnsafeMutableBytes { buffer in
      var output = unsafe OutputRawSpan(buffer: buffer, initializedCount: start)
      encode(&output)
      return unsafe output.finalize(for: buffer)
    }
  }

  @_lifetime(output: copy output)
  func encode(into output: inout OutputRawSpan) {
    output.append(copying: bytes)
  }

  /// The bytes between two offsets.
  subscript(range: Range<Int>) -> KeyBytes {
    var part = KeyBytes()
    part.append { $0.append(copying: bytes.extracting(range)) }
    return part
  }

  /// The bytes with every bit flipped, which reverses their order because no key is a prefix of another.
  var flipped: KeyBytes {
    var flipped = self
    for offset in storage.indices { flipped.storage[offset] = ~storage[offset] }
    return flipped
  }

  static func == (left: KeyBytes, right: KeyBytes) -> Bool {
    left.encodedByteCount == right.encodedByteCount && !left.bytes.precedes(right.bytes)
      && !right.bytes.precedes(left.bytes)
  }

  static func < (left: KeyBytes, right: KeyBytes) -> Bool { left.bytes.precedes(right.bytes) }

  func hash(into hasher: inout Hasher) {
    // The buffer is only read within the closure.
    unsafe bytes.withUnsafeBytes { unsafe hasher.combine(bytes: $0) }
  }
}

/// A range of an index's keys, as bytes: from a lower bound up to but not including an upper one.
struct KeyRange: Sendable {
  let lower: KeyBytes
  let upper: KeyBytes

  /// The range from `lower` up to `upper`, or to the end of the index if `upper` is `nil`.
  init<Key: IndexKey>(_ lower: Key, _ upper: Key?) {
    self.lower = KeyBytes(lower)
    self.upper = upper.map { KeyBytes($0) } ?? .highest
  }

  func contains(_ key: KeyBytes) -> Bool {
    key >= lower && key < upper
  }
}

/// A key of a table in which each entry belongs to a task or list; it ends in the identifier.
///
/// All keys of a type have the same width, so none is a prefix of another. They are ordered by their bytes, and so by
/// their fields, one after the other.
protocol IndexKey: KeyCodable, Hashable {
  /// The width of every key of this type, in bytes.
  static var width: Int { get }
  /// The task or list that the entry belongs to.
  var id: UUID { get }
  /// Decodes the fields of a key whose width has been checked.
  init(fields bytes: RawSpan)
}

extension IndexKey {
  var encodedByteCount: Int { Self.width }

  init(decoding bytes: RawSpan) throws(LMDBError) {
    guard bytes.byteCount == Self.width else {
      throw .undecodable("an index key has \(bytes.byteCount) bytes instead of \(Self.width)")
    }
    self.init(fields: bytes)
  }
}

/// An index: keys in ascending order, without values.
typealias Index<Key: IndexKey> = Database<Key, NoValue>

/// The key of a record: the 16 bytes of its identifier.
struct IDKey: IndexKey {
  static let width = 16
  let id: UUID

  init(_ id: UUID) {
    self.id = id
  }

  init(fields bytes: RawSpan) {
    id = bytes.load(idAt: 0)
  }

  @_lifetime(output: copy output)
  func encode(into output: inout OutputRawSpan) {
    output.append(id)
  }
}

/// The key of `search`: a segment, the kind of row, and what the row describes.
struct SearchKey: KeyCodable, Hashable {
  /// The kind of row; the raw values are stored: do not change them.
  enum Kind: UInt8 {
    /// How far the index has been built (`SearchState`); in segment 0.
    case state = 1
    /// A segment (`SearchSegment`), by its number; in segment 0, so that one scan reads them all.
    case segment = 2
    /// The postings of a term.
    case term = 3
    /// A group of the segment's tasks, by the number of the first.
    case members = 4
  }

  let segment: UInt32
  let kindRawValue: UInt8
  let rest: [UInt8]

  init(_ kind: Kind, of segment: UInt32 = 0, _ rest: [UInt8] = []) {
    self.segment = segment
    kindRawValue = kind.rawValue
    self.rest = rest
  }

  init(_ kind: Kind, of segment: UInt32 = 0, number: UInt32) {
    self.init(kind, of: segment, number.bigEndianBytes)
  }

  var kind: Kind? { Kind(rawValue: kindRawValue) }

  var encodedByteCount: Int { 5 + rest.count }

  @_lifetime(output: copy output)
  func encode(into output: inout OutputRawSpan) {
    output.append(bigEndian: segment)
    output.append(kindRawValue)
    rest.encode(into: &output)
  }

  init(decoding bytes: RawSpan) throws(LMDBError) {
    guard bytes.byteCount >= 5 else { throw .undecodable("a key of the search index is too short") }
    segment = bytes.load(bigEndianAt: 0)
    kindRawValue = bytes.load(bigEndianAt: 4)
    rest = bytes.bytes(from: 5)
  }

  /// Whether an encoded key begins with this one.
  func isPrefix(of bytes: RawSpan) -> Bool {
    guard bytes.byteCount >= encodedByteCount, bytes.load(bigEndianAt: 0) == segment,
      bytes.load(bigEndianAt: 4) == kindRawValue
    else { return false }
    // Unsafe by signature only: bytes have no padding. Both spans have the same length.
    let own = unsafe rest.span.bytes
    let other = bytes.extracting(5..<encodedByteCount)
    return !own.precedes(other) && !other.precedes(own)
  }

  /// The first bytes of every key of a segment.
  static func prefix(of segment: UInt32) -> [UInt8] {
    segment.bigEndianBytes
  }
}

/// The kinds of objects whose changes are tracked; the raw values are stored: do not change them.
enum ObjectKind: UInt8 {
  case task = 1
  case list = 2
}

/// The key of `byChange`: the last commit that changed an object, the object's kind, and its id; 25 bytes.
///
/// Each object has one row. A deleted object keeps its row, at the commit that deleted it: see `Tombstone`.
struct ChangeKey: IndexKey {
  /// The raw values are stored: do not change them.
  enum Kind: UInt8 {
    case task = 1
    case list = 2
    case deletedTask = 3
    case deletedList = 4

    /// The kind of row of an object that exists.
    init(_ kind: ObjectKind) {
      self = kind == .task ? .task : .list
    }

    /// The kind of row that a deletion leaves.
    init(deleted kind: ObjectKind) {
      self = kind == .task ? .deletedTask : .deletedList
    }
  }

  static let width = 9 + IDKey.width
  let sequence: UInt64
  let kindRawValue: UInt8
  let id: UUID

  /// The kind of row; `nil` if only a newer version knows it.
  var kind: Kind? { Kind(rawValue: kindRawValue) }

  init(sequence: UInt64, _ kind: Kind, _ id: UUID) {
    self.sequence = sequence
    kindRawValue = kind.rawValue
    self.id = id
  }

  init(fields bytes: RawSpan) {
    sequence = bytes.load(bigEndianAt: 0)
    kindRawValue = bytes.load(bigEndianAt: 8)
    id = bytes.load(idAt: 9)
  }

  @_lifetime(output: copy output)
  func encode(into output: inout OutputRawSpan) {
    output.append(bigEndian: sequence)
    output.append(kindRawValue)
    output.append(id)
  }

  /// A key before every row of the commits after a sequence.
  static func start(after sequence: UInt64) -> ChangeKey {
    ChangeKey(sequence: sequence + 1, .task, .lowest)
  }
}

/// The key of `tombstones`: the kind of a deleted object and its id; 17 bytes.
struct TombstoneKey: IndexKey {
  static let width = 1 + IDKey.width
  let kindRawValue: UInt8
  let id: UUID

  init(_ kind: ObjectKind, _ id: UUID) {
    kindRawValue = kind.rawValue
    self.id = id
  }

  /// The key of a series in the table of pending changes; a series has no tombstone.
  init(ofSeries id: UUID) {
    (kindRawValue, self.id) = (Self.seriesKind, id)
  }

  /// Whether it is the key of a series.
  var isOfSeries: Bool { kindRawValue == Self.seriesKind }

  /// Stored: do not change it.
  private static let seriesKind: UInt8 = 3

  init(fields bytes: RawSpan) {
    kindRawValue = bytes.load(bigEndianAt: 0)
    id = bytes.load(idAt: 1)
  }

  @_lifetime(output: copy output)
  func encode(into output: inout OutputRawSpan) {
    output.append(kindRawValue)
    output.append(id)
  }
}

/// A table of raw bytes, for walks that are the same for all indexes.
typealias RawIndex = Database<KeyBytes, [UInt8]>

extension Database {
  /// The same index with raw bytes as keys and values.
  var rawIndex: RawIndex { raw(keyedBy: KeyBytes.self) }
}

/// A cursor over the bytes of an index.
typealias RawCursor = Cursor<KeyBytes, [UInt8]>
