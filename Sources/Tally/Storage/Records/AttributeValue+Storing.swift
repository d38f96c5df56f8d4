import LMDB
import TallyEngine

// The stored form of attributes, in the order of the names' bytes:
//
//     2  bytes of the name
//        the name
//     1  kind of the value, see `kindRawValue`
//     4  bytes of the value
//        the value

extension FieldValue {

  @_lifetime(output: copy output)
  static func store(_ attributes: [String: AttributeValue], into output: inout OutputRawSpan) {
    for (name, value) in attributes.inOrder {
      output.append(bigEndian: UInt16(name.utf8.count))
      name.encode(into: &output)
      output.append(value.kindRawValue)
      output.append(bigEndian: UInt32(value.storedByteCount))
      value.store(into: &output)
    }
  }

  static func attributes(stored bytes: RawSpan) throws(LMDBError) -> [String: AttributeValue] {
    var reader = StoredParts(bytes)
    var attributes: [String: AttributeValue] = [:]
    while !reader.isAtEnd {
      let name = try reader.text(byteCount: Int(try reader.number(as: UInt16.self)))
      let kind = try reader.number(as: UInt8.self)
      let size = Int(try reader.number(as: UInt32.self))
      attributes[name] = try AttributeValue(kindRawValue: kind, try reader.part(byteCount: size))
    }
    return attributes
  }
}

extension [String: AttributeValue] {
  /// The attributes in the order of their names' bytes.
  var inOrder: [(key: String, value: AttributeValue)] {
    sorted { $0.key.utf8.lexicographicallyPrecedes($1.key.utf8) }
  }
}

extension AttributeValue {
  /// Stored: do not change.
  fileprivate var kindRawValue: UInt8 {
    switch self {
    case .text: 1
    case .integer: 2
    case .real: 3
    case .flag: 4
    case .instant: 5
    case .day: 6
    case .bytes: 7
    }
  }

  @_lifetime(output: copy output)
  fileprivate func store(into output: inout OutputRawSpan) {
    switch self {
    case .text(let text): text.encode(into: &output)
    case .integer(let number): output.append(ordered: number)
    case .real(let number): output.append(bigEndian: number.bitPattern)
    case .flag(let isTrue): output.append(isTrue ? 1 : 0)
    case .instant(let instant): output.append(ordered: instant.microsecondsSince1970)
    case .day(let day): output.append(ordered: day.dayNumber)
    case .bytes(let bytes): bytes.encode(into: &output)
    }
  }

  fileprivate init(kindRawValue: UInt8, _ bytes: RawSpan) throws(LMDBError) {
    switch kindRawValue {
    case 1:
      guard bytes.isWellFormedText else { throw .undecodable("a text of a task record is not UTF-8") }
      self = .text(bytes.text)
    case 2: self = .integer(try bytes.storedInteger())
    case 3: self = .real(Double(bitPattern: UInt64(bitPattern: try bytes.storedInteger()) ^ (1 << 63)))
    case 4 where bytes.byteCount == 1: self = .flag(bytes.load(bigEndianAt: 0, as: UInt8.self) != 0)
    case 5: self = .instant(try bytes.storedInstant())
    case 6: self = .day(try bytes.storedDay())
    case 7: self = .bytes(bytes.bytes(from: 0))
    default: throw .undecodable("an attribute of a task record has the unknown kind \(kindRawValue)")
    }
  }
}

extension AttributeValue {
  /// Reads the attribute of a task that has a name; `nil` if there is none.
  init?(named name: String, in stored: RawSpan) throws(LMDBError) {
    var parts = StoredParts(stored)
    while !parts.isAtEnd {
      let nameSize = Int(try parts.number(as: UInt16.self))
      let isWanted = try parts.part(byteCount: nameSize).isEqual(to: name)
      let kind = try parts.number(as: UInt8.self)
      let value = try parts.part(byteCount: Int(try parts.number(as: UInt32.self)))
      guard isWanted else { continue }
      try self.init(kindRawValue: kind, value)
      return
    }
    return nil
  }
}

extension RawSpan {
  /// Whether the bytes are a text that is equal to another text by Unicode's equivalence.
  fileprivate func isEqual(to text: String) -> Bool {
    guard isASCII else { return self.text == text }
    // The buffer is only read within the closure.
    return unsafe withUnsafeBytes { unsafe $0.elementsEqual(text.utf8) }
  }
}
