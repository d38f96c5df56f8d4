/// The fields of a stored record by their names, for turning a record of an older version into one of this version.
///
/// ```swift
/// Collection<Workout>("workouts", version: 2) { bySport } upgrade: { fields, version in
///   if version < 2 { fields.rename("kind", to: "sport"); try fields.set("notes", to: "") }
/// }
/// ```
///
/// The fields of a ``BinaryRecord`` have their numbers as names, such as `3`.
public struct RecordFields {
  private var fields: [(name: String, value: [UInt8])] = []
  private let isNumbered: Bool

  /// Reads the fields of a record.
  init(_ record: RawSpan, _ names: FieldTable) throws {
    let input = RecordInput(names)
    isNumbered = record.byteCount > 0 && record.load(bigEndianAt: 0, as: UInt8.self) == ValueTag.numbered
    fields = try input.reading(record) { input in
      try input.fields().map { number, range in
        guard isNumbered || names.names.indices.contains(number) else { throw TallyError.cutOffRecord }
        return (isNumbered ? "\(number)" : names.names[number], record.extracting(range).bytes(from: 0))
      }
    }
  }

  /// The names of the fields.
  public var names: [String] { fields.map(\.name) }

  /// Whether the record has a field.
  public func contains(_ name: String) -> Bool { fields.contains { $0.name == name } }

  /// Gives a field another name; does nothing if there is none.
  public mutating func rename(_ name: String, to newName: String) {
    guard let index = fields.firstIndex(where: { $0.name == name }) else { return }
    remove(newName)
    fields[index].name = newName
  }

  /// Removes a field; does nothing if there is none.
  public mutating func remove(_ name: String) {
    fields.removeAll { $0.name == name }
  }

  /// Sets a field to a value.
  ///
  /// - Throws: what encoding the value throws.
  public mutating func set(_ name: String, to value: some Encodable) throws {
    let output = RecordOutput()
    try output.encode(FieldValue(value))
    let index = fields.firstIndex { $0.name == name }
    // The container of one field is a byte, the field's number is another.
    let bytes = Array(output.bytes.dropFirst(2))
    if let index { fields[index].value = bytes } else { fields.append((name, bytes)) }
  }

  /// The value of a field; `nil` if there is none.
  ///
  /// - Throws: `DecodingError` if it is of another type.
  public func value<Value: Decodable>(_ name: String, as type: Value.Type = Value.self) throws -> Value? {
    guard let field = fields.first(where: { $0.name == name }) else { return nil }
    var names = FieldTable()
    _ = names.number(of: FieldValue<Value>.name)
    let bytes = [ValueTag.keyed, 0] + field.value
    // Unsafe by signature only: bytes have no padding.
    return try unsafe RecordInput(names).reading(bytes.span.bytes) { try $0.decode(FieldValue<Value>.self).value }
  }

  /// The record in its stored form; new names get numbers in the table.
  func encoded(_ names: inout FieldTable) throws(TallyError) -> [UInt8] {
    var bytes = [isNumbered ? ValueTag.numbered : ValueTag.keyed]
    for field in fields {
      let number = isNumbered ? Int(field.name) : names.number(of: field.name)
      guard let number, number >= 0 else {
        throw TallyError(
          .invalidValue, "An upgrade gave a field without a number to a record whose fields have numbers",
          remedy: "Name the field by its number")
      }
      bytes.append(varint: UInt64(number))
      bytes += field.value
    }
    return bytes
  }
}

/// One field, to code a value as records do.
private struct FieldValue<Value> {
  static var name: String { "value" }
  let value: Value

  init(_ value: Value) {
    self.value = value
  }

  enum CodingKeys: String, CodingKey { case value }
}

extension FieldValue: Encodable where Value: Encodable {}
extension FieldValue: Decodable where Value: Decodable {}
