/// The value of a database whose keys are all there is, such as an index: no bytes at all.
public struct NoValue: BinaryCodable, Hashable {
  /// Creates the one value there is.
  @inlinable
  public init() {}

  /// Always 0.
  @inlinable public var encodedByteCount: Int { 0 }

  /// Writes nothing.
  @inlinable
  public func encode(into output: inout OutputRawSpan) {}

  /// Accepts only the empty span.
  ///
  /// Throws `undecodable` for any other.
  @inlinable
  public init(decoding bytes: RawSpan) throws(LMDBError) {
    guard bytes.isEmpty else { throw LMDBError.undecodable("NoValue", byteCount: bytes.byteCount) }
  }
}
