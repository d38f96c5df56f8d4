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
  /// The bytes belong to the transaction; copy what is to outlive the call.
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
  /// Appends what a codec writes, of which it has announced the length.
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
