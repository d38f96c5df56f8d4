extension Bool: BinaryCodable, KeyCodable {
  /// Always 1.
  @inlinable public var encodedByteCount: Int { 1 }

  /// Always 1.
  @inlinable public static var fixedByteCount: Int? { 1 }

  /// Writes 0 for false and 1 for true.
  @inlinable
  public func encode(into output: inout OutputRawSpan) {
    output.append(UInt8(self ? 1 : 0))
  }

  /// Reads a truth value.
  ///
  /// Throws `undecodable` if there is anything but one byte of 0 or 1.
  @inlinable
  public init(decoding bytes: RawSpan) throws(LMDBError) {
    let byte = try UInt8(decoding: bytes)
    guard byte <= 1 else { throw LMDBError.undecodable("Bool", byteCount: bytes.byteCount) }
    self = byte == 1
  }
}

/// As a key, a number has the order of IEEE 754's `totalOrder`, as `isTotallyOrdered(belowOrEqualTo:)` has: -0 comes
/// before 0, and what is not a number comes at the ends.
extension Double: BinaryCodable, KeyCodable {
  /// Always 8.
  @inlinable public var encodedByteCount: Int { 8 }

  /// Always 8.
  @inlinable public static var fixedByteCount: Int? { 8 }

  /// Writes the bits, most significant byte first: of a positive number with the sign flipped, of a negative one all
  /// flipped.
  @inlinable
  public func encode(into output: inout OutputRawSpan) {
    (bitPattern ^ (sign == .minus ? .max : 1 << 63)).encode(into: &output)
  }

  /// Reads a number.
  ///
  /// Throws `undecodable` if there are not 8 bytes.
  @inlinable
  public init(decoding bytes: RawSpan) throws(LMDBError) {
    let bits = try UInt64(decoding: bytes)
    self.init(bitPattern: bits ^ (bits >> 63 == 0 ? .max : 1 << 63))
  }
}
