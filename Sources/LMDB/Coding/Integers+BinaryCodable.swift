/// An integer that is a key: the most significant byte first and, where it has a sign, with that bit flipped.
///
/// So bytes compare as the numbers do. LMDB's own integer keys are not used: they depend on the machine's byte order.
public protocol FixedWidthKey: KeyCodable, FixedWidthInteger {}

extension FixedWidthKey {
  /// The width of the type in bytes.
  @inlinable public var encodedByteCount: Int { Self.bitWidth / 8 }

  /// The width of the type in bytes.
  @inlinable public static var fixedByteCount: Int? { Self.bitWidth / 8 }

  /// Writes the number, most significant byte first.
  @inlinable
  public func encode(into output: inout OutputRawSpan) {
    let flipped = Self.isSigned ? self ^ Self.min : self
    var shift = Self.bitWidth
    while shift > 0 {
      shift -= 8
      output.append(UInt8(truncatingIfNeeded: flipped >> Self(shift)))
    }
  }

  /// Reads a number.
  ///
  /// Throws `undecodable` if the number of bytes is not the width of the type.
  @inlinable
  public init(decoding bytes: RawSpan) throws(LMDBError) {
    guard bytes.byteCount == Self.bitWidth / 8 else {
      throw LMDBError.undecodable("\(Self.self)", byteCount: bytes.byteCount)
    }
    var number: Self = 0
    for index in bytes.byteOffsets {
      // In bounds: the index is one of the span's own; a byte has no alignment.
      number = number << 8 | Self(truncatingIfNeeded: unsafe bytes.unsafeLoad(fromByteOffset: index, as: UInt8.self))
    }
    self = Self.isSigned ? number ^ Self.min : number
  }
}

extension UInt8: FixedWidthKey {}
extension UInt16: FixedWidthKey {}
extension UInt32: FixedWidthKey {}
extension UInt64: FixedWidthKey {}
extension UInt128: FixedWidthKey {}
extension UInt: FixedWidthKey {}
extension Int8: FixedWidthKey {}
extension Int16: FixedWidthKey {}
extension Int32: FixedWidthKey {}
extension Int64: FixedWidthKey {}
extension Int128: FixedWidthKey {}
extension Int: FixedWidthKey {}
