public import Foundation

/// A record that a collection keeps.
///
/// ```swift
/// struct Workout: StoredRecord, Codable {
///   var id = UUID()
///   var sport: String, start: Date, minutes: Int
///   var notes = ""
/// }
/// ```
///
/// A `Codable` type needs nothing else: its fields are stored in a binary form, each name once for the whole collection.
/// Its id is among them, so it is declared with `var`: Swift does not decode a `let` that has a value already.
/// A type that conforms to ``BinaryRecord`` writes its fields itself, which is several times faster.
///
/// In a module whose default isolation is the main actor, the conformance stands at the type itself; in an extension it
/// is written `nonisolated`.
public protocol StoredRecord: Identifiable, Sendable where ID: KeyComponent, ID.PlainKey == ID {
  /// Writes the record's fields.
  func encodeRecord(to output: RecordOutput) throws

  /// Reads a record from its stored fields.
  static func decodeRecord(id: ID, from input: RecordInput) throws -> Self
}

/// A record that writes its fields itself, each under a number that never changes.
///
/// ```swift
/// struct Workout: BinaryRecord {
///   var id: UUID, sport: String, start: Date, minutes: Int
///
///   func encode(to fields: inout FieldOutput) {
///     fields.append(sport, as: 1)
///     fields.append(start, as: 2)
///     fields.append(minutes, as: 3)
///   }
///   init(id: UUID, fields: inout FieldInput) throws {
///     self.id = id
///     sport = try fields.string(1)
///     start = try fields.date(2)
///     minutes = try fields.int(3)
///   }
/// }
/// ```
///
/// The id is not among the fields. A field that is left out is read with one of the calls that end in `IfPresent`. The
/// number of a field that is no longer used is never given to another one.
public protocol BinaryRecord: StoredRecord {
  /// Writes the fields, in ascending order of their numbers.
  func encode(to fields: inout FieldOutput)

  /// Reads the fields, best in ascending order of their numbers.
  init(id: ID, fields: inout FieldInput) throws
}

extension StoredRecord where Self: Codable {
  /// Writes the fields that the type codes.
  @inlinable
  public func encodeRecord(to output: RecordOutput) throws {
    try output.encode(self)
  }

  /// Reads the fields that the type codes.
  ///
  /// - Throws: `invalidValue` if the type does not decode its id; what its decoding throws.
  @inlinable
  public static func decodeRecord(id: ID, from input: RecordInput) throws -> Self {
    let record = try input.decode(Self.self)
    guard record.id.isSameKey(as: id) else { throw TallyError.undecodedID(of: Self.self) }
    return record
  }
}

extension StoredRecord where Self: BinaryRecord {
  /// Writes the fields by their numbers.
  @inlinable
  public func encodeRecord(to output: RecordOutput) { writeFields(to: output) }

  /// Reads the fields by their numbers.
  @inlinable
  public static func decodeRecord(id: ID, from input: RecordInput) throws -> Self { try readFields(id, input) }
}

// Without these, a type that is also `Codable` would have two forms to choose from.
extension StoredRecord where Self: BinaryRecord & Codable {
  /// Writes the fields by their numbers.
  @inlinable
  public func encodeRecord(to output: RecordOutput) { writeFields(to: output) }

  /// Reads the fields by their numbers.
  @inlinable
  public static func decodeRecord(id: ID, from input: RecordInput) throws -> Self { try readFields(id, input) }
}

extension BinaryRecord {
  @inlinable
  func writeFields(to output: RecordOutput) {
    output.bytes.append(ValueTag.numbered)
    var fields = FieldOutput(output)
    encode(to: &fields)
  }

  @inlinable
  static func readFields(_ id: ID, _ input: RecordInput) throws -> Self {
    var fields = try FieldInput(input)
    return try Self(id: id, fields: &fields)
  }
}

/// The byte before a value; the numbers are stored: do not change them.
@usableFromInline
enum ValueTag {
  @usableFromInline static var null: UInt8 { 0 }
  @usableFromInline static var no: UInt8 { 1 }
  @usableFromInline static var yes: UInt8 { 2 }
  /// A signed number, as a varint whose lowest bit is the sign.
  @usableFromInline static var int: UInt8 { 3 }
  /// A number above `Int64.max`, as a varint.
  @usableFromInline static var uint: UInt8 { 4 }
  @usableFromInline static var double: UInt8 { 5 }
  @usableFromInline static var string: UInt8 { 7 }
  @usableFromInline static var bytes: UInt8 { 8 }
  @usableFromInline static var uuid: UInt8 { 9 }
  /// A date, as the seconds since 2001 of Foundation.
  @usableFromInline static var date: UInt8 { 10 }
  /// The fields of a record, each with the number of its name; only at the beginning of a record.
  @usableFromInline static var keyed: UInt8 { 11 }
  /// Values in their order.
  @usableFromInline static var list: UInt8 { 12 }
  /// Fields with their names, inside a record.
  @usableFromInline static var named: UInt8 { 13 }
  /// The fields of a record by numbers that its type gives; only at the beginning of a record.
  @usableFromInline static var numbered: UInt8 { 14 }
}

/// Writes the fields of a ``BinaryRecord``.
///
/// Numbers count from 1: with a lower one, the write of the record throws `invalidValue`.
public struct FieldOutput {
  @usableFromInline let output: RecordOutput

  @usableFromInline
  init(_ output: RecordOutput) {
    self.output = output
  }

  private func begin(_ number: Int) {
    if number < 1 { output.refusedNumber = number }
    output.bytes.append(varint: UInt64(max(number, 1)))
  }

  /// Writes a text.
  public func append(_ value: String, as number: Int) {
    begin(number)
    output.append(value)
  }

  /// Writes a whole number.
  public func append(_ value: Int, as number: Int) {
    begin(number)
    output.append(integer: value)
  }

  /// Writes a whole number.
  public func append(_ value: Int64, as number: Int) {
    begin(number)
    output.append(integer: value)
  }

  /// Writes a truth value.
  public func append(_ value: Bool, as number: Int) {
    begin(number)
    output.bytes.append(value ? ValueTag.yes : ValueTag.no)
  }

  /// Writes a number.
  public func append(_ value: Double, as number: Int) {
    begin(number)
    output.append(value, tag: ValueTag.double)
  }

  /// Writes a date, exactly.
  public func append(_ value: Date, as number: Int) {
    begin(number)
    output.append(value.timeIntervalSinceReferenceDate, tag: ValueTag.date)
  }

  /// Writes an id.
  public func append(_ value: UUID, as number: Int) {
    begin(number)
    output.append(value)
  }

  /// Writes bytes.
  public func append(_ value: Data, as number: Int) {
    begin(number)
    output.append(value)
  }
}

/// Reads the fields of a ``BinaryRecord``.
public struct FieldInput {
  private let input: RecordInput
  private var next: Int

  @usableFromInline
  init(_ input: RecordInput) throws {
    guard try input.byte(at: 0) == ValueTag.numbered else { throw input.mismatch(BinaryForm.self, []) }
    (self.input, next) = (input, 1)
  }

  /// Where a field's value begins; `nil` if the record does not have it.
  private mutating func find(_ number: Int) throws -> Int? {
    if let value = try input.value(ofField: number, near: &next, from: 1) {
      input.noteAsked(number)
      return value
    }
    input.noteAsked(number)
    return nil
  }

  private mutating func require(_ number: Int) throws -> Int {
    guard let value = try find(number) else { throw input.missing(FieldNumber(number)) }
    return value
  }

  /// Reads a text; throws `DecodingError` if there is none.
  public mutating func string(_ number: Int) throws -> String { try input.string(at: require(number)) }

  /// Reads a text that may be left out.
  public mutating func stringIfPresent(_ number: Int) throws -> String? {
    try find(number).map { try input.string(at: $0) }
  }

  /// Reads a whole number; throws `DecodingError` if there is none.
  public mutating func int(_ number: Int) throws -> Int { try input.integer(at: require(number)) }

  /// Reads a whole number that may be left out.
  public mutating func intIfPresent(_ number: Int) throws -> Int? {
    try find(number).map { try input.integer(at: $0) }
  }

  /// Reads a whole number of 64 bits; throws `DecodingError` if there is none.
  public mutating func int64(_ number: Int) throws -> Int64 { try input.integer(at: require(number)) }

  /// Reads a truth value; throws `DecodingError` if there is none.
  public mutating func bool(_ number: Int) throws -> Bool { try input.bool(at: require(number)) }

  /// Reads a truth value that may be left out.
  public mutating func boolIfPresent(_ number: Int) throws -> Bool? {
    try find(number).map { try input.bool(at: $0) }
  }

  /// Reads a number; throws `DecodingError` if there is none.
  public mutating func double(_ number: Int) throws -> Double { try input.double(at: require(number)) }

  /// Reads a number that may be left out.
  public mutating func doubleIfPresent(_ number: Int) throws -> Double? {
    try find(number).map { try input.double(at: $0) }
  }

  /// Reads a date; throws `DecodingError` if there is none.
  public mutating func date(_ number: Int) throws -> Date { try input.date(at: require(number)) }

  /// Reads a date that may be left out.
  public mutating func dateIfPresent(_ number: Int) throws -> Date? {
    try find(number).map { try input.date(at: $0) }
  }

  /// Reads an id; throws `DecodingError` if there is none.
  public mutating func uuid(_ number: Int) throws -> UUID { try input.uuid(at: require(number)) }

  /// Reads an id that may be left out.
  public mutating func uuidIfPresent(_ number: Int) throws -> UUID? {
    try find(number).map { try input.uuid(at: $0) }
  }

  /// Reads bytes; throws `DecodingError` if there are none.
  public mutating func data(_ number: Int) throws -> Data { try input.data(at: require(number)) }

  /// Reads bytes that may be left out.
  public mutating func dataIfPresent(_ number: Int) throws -> Data? {
    try find(number).map { try input.data(at: $0) }
  }
}

extension TallyError {
  @usableFromInline static func undecodedID(of type: Any.Type) -> TallyError {
    TallyError(
      .invalidValue, "A record of the type \(type) decodes with an id that is not the one under which it is stored",
      remedy: "Declare the id with `var`, and let the type code it: Swift does not decode `let id = UUID()`")
  }
}

/// The form of a record that its type writes itself, for messages.
private enum BinaryForm {}

/// The number of a field as the key of an error.
private struct FieldNumber: CodingKey {
  let number: Int

  init(_ number: Int) { self.number = number }
  init?(stringValue: String) { nil }
  init?(intValue: Int) { number = intValue }
  var stringValue: String { "\(number)" }
  var intValue: Int? { number }
}
