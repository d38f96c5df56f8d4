import Foundation

/// The input from which a record reads its fields; it is valid only during the reading.
@safe
public final class RecordInput {
  /// The bytes of the record, which the owner sets before each reading.
  @exclusivity(unchecked) private var bytes = unsafe UnsafeRawBufferPointer(start: nil, count: 0)
  var names: FieldTable
  /// Whether the fields come from a text, which writes ids, dates and bytes as strings.
  let isText: Bool
  /// The record's field numbers that have been asked for, if somebody wants to know; used in one call at a time.
  @exclusivity(unchecked) private var asked: Set<Int>?

  init(_ names: FieldTable, isText: Bool = false) {
    (self.names, self.isText) = (names, isText)
  }

  /// Reads a record from bytes that outlive the closure.
  func reading<Result>(_ record: RawSpan, _ body: (RecordInput) throws -> Result) throws -> Result {
    // The pointer is forgotten before the bytes end.
    try unsafe record.withUnsafeBytes { buffer in
      unsafe bytes = buffer
      defer { unsafe bytes = UnsafeRawBufferPointer(start: nil, count: 0) }
      return try body(self)
    }
  }

  /// Reads a record, and says which of its fields nobody asked for: pairs of a number and the range of the value.
  func readingWithRest<Result>(
    _ record: RawSpan, _ body: (RecordInput) throws -> Result
  ) throws -> (Result, rest: [(number: Int, value: Range<Int>)]) {
    unsafe asked = []
    defer { unsafe asked = nil }
    return try reading(record) { input in
      let result = try body(input)
      let rest = try fields().filter { unsafe asked?.contains($0.number) == false }
      return (result, rest)
    }
  }

  func noteAsked(_ number: Int) {
    if unsafe asked != nil { unsafe asked?.insert(number) }
  }

  /// Decodes a value that codes itself.
  @usableFromInline
  func decode<Value: Decodable>(_ type: Value.Type) throws -> Value {
    try Value(from: ValueDecoder(input: self, offset: 0, codingPath: []))
  }

  /// The fields of the record, by their numbers; none if it is no record of fields.
  func fields() throws -> [(number: Int, value: Range<Int>)] {
    let tag = try byte(at: 0)
    guard tag == ValueTag.keyed || tag == ValueTag.numbered else { return [] }
    var (fields, offset): ([(Int, Range<Int>)], Int) = ([], 1)
    while unsafe offset < bytes.count {
      let number = try Int(truncatingIfNeeded: varint(&offset))
      let end = try end(of: offset)
      fields.append((number, offset..<end))
      offset = end
    }
    return fields
  }
}

extension RecordInput {
  @inline(__always)
  func byte(at offset: Int) throws -> UInt8 {
    guard unsafe offset < bytes.count, offset >= 0 else { throw TallyError.cutOffRecord }
    // In bounds, by the check.
    return unsafe bytes[offset]
  }

  var byteCount: Int { unsafe bytes.count }

  @inline(__always)
  func varint(_ offset: inout Int) throws -> UInt64 {
    // Most numbers and lengths take one byte.
    let first = try byte(at: offset)
    guard first >= 0x80 else {
      offset += 1
      return UInt64(first)
    }
    return try longVarint(&offset)
  }

  private func longVarint(_ offset: inout Int) throws -> UInt64 {
    var (result, shift): (UInt64, UInt64) = (0, 0)
    while shift < 64 {
      let byte = try byte(at: offset)
      offset += 1
      result |= UInt64(byte & 0x7F) << shift
      if byte < 0x80 { return result }
      shift += 7
    }
    throw TallyError.cutOffRecord
  }

  private func fixed(_ offset: Int, as type: UInt64.Type) throws -> UInt64 {
    guard unsafe offset + 8 <= bytes.count else { throw TallyError.cutOffRecord }
    // In bounds, by the check; every bit pattern is a number.
    return UInt64(bigEndian: unsafe bytes.loadUnaligned(fromByteOffset: offset, as: UInt64.self))
  }

  func length(_ offset: Int) throws -> Int {
    guard unsafe offset + 4 <= bytes.count else { throw TallyError.cutOffRecord }
    // In bounds, by the check; every bit pattern is a number.
    return Int(UInt32(bigEndian: unsafe bytes.loadUnaligned(fromByteOffset: offset, as: UInt32.self)))
  }

  /// The end of the value at an offset.
  func end(of offset: Int) throws -> Int {
    var next = offset + 1
    switch try byte(at: offset) {
    case ValueTag.null, ValueTag.no, ValueTag.yes: break
    case ValueTag.int, ValueTag.uint: _ = try varint(&next)
    case ValueTag.double, ValueTag.date: next += 8
    case ValueTag.uuid: next += 16
    case ValueTag.string, ValueTag.bytes:
      let count = try varint(&next)
      guard count <= UInt64(byteCount) else { throw TallyError.cutOffRecord }
      next += Int(count)
    case ValueTag.named, ValueTag.list: next += 4 + (try length(next))
    default: throw TallyError.cutOffRecord
    }
    guard next <= byteCount else { throw TallyError.cutOffRecord }
    return next
  }

  /// Where the value of a numbered field begins: at `next`, where it is expected, or after a look at all fields.
  func value(ofField wanted: Int, near next: inout Int, from start: Int) throws -> Int? {
    var isWhole = next == start
    var offset = next
    while true {
      guard offset < byteCount else {
        if isWhole { return nil }
        (offset, isWhole) = (start, true)
        continue
      }
      let number = try Int(truncatingIfNeeded: varint(&offset))
      let end = try end(of: offset)
      if number == wanted {
        next = end
        return offset
      }
      offset = end
    }
  }

  func mismatch<Value>(_ type: Value.Type, _ path: [any CodingKey]) -> DecodingError {
    .typeMismatch(type, .init(codingPath: path, debugDescription: "the stored value has another form"))
  }

  func missing(_ key: any CodingKey, _ path: [any CodingKey] = []) -> DecodingError {
    .keyNotFound(key, .init(codingPath: path, debugDescription: "a stored record has no '\(key.stringValue)'"))
  }

  func integer<Number: FixedWidthInteger>(at offset: Int, _ path: @autoclosure () -> [any CodingKey] = []) throws
    -> Number
  {
    var next = offset + 1
    switch try byte(at: offset) {
    case ValueTag.int:
      let bits = try varint(&next)
      if let value = Number(exactly: Int64(bitPattern: bits >> 1) ^ -Int64(bitPattern: bits & 1)) { return value }
    case ValueTag.uint: if let value = Number(exactly: try varint(&next)) { return value }
    // Some programs write each number with a fraction or an exponent.
    case ValueTag.double where isText: if let value = Number(exactly: try double(at: offset, path())) { return value }
    default: break
    }
    throw mismatch(Number.self, path())
  }

  func string(at offset: Int, _ path: @autoclosure () -> [any CodingKey] = []) throws -> String {
    guard try byte(at: offset) == ValueTag.string else { throw mismatch(String.self, path()) }
    var next = offset + 1
    let count = try varint(&next)
    guard count <= UInt64(byteCount - next) else { throw TallyError.cutOffRecord }
    return try text(next..<(next + Int(count)))
  }

  func double(at offset: Int, _ path: @autoclosure () -> [any CodingKey] = []) throws -> Double {
    switch try byte(at: offset) {
    case ValueTag.double: Double(bitPattern: try fixed(offset + 1, as: UInt64.self))
    // A field may have been a whole number once.
    case ValueTag.int: Double(try integer(at: offset, path()) as Int64)
    case ValueTag.uint: Double(try integer(at: offset, path()) as UInt64)
    default: throw mismatch(Double.self, path())
    }
  }

  func float(at offset: Int, _ path: @autoclosure () -> [any CodingKey] = []) throws -> Float {
    let value = Float(try double(at: offset, path()))
    // A text has no infinity, so this one is a number that is too large.
    guard value.isFinite || !isText else { throw mismatch(Float.self, path()) }
    return value
  }

  func bool(at offset: Int, _ path: @autoclosure () -> [any CodingKey] = []) throws -> Bool {
    switch try byte(at: offset) {
    case ValueTag.no: false
    case ValueTag.yes: true
    default: throw mismatch(Bool.self, path())
    }
  }

  func date(at offset: Int, _ path: @autoclosure () -> [any CodingKey] = []) throws -> Date {
    if isText, let date = try Date(interchange: string(at: offset, path())) { return date }
    guard try byte(at: offset) == ValueTag.date else { throw mismatch(Date.self, path()) }
    return Date(timeIntervalSinceReferenceDate: Double(bitPattern: try fixed(offset + 1, as: UInt64.self)))
  }

  func uuid(at offset: Int, _ path: @autoclosure () -> [any CodingKey] = []) throws -> UUID {
    if isText, let id = try UUID(text: Array(string(at: offset, path()).utf8)) { return id }
    guard try byte(at: offset) == ValueTag.uuid else { throw mismatch(UUID.self, path()) }
    guard unsafe offset + 17 <= bytes.count else { throw TallyError.cutOffRecord }
    // In bounds, by the check; every bit pattern is an id.
    return UUID(uuid: unsafe bytes.loadUnaligned(fromByteOffset: offset + 1, as: uuid_t.self))
  }

  func data(at offset: Int, _ path: @autoclosure () -> [any CodingKey] = []) throws -> Data {
    if isText, let data = try Data(base64Encoded: string(at: offset, path())) { return data }
    guard try byte(at: offset) == ValueTag.bytes else { throw mismatch(Data.self, path()) }
    var next = offset + 1
    let count = try varint(&next)
    guard count <= UInt64(byteCount - next) else { throw TallyError.cutOffRecord }
    // In bounds, by the check; the data copies the bytes.
    return unsafe Data(bytes[next..<(next + Int(count))])
  }

  /// Reads a value: one of those with a form of their own, or whatever a type codes.
  ///
  /// A generic result that may be missing would cost a look-up of its type for each field.
  fileprivate func value<Value: Decodable>(at offset: Int, _ path: @autoclosure () -> [any CodingKey]) throws -> Value {
    if Value.self == Date.self { return typed(try date(at: offset, path()), as: Value.self) }
    if Value.self == UUID.self { return typed(try uuid(at: offset, path()), as: Value.self) }
    if Value.self == String.self { return typed(try string(at: offset, path()), as: Value.self) }
    if Value.self == Int.self { return typed(try integer(at: offset, path()) as Int, as: Value.self) }
    if Value.self == Bool.self { return typed(try bool(at: offset, path()), as: Value.self) }
    if Value.self == Double.self { return typed(try double(at: offset, path()), as: Value.self) }
    if Value.self == Data.self { return typed(try data(at: offset, path()), as: Value.self) }
    if Value.self == Float.self { return typed(try float(at: offset, path()), as: Value.self) }
    return try rarerValue(at: offset, path())
  }

  private func rarerValue<Value: Decodable>(
    at offset: Int, _ path: @autoclosure () -> [any CodingKey]
  ) throws -> Value {
    if Value.self == Int64.self { return typed(try integer(at: offset, path()) as Int64, as: Value.self) }
    if Value.self == Int32.self { return typed(try integer(at: offset, path()) as Int32, as: Value.self) }
    if Value.self == Int16.self { return typed(try integer(at: offset, path()) as Int16, as: Value.self) }
    if Value.self == Int8.self { return typed(try integer(at: offset, path()) as Int8, as: Value.self) }
    if Value.self == UInt.self { return typed(try integer(at: offset, path()) as UInt, as: Value.self) }
    if Value.self == UInt64.self { return typed(try integer(at: offset, path()) as UInt64, as: Value.self) }
    if Value.self == UInt32.self { return typed(try integer(at: offset, path()) as UInt32, as: Value.self) }
    if Value.self == UInt16.self { return typed(try integer(at: offset, path()) as UInt16, as: Value.self) }
    if Value.self == UInt8.self { return typed(try integer(at: offset, path()) as UInt8, as: Value.self) }
    return try Value(from: ValueDecoder(input: self, offset: offset, codingPath: path()))
  }

  /// A value as a type that is known to be its own.
  @inline(__always)
  private func typed<Value, Result>(_ value: Value, as type: Result.Type) -> Result {
    // The callers have compared the types.
    unsafe unsafeBitCast(value, to: Result.self)
  }
}

/// The decoder of a record, and of the values in it.
private struct ValueDecoder: Decoder, SingleValueDecodingContainer {
  let input: RecordInput
  let offset: Int
  let codingPath: [any CodingKey]

  var userInfo: [CodingUserInfoKey: Any] { [:] }

  func container<Key: CodingKey>(keyedBy type: Key.Type) throws -> KeyedDecodingContainer<Key> {
    let tag = try input.byte(at: offset)
    if tag == ValueTag.keyed, offset == 0 {
      return KeyedDecodingContainer(
        FieldDecoder(input, names: .byNumber, from: 1, to: input.byteCount, codingPath))
    }
    guard tag == ValueTag.named else { throw input.mismatch([String: Any].self, codingPath) }
    return KeyedDecodingContainer(
      FieldDecoder(input, names: .written, from: offset + 5, to: try input.end(of: offset), codingPath))
  }

  func unkeyedContainer() throws -> any UnkeyedDecodingContainer {
    guard try input.byte(at: offset) == ValueTag.list else { throw input.mismatch([Any].self, codingPath) }
    return ListDecoder(input: input, offset: offset + 5, end: try input.end(of: offset), codingPath: codingPath)
  }

  func singleValueContainer() -> any SingleValueDecodingContainer { self }

  func decodeNil() -> Bool { (try? input.byte(at: offset)) == ValueTag.null }

  func decode<Value: Decodable>(_ type: Value.Type) throws -> Value { try input.value(at: offset, codingPath) }
}

/// How the fields of a container name themselves.
private enum FieldNaming {
  case byNumber, written
}

/// Reads the fields of the record, or of a value in it.
private final class FieldDecoder<Key: CodingKey>: KeyedDecodingContainerProtocol {
  let input: RecordInput
  let naming: FieldNaming
  let start: Int
  let end: Int
  let codingPath: [any CodingKey]
  /// Where the next field is expected.
  private var next: Int

  init(_ input: RecordInput, names naming: FieldNaming, from start: Int, to end: Int, _ codingPath: [any CodingKey]) {
    (self.input, self.naming, self.start, self.end) = (input, naming, start, end)
    self.codingPath = codingPath
    next = start
  }

  /// Reads the name of the field at an offset, and moves the offset to its value.
  private func name(_ offset: inout Int) throws -> String {
    let number = try Int(truncatingIfNeeded: input.varint(&offset))
    if naming == .byNumber {
      guard input.names.names.indices.contains(number) else { throw TallyError.cutOffRecord }
      return input.names.names[number]
    }
    guard number <= end - offset, number >= 0 else { throw TallyError.cutOffRecord }
    defer { offset += number }
    return try input.text(offset..<(offset + number))
  }

  /// Where the value of a field begins; `nil` if there is none.
  private func find(_ key: some CodingKey) throws -> Int? {
    let wanted = key.stringValue
    if naming == .byNumber {
      if let offset = try findNext(wanted) { return offset }
      guard let number = input.names.knownNumber(ofExpected: wanted) else { return nil }
      input.noteAsked(number)
      return try input.value(ofField: number, near: &next, from: start)
    }
    var (offset, isWhole) = (next, next == start)
    while true {
      guard offset < end else {
        if isWhole { return nil }
        (offset, isWhole) = (start, true)
        continue
      }
      let name = try name(&offset)
      let after = try input.end(of: offset)
      if name == wanted {
        next = after
        return offset
      }
      offset = after
    }
  }

  /// Where the value of the field begins that is next, if it is the wanted one, as it mostly is.
  private func findNext(_ wanted: String) throws -> Int? {
    var offset = next
    guard offset < end else { return nil }
    let number = try Int(truncatingIfNeeded: input.varint(&offset))
    guard input.names.names.indices.contains(number), input.names.names[number] == wanted else { return nil }
    input.noteAsked(number)
    next = try input.end(of: offset)
    return offset
  }

  private func require(_ key: some CodingKey) throws -> Int {
    guard let offset = try find(key) else { throw input.missing(key, codingPath) }
    return offset
  }

  var allKeys: [Key] {
    var (keys, offset): ([Key], Int) = ([], start)
    while offset < end, let name = try? name(&offset) {
      if let key = Key(stringValue: name) { keys.append(key) }
      guard let next = try? input.end(of: offset) else { break }
      offset = next
    }
    return keys
  }

  func contains(_ key: Key) -> Bool { (try? find(key)) != nil }

  func decodeNil(forKey key: Key) throws -> Bool { try input.byte(at: require(key)) == ValueTag.null }

  func decode(_ type: String.Type, forKey key: Key) throws -> String {
    try input.string(at: require(key), codingPath + [key])
  }

  func decode(_ type: Int.Type, forKey key: Key) throws -> Int {
    try input.integer(at: require(key), codingPath + [key])
  }

  func decode(_ type: Bool.Type, forKey key: Key) throws -> Bool {
    try input.bool(at: require(key), codingPath + [key])
  }

  func decode(_ type: Double.Type, forKey key: Key) throws -> Double {
    try input.double(at: require(key), codingPath + [key])
  }

  func decode<Value: Decodable>(_ type: Value.Type, forKey key: Key) throws -> Value {
    try input.value(at: require(key), codingPath + [key])
  }

  func decodeIfPresent<Value: Decodable>(_ type: Value.Type, forKey key: Key) throws -> Value? {
    guard let offset = try find(key), try input.byte(at: offset) != ValueTag.null else { return nil }
    return try input.value(at: offset, codingPath + [key])
  }

  private func decoder(_ key: some CodingKey) throws -> ValueDecoder {
    ValueDecoder(input: input, offset: try require(key), codingPath: codingPath + [key])
  }

  func nestedContainer<Nested: CodingKey>(
    keyedBy type: Nested.Type, forKey key: Key
  ) throws -> KeyedDecodingContainer<Nested> {
    try decoder(key).container(keyedBy: type)
  }

  func nestedUnkeyedContainer(forKey key: Key) throws -> any UnkeyedDecodingContainer {
    try decoder(key).unkeyedContainer()
  }

  func superDecoder() throws -> any Decoder { try decoder(SuperKey()) }

  func superDecoder(forKey key: Key) throws -> any Decoder { try decoder(key) }
}

extension FieldTable {
  /// The number of a name, found without hashing where the names are few.
  fileprivate func knownNumber(ofExpected name: String) -> Int? {
    names.count <= 12 ? names.firstIndex(of: name) : knownNumber(of: name)
  }
}

extension RecordInput {
  func text(_ range: Range<Int>) throws -> String {
    guard range.upperBound <= byteCount else { throw TallyError.cutOffRecord }
    // In bounds, by the check; the string copies the bytes.
    let text = unsafe UnsafeRawBufferPointer(rebasing: bytes[range]).bytes.wellFormedText
    guard let text else { throw TallyError.cutOffRecord }
    return text
  }
}

/// Reads values in their order.
private struct ListDecoder: UnkeyedDecodingContainer {
  let input: RecordInput
  var offset: Int
  let end: Int
  let codingPath: [any CodingKey]
  var currentIndex = 0

  init(input: RecordInput, offset: Int, end: Int, codingPath: [any CodingKey]) {
    (self.input, self.offset, self.end, self.codingPath) = (input, offset, end, codingPath)
  }

  /// Unknown without a walk, which nobody needs.
  var count: Int? { nil }
  var isAtEnd: Bool { offset >= end }

  private mutating func next() throws -> ValueDecoder {
    guard !isAtEnd else {
      throw DecodingError.valueNotFound(
        Any.self, .init(codingPath: codingPath, debugDescription: "a stored list ends before this value"))
    }
    let value = ValueDecoder(input: input, offset: offset, codingPath: codingPath)
    (offset, currentIndex) = (try input.end(of: offset), currentIndex + 1)
    return value
  }

  mutating func decodeNil() throws -> Bool {
    guard !isAtEnd, try input.byte(at: offset) == ValueTag.null else { return false }
    (offset, currentIndex) = (offset + 1, currentIndex + 1)
    return true
  }

  mutating func decode<Value: Decodable>(_ type: Value.Type) throws -> Value { try next().decode(type) }

  mutating func nestedContainer<Nested: CodingKey>(keyedBy type: Nested.Type) throws -> KeyedDecodingContainer<Nested> {
    try next().container(keyedBy: type)
  }

  mutating func nestedUnkeyedContainer() throws -> any UnkeyedDecodingContainer { try next().unkeyedContainer() }

  mutating func superDecoder() throws -> any Decoder { try next() }
}
