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
