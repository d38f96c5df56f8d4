/// Two keys as one, in the order of the first and, where those are equal, of the second.
///
/// ```swift
/// let visits = try Database<Pair<String, UInt64>, String>(opening: "visits", creating: true, in: &transaction)
/// try visits.put("Rome", forKey: Pair("ada", 7), in: &transaction)
/// try visits.forEach(withPrefix: Leading("ada"), in: transaction) { key, value in
///   show(try Pair<String, UInt64>(decoding: key).second, try String(decoding: value))
///   return true
/// }
/// ```
///
/// A pair as the second key of another gives three parts, and so on. The bytes are those of ``Leading`` with the first
/// key, followed by those of the second; together at most 511.
public struct Pair<First: KeyCodable, Second: KeyCodable>: KeyCodable {
  /// The key that decides first.
  public var first: First
  /// The key that decides where the first ones are equal.
  public var second: Second

  /// Makes one key of two.
  @inlinable
  public init(_ first: First, _ second: Second) {
    self.first = first
    self.second = second
  }

  /// The bytes of both.
  @inlinable public var encodedByteCount: Int { Leading(first).encodedByteCount + second.encodedByteCount }

  /// The sum, if both have a fixed width.
  @inlinable public static var fixedByteCount: Int? {
    guard let first = First.fixedByteCount, let second = Second.fixedByteCount else { return nil }
    return first + second
  }

  /// Writes both, one after the other.
  @inlinable
  public func encode(into output: inout OutputRawSpan) {
    Leading(first).encode(into: &output)
    second.encode(into: &output)
  }

  /// Reads both.
  ///
  /// Throws `undecodable` if the first has no end, and what decoding either throws.
  @inlinable
  public init(decoding bytes: RawSpan) throws(LMDBError) {
    let end = try Leading<First>.end(in: bytes)
    first = try Leading<First>(decoding: bytes.extracting(first: end)).value
    second = try Second(decoding: bytes.extracting(droppingFirst: end))
  }
}

extension Pair: Equatable where First: Equatable, Second: Equatable {}
extension Pair: Hashable where First: Hashable, Second: Hashable {}

extension Pair: Comparable where First: Comparable, Second: Comparable {
  /// Whether the first key is less or, where those are equal, the second.
  @inlinable
  public static func < (left: Self, right: Self) -> Bool {
    left.first == right.first ? left.second < right.second : left.first < right.first
  }
}

/// The bytes of a key that another one follows, as the first of a ``Pair``: the prefix of all pairs that begin with it.
///
/// ```swift
/// try visits.removeAll(withPrefix: Leading("ada"), in: &transaction)
/// ```
///
/// With ``KeyCodable/fixedByteCount`` they are the key's own. Otherwise each zero byte of the key is followed by 255,
/// and two zero bytes mark the end, so that "a" comes before "ab" whatever follows. `Pair(a, Leading(b))` is the prefix
/// of all keys of three parts that begin with these two.
public struct Leading<Value: KeyCodable>: KeyCodable {
  /// The key in front.
  public var value: Value

  /// Puts a key in front of others.
  @inlinable
  public init(_ value: Value) {
    self.value = value
  }

  /// The length of the key and of what marks its end.
  @inlinable public var encodedByteCount: Int {
    if Value.fixedByteCount != nil { return value.encodedByteCount }
    let bytes = value.encodedBytes
    return bytes.count + bytes.count { $0 == 0 } + 2
  }

  /// The byte count of the key.
  @inlinable public static var fixedByteCount: Int? { Value.fixedByteCount }

  /// Writes the key and what marks its end.
  @inlinable
  public func encode(into output: inout OutputRawSpan) {
    if Value.fixedByteCount != nil { return value.encode(into: &output) }
    for byte in value.encodedBytes {
      output.append(byte)
      if byte == 0 { output.append(UInt8.max) }
    }
    output.append(UInt8(0))
    output.append(UInt8(0))
  }

  /// Reads the key.
  ///
  /// Throws `undecodable` if its end is not that of the bytes, and what decoding the key throws.
  @inlinable
  public init(decoding bytes: RawSpan) throws(LMDBError) {
    guard try Self.end(in: bytes) == bytes.byteCount else { throw Self.undecodable(bytes) }
    if Value.fixedByteCount != nil {
      value = try Value(decoding: bytes)
      return
    }
    var unescaped: [UInt8] = []
    var index = 0
    while index < bytes.byteCount - 2 {
      let byte = Self.byte(at: index, of: bytes)
      unescaped.append(byte)
      index += byte == 0 ? 2 : 1
    }
    // Unsafe by signature only: bytes are bytes.
    value = try Value(decoding: unsafe unescaped.span.bytes)
  }

  /// Where the key ends and the next one begins.
  @inlinable
  static func end(in bytes: RawSpan) throws(LMDBError) -> Int {
    if let end = Value.fixedByteCount {
      guard end <= bytes.byteCount else { throw undecodable(bytes) }
      return end
    }
    var index = 0
    while index + 1 < bytes.byteCount {
      if byte(at: index, of: bytes) != 0 {
        index += 1
        continue
      }
      switch byte(at: index + 1, of: bytes) {
      case 0: return index + 2
      case .max: index += 2
      default: throw undecodable(bytes)
      }
    }
    throw undecodable(bytes)
  }

  @inlinable
  static func byte(at index: Int, of bytes: RawSpan) -> UInt8 {
    // Unsafe by signature only: the load checks its bounds, and every bit pattern is a byte.
    unsafe bytes.unsafeLoad(fromByteOffset: index, as: UInt8.self)
  }

  @usableFromInline
  static func undecodable(_ bytes: RawSpan) -> LMDBError {
    LMDBError.undecodable("\(Self.self)", byteCount: bytes.byteCount)
  }
}
