// The part of Foundation without calendars and texts of languages; the rest of the module needs none of it.
#if canImport(FoundationEssentials)
  public import FoundationEssentials
#else
  public import Foundation
#endif

extension UUID: BinaryCodable, KeyCodable {
  /// Always 16.
  @inlinable public var encodedByteCount: Int { 16 }

  /// Always 16.
  @inlinable public static var fixedByteCount: Int? { 16 }

  /// Writes the bytes in the order of RFC 9562, in which identifiers of version 7 follow the time.
  @inlinable
  public func encode(into output: inout OutputRawSpan) {
    // Sixteen plain bytes, read within the closure only.
    unsafe withUnsafeBytes(of: uuid) { unsafe output.append(copying: $0.bytes) }
  }

  /// Reads an identifier.
  ///
  /// Throws `undecodable` if there are not 16 bytes.
  @inlinable
  public init(decoding bytes: RawSpan) throws(LMDBError) {
    guard bytes.byteCount == 16 else { throw LMDBError.undecodable("UUID", byteCount: bytes.byteCount) }
    // The length is checked, and every bit pattern is an identifier.
    self.init(uuid: unsafe bytes.unsafeLoadUnaligned(as: uuid_t.self))
  }
}

extension Data: BinaryCodable, KeyCodable {
  /// The number of bytes.
  @inlinable public var encodedByteCount: Int { count }

  /// Writes the bytes as they are; their order is lexicographic.
  @inlinable
  public func encode(into output: inout OutputRawSpan) {
    output.append(copying: bytes)
  }

  /// Copies the bytes; never throws.
  @inlinable
  public init(decoding bytes: RawSpan) throws(LMDBError) {
    // The span is only read within the closure, so its pointer cannot outlive it.
    self = unsafe bytes.withUnsafeBytes { unsafe Data($0) }
  }
}

extension Error {
  /// A coder's error without anything that it quotes of a value, which may be private; its kind and its coding path remain.
  ///
  /// Errors of other types are returned unchanged.
  package var withoutValues: any Error {
    let text = "The value does not have the form of its type"
    switch self as any Error {
    case DecodingError.dataCorrupted(let context):
      return DecodingError.dataCorrupted(.init(codingPath: context.codingPath, debugDescription: text))
    case DecodingError.typeMismatch(let type, let context):
      return DecodingError.typeMismatch(type, .init(codingPath: context.codingPath, debugDescription: text))
    case DecodingError.valueNotFound(let type, let context):
      return DecodingError.valueNotFound(type, .init(codingPath: context.codingPath, debugDescription: text))
    case DecodingError.keyNotFound(let key, let context):
      return DecodingError.keyNotFound(key, .init(codingPath: context.codingPath, debugDescription: text))
    case EncodingError.invalidValue(let value, let context):
      return EncodingError.invalidValue(
        "\(type(of: value))", .init(codingPath: context.codingPath, debugDescription: text))
    default: return self
    }
  }
}
