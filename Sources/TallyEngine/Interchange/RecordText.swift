import Foundation
import LMDB

/// Writes records as lines of JSON: what their own coding gives, in its order.
///
/// A record is encoded as a store encodes it, and the result is written as text. `JSONEncoder` is not used because it
/// takes up to twice as long, orders keys at random or by name, and has no exact form of a date.
struct RecordText {
  /// The lines so far.
  var bytes: [UInt8] = []
  private let collection: String
  private let output = RecordOutput()
  private let input = RecordInput(FieldTable())

  /// The most names of fields that are remembered: a type has few, but a record may code keys of its own.
  private static var mostNames: Int { 1_024 }

  /// What JSON cannot hold.
  private enum Unwritable: Error {
    case number, date, depth
  }

  init(of collection: String) {
    self.collection = collection
  }

  /// Appends a record and a line feed.
  ///
  /// - Throws: `invalidValue` if the record cannot be encoded, or has a value that JSON cannot hold.
  mutating func append(_ record: some StoredRecord & Encodable) throws {
    output.reset(keepingNames: output.names.names.count > Self.mostNames ? FieldTable() : nil)
    do {
      try output.encode(record)
    } catch let error as EncodingError {
      throw TallyError(
        .invalidValue, "A record of '\(collection)' cannot be encoded", remedy: "Correct how its type codes itself",
        cause: error.withoutValues)
    }
    input.names = output.names
    let encoded = output.bytes
    // Unsafe by signature only: bytes have no padding.
    try unsafe input.reading(encoded.span.bytes) { input in
      if try input.byte(at: 0) == ValueTag.keyed { try append(fieldsOf: input) } else { try append(input, 0, "", 1) }
    }
    bytes.append(UInt8(ascii: "\n"))
  }

  private mutating func append(fieldsOf input: RecordInput) throws {
    var mark = UInt8(ascii: "{")
    for (number, value) in try input.fields() {
      let name = input.names.names[number]
      bytes.append(mark)
      mark = UInt8(ascii: ",")
      append(name)
      bytes.append(UInt8(ascii: ":"))
      try append(input, value.lowerBound, name, 2)
    }
    if mark == UInt8(ascii: "{") { bytes.append(mark) }
    bytes.append(UInt8(ascii: "}"))
  }

  /// Appends the value at an offset of a field.
  private mutating func append(_ input: RecordInput, _ offset: Int, _ field: String, _ depth: Int) throws {
    do {
      try append(input, offset, depth: depth)
    } catch let error as Unwritable {
      let what =
        switch error {
        case .number: "a number that is not finite"
        case .date: "a date outside the years 1 to 9999"
        case .depth: "values nested more than \(JSONReader.depthLimit) deep"
        }
      throw TallyError(
        .invalidValue, "A record of '\(collection)' has \(what) in the field '\(field)', which JSON cannot hold",
        remedy: "Give the field another value, or let its type code it as something else")
    }
  }

  private mutating func append(_ input: RecordInput, _ offset: Int, depth: Int) throws {
    switch try input.byte(at: offset) {
    case ValueTag.null: bytes += "null".utf8
    case ValueTag.no: bytes += "false".utf8
    case ValueTag.yes: bytes += "true".utf8
    case ValueTag.int:
      let number: Int64 = try input.integer(at: offset)
      bytes.append(addingCapacity: 20) { $0.append(decimal: number) }
    case ValueTag.uint: bytes += String(try input.integer(at: offset) as UInt64).utf8
    case ValueTag.double:
      let number = try input.double(at: offset)
      guard number.isFinite else { throw Unwritable.number }
      // The shortest digits that are read as the same number.
      bytes += number.description.utf8
    case ValueTag.string: append(try input.string(at: offset))
    case ValueTag.bytes: append(try input.data(at: offset).base64EncodedString())
    case ValueTag.uuid:
      let id = try input.uuid(at: offset)
      bytes.append(addingCapacity: UUID.textByteCount + 2) { output in
        output.append(UInt8(ascii: "\""))
        output.append(id)
        output.append(UInt8(ascii: "\""))
      }
    case ValueTag.date:
      bytes.append(UInt8(ascii: "\""))
      guard try input.date(at: offset).appendText(to: &bytes) else { throw Unwritable.date }
      bytes.append(UInt8(ascii: "\""))
    case ValueTag.list: try append(listIn: input, offset, depth: depth)
    case ValueTag.named: try append(objectIn: input, offset, depth: depth)
    default: throw TallyError.cutOffRecord
    }
  }

  private mutating func append(listIn input: RecordInput, _ offset: Int, depth: Int) throws {
    guard depth < JSONReader.depthLimit else { throw Unwritable.depth }
    let end = try input.end(of: offset)
    var next = offset + 5
    bytes.append(UInt8(ascii: "["))
    while next < end {
      if next > offset + 5 { bytes.append(UInt8(ascii: ",")) }
      try append(input, next, depth: depth + 1)
      next = try input.end(of: next)
    }
    bytes.append(UInt8(ascii: "]"))
  }

  /// Appends an object inside a record, with its keys in ascending order: those of a dictionary have none.
  private mutating func append(objectIn input: RecordInput, _ offset: Int, depth: Int) throws {
    guard depth < JSONReader.depthLimit else { throw Unwritable.depth }
    let end = try input.end(of: offset)
    var (members, next): ([(name: String, value: Int)], Int) = ([], offset + 5)
    while next < end {
      let count = try Int(truncatingIfNeeded: input.varint(&next))
      guard count >= 0, count <= end - next else { throw TallyError.cutOffRecord }
      members.append((try input.text(next..<(next + count)), next + count))
      next = try input.end(of: next + count)
    }
    members.sort { $0.name.utf8.lexicographicallyPrecedes($1.name.utf8) }
    bytes.append(UInt8(ascii: "{"))
    for (index, member) in members.enumerated() {
      if index > 0 { bytes.append(UInt8(ascii: ",")) }
      append(member.name)
      bytes.append(UInt8(ascii: ":"))
      try append(input, member.value, depth: depth + 1)
    }
    bytes.append(UInt8(ascii: "}"))
  }

  /// Appends a string in quotes.
  private mutating func append(_ text: String) {
    var text = text
    text.makeContiguousUTF8()
    let utf8 = text.utf8.span
    bytes.append(UInt8(ascii: "\""))
    var index = 0
    while index < utf8.count {
      let plain = index..<(index + utf8.countOfPlainBytes(from: index))
      bytes.append(addingCapacity: plain.count + 6) { output in
        output.append(copying: utf8.extracting(plain))
        if plain.upperBound < utf8.count { output.append(escaped: utf8[plain.upperBound]) }
      }
      index = plain.upperBound + 1
    }
    bytes.append(UInt8(ascii: "\""))
  }
}
