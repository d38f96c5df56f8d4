#if canImport(FoundationEssentials)
  public import FoundationEssentials
#else
  public import Foundation
#endif

/// A type with a binary form, as keys and values of a database have.
///
/// ```swift
/// struct Tag: BinaryCodable {
///   var name: String
///   var encodedByteCount: Int { name.encodedByteCount }
///   func encode(into output: inout OutputRawSpan) { name.encode(into: &output) }
///   init(decoding bytes: RawSpan) throws(LMDBError) { name = try String(decoding: bytes) }
/// }
/// ```
public protocol BinaryCodable: Sendable {
  /// How many bytes `encode(into:)` writes.
  var encodedByteCount: Int { get }

  /// Writes exactly `encodedByteCount` bytes.
  ///
  /// The output is often a page of the file: a codec that writes fewer bytes than it announced fails the transaction,
  /// one that writes more traps. Many bytes are best written at once, by `append(copying:)`.
  func encode(into output: inout OutputRawSpan)

  /// Reads a value back.
  ///
  /// The bytes belong to the transaction; copy those that must outlive the call.
  ///
  /// Throws an ``LMDBError``, best created by ``LMDBError/undecodable(_:byteCount:cause:)``, if they are not an encoded value.
  init(decoding bytes: RawSpan) throws(LMDBError)
}

extension BinaryCodable {
  /// The bytes that are stored for the value.
  @inlinable package var encodedBytes: [UInt8] {
    // The codec writes into memory of the size it announced; the array has as many bytes as it wrote.
    unsafe Array(unsafeUninitializedCapacity: encodedByteCount) { buffer, written in
      let bytes = UnsafeMutableRawBufferPointer(buffer)
      var output = unsafe OutputRawSpan(buffer: bytes, initializedCount: 0)
      encode(into: &output)
      // The output was created from these very bytes.
      written = unsafe output.finalize(for: bytes)
    }
  }
}

extension [UInt8] {
  /// Appends the bytes that a codec writes, whose number it has announced.
  @inlinable
  package mutating func append(ofByteCount byteCount: Int, _ encode: (inout OutputRawSpan) -> Void) {
    append(addingCapacity: byteCount) { output in
      // The codec writes into the room that has just been added; only the bytes it wrote count.
      unsafe output.withUnsafeMutableBufferPointer { buffer, count in
        let bytes = UnsafeMutableRawBufferPointer(buffer)
        let room = unsafe UnsafeMutableRawBufferPointer(rebasing: bytes[count..<count + byteCount])
        var output = unsafe OutputRawSpan(buffer: room, initializedCount: 0)
        encode(&output)
        unsafe count += output.finalize(for: room)
      }
    }
  }
}

/// A type whose binary form can be a key.
///
/// Conforming is a promise that liblmdb relies on and nothing checks:
/// - comparing two encodings byte by byte gives the same order as comparing the values;
/// - an encoding has 1 to 511 bytes (anything else throws `badKeySize`).
public protocol KeyCodable: BinaryCodable {
  /// How many bytes every encoding of the type has; `nil`, unless stated otherwise, if they differ.
  ///
  /// In front of another key a type without a fixed width is marked with its end, see ``Leading``.
  static var fixedByteCount: Int? { get }
}

extension KeyCodable {
  /// None: encodings may differ in length.
  @inlinable public static var fixedByteCount: Int? { nil }
}

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

extension Array: BinaryCodable, KeyCodable where Element == UInt8 {
  /// The number of elements.
  @inlinable public var encodedByteCount: Int { count }

  /// Writes the bytes as they are; their order is lexicographic.
  @inlinable
  public func encode(into output: inout OutputRawSpan) {
    // Unsafe by signature only: bytes are bytes.
    unsafe output.append(copying: span.bytes)
  }

  /// Copies the bytes; never throws.
  @inlinable
  public init(decoding bytes: RawSpan) throws(LMDBError) {
    // The span is only read within the closure, so its pointer cannot outlive it.
    self = unsafe bytes.withUnsafeBytes { unsafe Array($0) }
  }
}

/// As a key, a text is its bytes: the order is that of its Unicode scalars.
///
/// Swift compares texts by their canonical form. The two agree on texts in that form (NFC); other texts that Swift
/// calls equal are different keys. An empty text can only be a part of a key.
extension String: BinaryCodable, KeyCodable {
  /// The number of bytes in UTF-8.
  @inlinable public var encodedByteCount: Int { utf8.count }

  /// Writes the text as UTF-8.
  @inlinable
  public func encode(into output: inout OutputRawSpan) {
    var text = self
    // Read within the closure only.
    text.withUTF8 { unsafe output.append(copying: $0.span.bytes) }
  }

  /// Copies text.
  ///
  /// Throws `undecodable` if the bytes are not UTF-8.
  @inlinable
  public init(decoding bytes: RawSpan) throws(LMDBError) {
    // The span is only read within the closure, so its pointer cannot outlive it.
    let text = unsafe bytes.withUnsafeBytes { unsafe String(validating: $0, as: UTF8.self) }
    guard let text else { throw LMDBError.undecodable("UTF-8 text", byteCount: bytes.byteCount) }
    self = text
  }
}

extension OutputRawSpan {
  /// Appends many bytes at once; traps, as appending one does, if they do not fit.
  ///
  /// ```swift
  /// func encode(into output: inout OutputRawSpan) {
  ///   output.append(copying: digest.span.bytes)
  /// }
  /// ```
  @inlinable
  @_lifetime(self: copy self)
  public mutating func append(copying bytes: RawSpan) {
    precondition(bytes.byteCount <= freeCapacity, "more bytes than announced")
    // The source is only read within the closures; the target is the free part, which the check above has measured.
    unsafe withUnsafeMutableBytes { buffer, count in
      unsafe bytes.withUnsafeBytes { bytes in
        unsafe UnsafeMutableRawBufferPointer(rebasing: buffer[count...]).copyMemory(from: bytes)
      }
      count += bytes.byteCount
    }
  }
}

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
/// before 0, and values that are not a number come at the ends.
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

// The part of Foundation without calendars and texts of languages; the rest of the module needs none of it.

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

/// Encodes a key on the stack.
@inlinable
@inline(__always)
func withEncoded<Key: KeyCodable, R>(
  _ key: Key,
  _ body: (UnsafeRawBufferPointer) throws(LMDBError) -> R
) throws(LMDBError) -> R {
  let byteCount = key.encodedByteCount
  guard byteCount >= 1, byteCount <= LMDBLimits.keySizeInBytes else { throw LMDBLimits.badKeySize(byteCount) }
  // The buffer ends with the closure, which passes on what the codec wrote and keeps nothing.
  return try unsafe withUnsafeTemporaryAllocation(byteCount: LMDBLimits.keySizeInBytes, alignment: 8) {
    (buffer: UnsafeMutableRawBufferPointer) throws(LMDBError) -> R in
    var output = unsafe OutputRawSpan(buffer: buffer, initializedCount: 0)
    key.encode(into: &output)
    // Only what the codec wrote is passed on: the rest of the buffer is not initialised.
    let written = unsafe output.finalize(for: buffer)
    guard written == byteCount else { throw LMDBLimits.badKeySize(written) }
    return try unsafe body(UnsafeRawBufferPointer(start: buffer.baseAddress, count: written))
  }
}

/// The sizes of keys and values that liblmdb can store.
@usableFromInline
enum LMDBLimits {
  /// The longest key; opening an environment compares it with what liblmdb was built for.
  @usableFromInline static let keySizeInBytes = 511
  /// The longest value: the system's liblmdb fails a commit with values of more than about 2 GiB.
  static let valueSizeInBytes = 0x7FFF_0000

  @usableFromInline
  static func badKeySize(_ byteCount: Int) -> LMDBError {
    LMDBError(
      .badKeySize,
      operation: "encode the key",
      message: "A key must have 1 to 511 bytes, this one has \(byteCount)"
    )
  }
}

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
