public import LMDB

/// The parts of a key, one after the other: none to three.
///
/// The types that conform are those that declarations of indexes and measures make.
public protocol CompositeKey: Hashable, Sendable {
  /// Appends the bytes of each part.
  func appendKey(to key: inout [UInt8])

  /// Reads the parts at an offset, and moves the offset to their end.
  ///
  /// - Throws: `damagedStore` if they are not the bytes of such a key.
  static func readKey(_ bytes: RawSpan, at offset: inout Int) throws(TallyError) -> Self
}

/// No parts: the key of a measure without groups.
public struct NoKey: CompositeKey {
  /// Creates the key.
  @inlinable
  public init() {}

  /// Appends nothing.
  @inlinable
  public func appendKey(to key: inout [UInt8]) {}

  /// Reads nothing.
  public static func readKey(_ bytes: RawSpan, at offset: inout Int) throws(TallyError) -> NoKey { NoKey() }
}

/// A key of one part.
public struct Key1<A: KeyComponent>: CompositeKey {
  /// The part.
  public let a: A

  /// Creates a key.
  @inlinable
  public init(_ a: A) {
    self.a = a
  }

  /// Appends the part's bytes.
  @inlinable
  public func appendKey(to key: inout [UInt8]) { a.appendKey(to: &key) }

  /// Reads the part.
  public static func readKey(_ bytes: RawSpan, at offset: inout Int) throws(TallyError) -> Key1 {
    Key1(try A.readKey(bytes, at: &offset))
  }
}

/// A key of two parts.
public struct Key2<A: KeyComponent, B: KeyComponent>: CompositeKey {
  /// The first part.
  public let a: A
  /// The second part.
  public let b: B

  /// Creates a key.
  @inlinable
  public init(_ a: A, _ b: B) {
    (self.a, self.b) = (a, b)
  }

  /// Appends the bytes of both parts.
  @inlinable
  public func appendKey(to key: inout [UInt8]) {
    a.appendKey(to: &key)
    b.appendKey(to: &key)
  }

  /// Reads both parts.
  public static func readKey(_ bytes: RawSpan, at offset: inout Int) throws(TallyError) -> Key2 {
    Key2(try A.readKey(bytes, at: &offset), try B.readKey(bytes, at: &offset))
  }
}

/// A key of three parts.
public struct Key3<A: KeyComponent, B: KeyComponent, C: KeyComponent>: CompositeKey {
  /// The first part.
  public let a: A
  /// The second part.
  public let b: B
  /// The third part.
  public let c: C

  /// Creates a key.
  @inlinable
  public init(_ a: A, _ b: B, _ c: C) {
    (self.a, self.b, self.c) = (a, b, c)
  }

  /// Appends the bytes of all parts.
  @inlinable
  public func appendKey(to key: inout [UInt8]) {
    a.appendKey(to: &key)
    b.appendKey(to: &key)
    c.appendKey(to: &key)
  }

  /// Reads all parts.
  public static func readKey(_ bytes: RawSpan, at offset: inout Int) throws(TallyError) -> Key3 {
    Key3(try A.readKey(bytes, at: &offset), try B.readKey(bytes, at: &offset), try C.readKey(bytes, at: &offset))
  }
}

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
