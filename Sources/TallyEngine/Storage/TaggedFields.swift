public import LMDB

// After its head and its text, a record has fields in ascending order of their tags:
//
//     1  tag, not zero
//     1  length of the value in bytes; 255 means that the next four bytes are the length
//        the value
//
// A newer version can therefore add fields, which older versions preserve.

/// Walks the tagged fields of a record in place; it lives no longer than the span it reads.
@usableFromInline
package struct FieldCursor: ~Escapable {
  @usableFromInline let bytes: RawSpan
  @usableFromInline var start = 0
  @usableFromInline var end: Int
  @usableFromInline var valueStart = 0
  /// The tag of the current field; zero before the first.
  @usableFromInline package internal(set) var tag: UInt8 = 0

  /// Creates a cursor before the first field; the fields begin at `offset`.
  @_lifetime(copy bytes)
  @inlinable
  package init(_ bytes: RawSpan, from offset: Int) {
    self.bytes = bytes
    end = offset
  }

  /// The value of the current field.
  @inlinable package var value: RawSpan {
    @_lifetime(copy self)
    get { bytes.extracting(valueStart..<end) }
  }

  /// The current field with its tag and size.
  @inlinable package var whole: RawSpan {
    @_lifetime(copy self)
    get { bytes.extracting(start..<end) }
  }

  /// Moves to the next field; returns false after the last one.
  @_lifetime(self: copy self)
  @inline(__always)
  @inlinable
  package mutating func advance() throws(LMDBError) -> Bool {
    guard end < bytes.byteCount else { return false }
    start = end
    guard start + TaggedField.shortHeadByteCount <= bytes.byteCount else { throw Self.cutField }
    let next: UInt8 = bytes.load(bigEndianAt: start)
    guard next > tag else { throw Self.disorder }
    var size = Int(bytes.load(bigEndianAt: start + 1, as: UInt8.self))
    valueStart = start + TaggedField.shortHeadByteCount
    if size == TaggedField.longMark {
      guard start + TaggedField.longHeadByteCount <= bytes.byteCount else { throw Self.cutField }
      size = Int(bytes.load(bigEndianAt: valueStart, as: UInt32.self))
      valueStart = start + TaggedField.longHeadByteCount
    }
    guard size <= bytes.byteCount - valueStart else { throw Self.cutField }
    end = valueStart + size
    tag = next
    return true
  }

  /// Moves to a field, skipping those with lower tags; returns false if the record does not have it.
  @_lifetime(self: copy self)
  @inlinable
  package mutating func advance(to wanted: UInt8) throws(LMDBError) -> Bool {
    while tag < wanted { guard try advance() else { return false } }
    return tag == wanted
  }

  // Not inlined, like the other error below: inlining would copy the code into every loop over fields.
  @usableFromInline static var cutField: LMDBError {
    @inline(never) get { .undecodable("a record ends before its last field does") }
  }

  @usableFromInline static var disorder: LMDBError {
    @inline(never) get { .undecodable("the fields of a record are out of order") }
  }
}

/// The encoding of a tagged field.
@usableFromInline
package enum TaggedField {
  @usableFromInline package static var shortHeadByteCount: Int { 2 }
  @usableFromInline package static var longHeadByteCount: Int { 6 }
  /// The length byte which means that the length follows in four bytes.
  @usableFromInline package static var longMark: Int { 255 }

  /// The encoded size of a field, in bytes.
  @inlinable
  package static func byteCount(ofValue size: Int) -> Int {
    (size < longMark ? shortHeadByteCount : longHeadByteCount) + size
  }

  /// Appends the tag and the length of a value; the caller must append the value.
  @_lifetime(output: copy output)
  @inlinable
  package static func appendHead(_ tag: UInt8, valueByteCount size: Int, to output: inout OutputRawSpan) {
    assert(tag > 0, "zero is not a tag")
    output.append(tag)
    if size < longMark { return output.append(UInt8(size)) }
    output.append(UInt8(longMark))
    output.append(bigEndian: UInt32(size))
  }
}

/// The fields of a record that this version does not know; every writer preserves them.
@usableFromInline
package struct UnknownFields: Hashable, Sendable {
  /// Whole fields, in ascending order of their tags.
  @usableFromInline package internal(set) var bytes: [UInt8] = []

  /// Reads the fields of a record all of whose tagged fields are unknown to this version.
  @inlinable
  package init(_ record: RawSpan, from offset: Int) throws(LMDBError) {
    guard offset < record.byteCount else { return }
    var cursor = FieldCursor(record, from: offset)
    while try cursor.advance() {}
    bytes = record.bytes(from: offset)
  }

  @inlinable
  package init() {}

  /// Appends the field at a cursor; fields must be appended in ascending order.
  @inlinable
  package mutating func append(_ field: borrowing FieldCursor) {
    assert(field.tag > 0, "the cursor is not at a field")
    bytes += field.whole.bytes(from: 0)
  }

  /// Writes the fields with tags below another one, continuing from the offset at which an earlier call ended.
  @_lifetime(output: copy output)
  @inlinable
  package func encode(below tag: UInt8, from offset: inout Int, into output: inout OutputRawSpan) {
    guard offset < bytes.count, bytes[offset] < tag else { return }
    let start = offset
    while offset < bytes.count, bytes[offset] < tag { offset += byteCount(ofFieldAt: offset) }
    Array(bytes[start..<offset]).encode(into: &output)
  }

  /// Writes the remaining fields.
  @_lifetime(output: copy output)
  @inlinable
  package func encode(from offset: Int, into output: inout OutputRawSpan) {
    if offset < bytes.count { Array(bytes[offset...]).encode(into: &output) }
  }

  @usableFromInline
  func byteCount(ofFieldAt offset: Int) -> Int {
    let size = Int(bytes[offset + 1])
    guard size == TaggedField.longMark else { return TaggedField.shortHeadByteCount + size }
    return TaggedField.longHeadByteCount + bytes[(offset + 2)..<(offset + 6)].reduce(0) { $0 << 8 | Int($1) }
  }
}
