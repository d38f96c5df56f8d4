import LMDB
import TallyEngine

/// The stored form of tags: for each tag its length in two bytes, then its text.
extension TagSet {

  @_lifetime(output: copy output)
  func store(into output: inout OutputRawSpan) {
    for tag in self {
      output.append(bigEndian: UInt16(tag.utf8.count))
      tag.encode(into: &output)
    }
  }

  init(stored bytes: RawSpan) throws(LMDBError) {
    var reader = StoredParts(bytes)
    var tags: [String] = []
    while !reader.isAtEnd { tags.append(try reader.text(byteCount: Int(try reader.number(as: UInt16.self)))) }
    self.init(stored: tags)
  }
}

/// Reads the parts of a value in order; throws if a part extends beyond the end.
struct StoredParts: ~Escapable {
  private let bytes: RawSpan
  private var offset = 0

  @_lifetime(copy bytes)
  init(_ bytes: RawSpan) {
    self.bytes = bytes
  }

  var isAtEnd: Bool { offset == bytes.byteCount }

  @_lifetime(self: copy self)
  mutating func number<Value: FixedWidthInteger & UnsignedInteger & BitwiseCopyable>(
    as type: Value.Type
  ) throws(LMDBError) -> Value {
    try part(byteCount: MemoryLayout<Value>.size).load(bigEndianAt: 0)
  }

  @_lifetime(self: copy self)
  mutating func text(byteCount: Int) throws(LMDBError) -> String {
    guard let text = try part(byteCount: byteCount).wellFormedText else {
      throw .undecodable("a text of a task record is not UTF-8")
    }
    return text
  }

  /// Returns the next bytes, in place.
  @_lifetime(self: copy self)
  @_lifetime(copy self)
  mutating func part(byteCount: Int) throws(LMDBError) -> RawSpan {
    guard byteCount <= bytes.byteCount - offset else { throw .undecodable("a value of a task record is cut off") }
    defer { offset += byteCount }
    return bytes.extracting(offset..<(offset + byteCount))
  }
}
