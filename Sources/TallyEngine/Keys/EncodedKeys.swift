public import LMDB

/// Encoded bytes as a key or a value: a slice of a buffer that several share.
@usableFromInline
package struct EncodedBytes: KeyCodable, Hashable {
  package let buffer: [UInt8]
  package let range: Range<Int>

  @usableFromInline
  package init(_ buffer: [UInt8], _ range: Range<Int>) {
    (self.buffer, self.range) = (buffer, range)
  }

  package init(_ bytes: [UInt8]) {
    self.init(bytes, 0..<bytes.count)
  }

  @usableFromInline package var encodedByteCount: Int { range.count }

  @usableFromInline
  @_lifetime(output: copy output)
  package func encode(into output: inout OutputRawSpan) {
    // Unsafe by signature only: bytes have no padding.
    unsafe output.append(copying: buffer.span.bytes.extracting(range))
  }

  @usableFromInline
  package init(decoding bytes: RawSpan) throws(LMDBError) {
    self.init(bytes.bytes(from: 0))
  }
}

/// The keys that some records have in one index, encoded one after the other, each with the record's id at its end.
public struct EncodedKeys: Sendable {
  /// The bytes of all keys.
  @usableFromInline package var bytes: [UInt8] = []
  /// Where each key ends with its id.
  @usableFromInline package var ends: [Int] = []

  @usableFromInline
  package init() {}

  /// The number of keys.
  package var count: Int { ends.count }

  /// The bytes of a key.
  package func range(_ index: Int) -> Range<Int> { (index == 0 ? 0 : ends[index - 1])..<ends[index] }

  package subscript(index: Int) -> EncodedBytes { EncodedBytes(bytes, range(index)) }

  /// The keys, each as an array, in ascending order and without duplicates.
  package var sorted: [[UInt8]] {
    guard count > 1 else { return count == 0 ? [] : [bytes] }
    let keys = (0..<count).map { Array(bytes[range($0)]) }.sorted { $0.lexicographicallyPrecedes($1) }
    return keys.reduce(into: []) { if $0.last != $1 { $0.append($1) } }
  }
}
