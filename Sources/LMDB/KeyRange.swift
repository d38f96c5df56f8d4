#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

/// A range of keys, as Swift spells it: `"a"..<"c"`, `"a"..."b"`, `"a"...`, `..<"c"`, `..."b"`.
///
/// Only the standard library's ranges conform. Which keys lie in a range is decided by the order of their bytes.
public protocol KeyRange<Bound>: RangeExpression where Bound: KeyCodable {
  /// Where the range begins and ends.
  var keyBounds: KeyBounds<Bound> { get }
}

/// Where a range of keys begins and ends.
public struct KeyBounds<Key: KeyCodable>: Sendable {
  /// The first key of the range; `nil` if it has no beginning.
  @usableFromInline let lower: Key?
  /// The key at its end; `nil` if it has none.
  @usableFromInline let upper: Key?
  /// Whether the key at the end is part of the range.
  @usableFromInline let includesUpper: Bool

  @usableFromInline
  init(from lower: Key? = nil, upTo upper: Key? = nil, including includesUpper: Bool = false) {
    self.lower = lower
    self.upper = upper
    self.includesUpper = includesUpper
  }

  @inlinable
  func encoded() throws(LMDBError) -> EncodedBounds {
    let lower = try lower.map(encodedKey)
    guard let upper = try upper.map(encodedKey) else { return EncodedBounds(lower: lower, upper: nil) }
    return EncodedBounds(lower: lower, upper: includesUpper ? keyAfter(upper) : upper)
  }
}

extension Range: KeyRange where Bound: KeyCodable {
  /// Both ends, without the upper one.
  @inlinable public var keyBounds: KeyBounds<Bound> { KeyBounds(from: lowerBound, upTo: upperBound) }
}

extension ClosedRange: KeyRange where Bound: KeyCodable {
  /// Both ends.
  @inlinable public var keyBounds: KeyBounds<Bound> { KeyBounds(from: lowerBound, upTo: upperBound, including: true) }
}

extension PartialRangeFrom: KeyRange where Bound: KeyCodable {
  /// The lower end.
  @inlinable public var keyBounds: KeyBounds<Bound> { KeyBounds(from: lowerBound) }
}

extension PartialRangeUpTo: KeyRange where Bound: KeyCodable {
  /// The upper end, which is left out.
  @inlinable public var keyBounds: KeyBounds<Bound> { KeyBounds(upTo: upperBound) }
}

extension PartialRangeThrough: KeyRange where Bound: KeyCodable {
  /// The upper end.
  @inlinable public var keyBounds: KeyBounds<Bound> { KeyBounds(upTo: upperBound, including: true) }
}

/// Copies an encoded key, as a bound that outlives the call.
@inlinable
func encodedKey<Key: KeyCodable>(_ key: Key) throws(LMDBError) -> [UInt8] {
  // The buffer is copied within the closure.
  try unsafe withEncoded(key) { (bytes) throws(LMDBError) in unsafe Array(bytes) }
}

/// Copies an encoded prefix, which unlike a key may be empty.
@inlinable
func encodedPrefix<Prefix: BinaryCodable>(_ prefix: Prefix) throws(LMDBError) -> [UInt8] {
  let byteCount = prefix.encodedByteCount
  guard byteCount <= LMDBLimits.keySizeInBytes else { throw LMDBLimits.badKeySize(byteCount) }
  return prefix.encodedBytes
}

/// A range of encoded keys; the upper bound, which is left out, or either may be missing.
@usableFromInline
struct EncodedBounds: Sendable {
  @usableFromInline let lower: [UInt8]?
  @usableFromInline let upper: [UInt8]?

  @usableFromInline
  init(lower: [UInt8]?, upper: [UInt8]?) {
    self.lower = lower
    self.upper = upper
  }

  /// All keys with a prefix, which may be empty.
  @usableFromInline
  init(ofPrefix prefix: [UInt8]) {
    self.init(lower: prefix.isEmpty ? nil : prefix, upper: endOfPrefix(prefix))
  }
}

/// The least key after another one, or `nil` if there is none.
@usableFromInline
func keyAfter(_ key: [UInt8]) -> [UInt8]? {
  // A longer key can be neither stored nor looked up.
  key.count < LMDBLimits.keySizeInBytes ? key + [0] : endOfPrefix(key)
}

/// The least key after all those with a prefix, or `nil` if there is none.
@usableFromInline
func endOfPrefix(_ prefix: [UInt8]) -> [UInt8]? {
  guard let last = prefix.lastIndex(where: { $0 < .max }) else { return nil }
  return prefix[..<last] + [prefix[last] + 1]
}

extension RawSpan {
  /// Whether these bytes come before others in the order of keys.
  @usableFromInline
  package func precedes(_ other: RawSpan) -> Bool {
    // Both are only read within the closures, and are at least so long.
    let order = unsafe withUnsafeBytes { own in
      unsafe other.withUnsafeBytes { other in
        guard let left = own.baseAddress, let right = other.baseAddress else { return Int32(0) }
        return unsafe memcmp(left, right, min(own.count, other.count))
      }
    }
    return order == 0 ? byteCount < other.byteCount : order < 0
  }
}

/// Whether a key lies at or after a bound; false without a bound.
@usableFromInline
func reaches(_ key: RawSpan, _ bound: [UInt8]?) -> Bool {
  guard let bound else { return false }
  // Unsafe by signature only: bytes are bytes.
  return unsafe !key.precedes(bound.span.bytes)
}
