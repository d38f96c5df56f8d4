public import Foundation

/// The output to which a record writes its fields.
public final class RecordOutput {
  @usableFromInline var bytes: [UInt8] = []
  /// The names of the collection's fields, to which this record may add some.
  var names = FieldTable()
  /// The number of the name that is expected next: records of one type have their fields in one order.
  private var expected = 0
  /// The open containers below the record's own: where each begins.
  fileprivate var open: [Int] = []
  fileprivate var path: [any CodingKey] = []
  /// The first failure of a call that cannot throw.
  private var failure: (any Error)?
  /// A number below 1 that a `BinaryRecord` has given a field.
  var refusedNumber: Int?

  @usableFromInline
  init() {}

  /// Prepares for the next record of the same collection.
  func reset(keepingNames names: FieldTable? = nil) {
    bytes.removeAll(keepingCapacity: true)
    if let names { self.names = names }
    expected = 0
  }

  /// Writes a value that codes itself.
  @usableFromInline
  func encode(_ value: some Encodable) throws {
    (expected, open, failure) = (0, [], nil)
    let start = bytes.count
    try value.encode(to: ValueEncoder(output: self, depth: 0))
    if bytes.count == start { bytes.append(ValueTag.keyed) }
    closeContainers(below: 0)
    if let failure { throw failure }
  }

  fileprivate func noting(_ body: () throws -> Void) {
    do { try body() } catch { failure = failure ?? error }
  }

  fileprivate func appendNumber(of key: some CodingKey) {
    let name = key.stringValue
    var number = expected
    if expected >= names.names.count || names.names[expected] != name { number = names.number(of: name) }
    expected = number + 1
    bytes.append(varint: UInt64(number))
  }

  fileprivate func appendName(of key: some CodingKey) {
    let name = key.stringValue
    bytes.append(varint: UInt64(name.utf8.count))
    bytes += Array(name.utf8)
  }

  /// Begins a container inside the record: its tag, and room for its length.
  fileprivate func beginContainer(_ tag: UInt8) -> Int {
    bytes.append(tag)
    bytes += [0, 0, 0, 0]
    open.append(bytes.count)
    return open.count
  }

  /// Ends the containers that are deeper than another one, by writing their lengths.
  fileprivate func closeContainers(below depth: Int) {
    while open.count > depth {
      let start = open.removeLast()
      let length = UInt32(bytes.count - start)
      for index in 0..<4 { bytes[start - 4 + index] = UInt8(truncatingIfNeeded: length >> UInt32(24 - 8 * index)) }
    }
  }

  @usableFromInline
  func append(_ value: String) {
    bytes.append(ValueTag.string)
    var text = value
    // Read within the closure only.
    text.withUTF8 {
      bytes.append(varint: UInt64($0.count))
      unsafe bytes.append(contentsOf: $0)
    }
  }

  @usableFromInline
  func append(integer value: some FixedWidthInteger) {
    if let number = Int64(exactly: value) {
      bytes.append(ValueTag.int)
      bytes.append(varint: UInt64(bitPattern: number << 1 ^ number >> 63))
    } else {
      bytes.append(ValueTag.uint)
      bytes.append(varint: UInt64(truncatingIfNeeded: value))
    }
  }

  @usableFromInline
  func append(_ value: Double, tag: UInt8) {
    bytes.append(tag)
    value.bitPattern.appendKey(to: &bytes)
  }

  @usableFromInline
  func append(_ id: UUID) {
    bytes.append(ValueTag.uuid)
    id.appendKey(to: &bytes)
  }

  @usableFromInline
  func append(_ data: Data) {
    bytes.append(ValueTag.bytes)
    bytes.append(varint: UInt64(data.count))
    bytes.append(contentsOf: data)
  }

  /// Writes a value: one of those with a form of their own, or whatever a type codes.
  fileprivate func append<Value: Encodable>(value: Value, _ depth: Int, _ key: (any CodingKey)? = nil) throws {
    if append(plain: value) || append(otherInteger: value) { return }
    // The path is for errors, and only values that code themselves throw any.
    if let key { path.append(key) }
    defer { if key != nil { path.removeLast() } }
    let start = bytes.count
    try value.encode(to: ValueEncoder(output: self, depth: depth))
    if bytes.count == start { _ = beginContainer(ValueTag.named) }
    closeContainers(below: depth - 1)
  }

  @inline(__always)
  private func append<Value: Encodable>(plain value: Value) -> Bool {
    if let value = same(value, as: String.self) {
      append(value)
    } else if let value = same(value, as: Int.self) {
      append(integer: value)
    } else if let value = same(value, as: Bool.self) {
      bytes.append(value ? ValueTag.yes : ValueTag.no)
    } else if let value = same(value, as: Double.self) {
      append(value, tag: ValueTag.double)
    } else if let value = same(value, as: Date.self) {
      append(value.timeIntervalSinceReferenceDate, tag: ValueTag.date)
    } else if let value = same(value, as: UUID.self) {
      append(value)
    } else if let value = same(value, as: Data.self) {
      append(value)
    } else if let value = same(value, as: Float.self) {
      append(Double(value), tag: ValueTag.double)
    } else {
      return false
    }
    return true
  }

  private func append<Value: Encodable>(otherInteger value: Value) -> Bool {
    if let value = same(value, as: Int64.self) {
      append(integer: value)
    } else if let value = same(value, as: Int32.self) {
      append(integer: value)
    } else if let value = same(value, as: Int16.self) {
      append(integer: value)
    } else if let value = same(value, as: Int8.self) {
      append(integer: value)
    } else if let value = same(value, as: UInt.self) {
      append(integer: value)
    } else if let value = same(value, as: UInt64.self) {
      append(integer: value)
    } else if let value = same(value, as: UInt32.self) {
      append(integer: value)
    } else if let value = same(value, as: UInt16.self) {
      append(integer: value)
    } else if let value = same(value, as: UInt8.self) {
      append(integer: value)
    } else {
      return false
    }
    return true
  }
}

/// A value as another type, if the two types are the same; a cast would take longer than the rest.
@inline(__always)
func same<Value, Other>(_ value: Value, as type: Other.Type) -> Other? {
  // The types are equal.
  Value.self == Other.self ? unsafe unsafeBitCast(value, to: Other.self) : nil
}

/// The encoder of a record, and of the values in it.
private struct ValueEncoder: Encoder, SingleValueEncodingContainer {
  let output: RecordOutput
  /// How many containers are around the value; zero for the record itself.
  let depth: Int

  var codingPath: [any CodingKey] { output.path }
  var userInfo: [CodingUserInfoKey: Any] { [:] }

  func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedEncodingContainer<Key> {
    guard depth > 0 else {
      output.bytes.append(ValueTag.keyed)
      return KeyedEncodingContainer(FieldEncoder(output: output, depth: 0))
    }
    return KeyedEncodingContainer(FieldEncoder(output: output, depth: output.beginContainer(ValueTag.named)))
  }

  func unkeyedContainer() -> any UnkeyedEncodingContainer {
    ListEncoder(output: output, depth: output.beginContainer(ValueTag.list))
  }

  func singleValueContainer() -> any SingleValueEncodingContainer { self }

  func encodeNil() { output.bytes.append(ValueTag.null) }

  func encode<Value: Encodable>(_ value: Value) throws { try output.append(value: value, output.open.count + 1) }
}

extension RecordOutput {
  /// Checks that a container may be written to: containers are written one after the other.
  fileprivate func resume(at depth: Int) throws {
    guard open.count >= depth else {
      throw EncodingError.invalidValue(
        "", .init(codingPath: path, debugDescription: "a container was written to after another one had followed it"))
    }
    closeContainers(below: depth)
  }
}

/// Writes the fields of the record, or of a value in it.
private struct FieldEncoder<Key: CodingKey>: KeyedEncodingContainerProtocol {
  let output: RecordOutput
  /// How many containers are open with this one; zero for the record.
  let depth: Int

  var codingPath: [any CodingKey] { output.path }

  private func begin(_ key: some CodingKey) throws {
    try output.resume(at: depth)
    if depth == 0 { output.appendNumber(of: key) } else { output.appendName(of: key) }
  }

  func encodeNil(forKey key: Key) throws {
    try begin(key)
    output.bytes.append(ValueTag.null)
  }

  func encode<Value: Encodable>(_ value: Value, forKey key: Key) throws {
    try begin(key)
    try output.append(value: value, depth + 1, key)
  }

  func nestedContainer<Nested: CodingKey>(
    keyedBy type: Nested.Type, forKey key: Key
  ) -> KeyedEncodingContainer<Nested> {
    output.noting { try begin(key) }
    return KeyedEncodingContainer(FieldEncoder<Nested>(output: output, depth: output.beginContainer(ValueTag.named)))
  }

  func nestedUnkeyedContainer(forKey key: Key) -> any UnkeyedEncodingContainer {
    output.noting { try begin(key) }
    return ListEncoder(output: output, depth: output.beginContainer(ValueTag.list))
  }

  func superEncoder() -> any Encoder { superEncoder(named: SuperKey()) }

  func superEncoder(forKey key: Key) -> any Encoder { superEncoder(named: key) }

  private func superEncoder(named key: some CodingKey) -> any Encoder {
    output.noting { try begin(key) }
    return ValueEncoder(output: output, depth: depth + 1)
  }
}

/// Writes values in their order.
private struct ListEncoder: UnkeyedEncodingContainer {
  let output: RecordOutput
  let depth: Int
  var count = 0

  init(output: RecordOutput, depth: Int) {
    (self.output, self.depth) = (output, depth)
  }

  var codingPath: [any CodingKey] { output.path }

  mutating func encodeNil() throws {
    try output.resume(at: depth)
    output.bytes.append(ValueTag.null)
    count += 1
  }

  mutating func encode<Value: Encodable>(_ value: Value) throws {
    try output.resume(at: depth)
    try output.append(value: value, depth + 1)
    count += 1
  }

  mutating func nestedContainer<Nested: CodingKey>(keyedBy type: Nested.Type) -> KeyedEncodingContainer<Nested> {
    output.noting { try output.resume(at: depth) }
    count += 1
    return KeyedEncodingContainer(FieldEncoder<Nested>(output: output, depth: output.beginContainer(ValueTag.named)))
  }

  mutating func nestedUnkeyedContainer() -> any UnkeyedEncodingContainer {
    output.noting { try output.resume(at: depth) }
    count += 1
    return ListEncoder(output: output, depth: output.beginContainer(ValueTag.list))
  }

  mutating func superEncoder() -> any Encoder {
    output.noting { try output.resume(at: depth) }
    count += 1
    return ValueEncoder(output: output, depth: depth + 1)
  }
}

/// The key of what a superclass codes.
struct SuperKey: CodingKey {
  init() {}
  init?(stringValue: String) { nil }
  init?(intValue: Int) { nil }
  var stringValue: String { "super" }
  var intValue: Int? { nil }
}
