import Foundation

/// `Schemas/storage-v2.json`, as used by a reader of a store's bytes that shares no code with Tally.
struct StorageSchema: Decodable {
  struct Table: Decodable {
    let name: String
    let key: Key
    let value: String
  }

  /// Absent from most stores.
  struct OptionalTable: Decodable {
    let name: String
    let key: String
    let value: String
  }

  struct Key: Decodable {
    let constant: String?
    let size: Int?
    let fields: [Field]?
    /// What a key is that is not made of fields.
    let about: String?
  }

  struct Field: Decodable {
    let name: String
    let offset: Int
    let size: Int
    let type: String
    let enumeration: String?
    let bits: String?
    let presentIf: String?
    let constant: Int?
    let reserved: Bool?
    /// Whether the value may end before it.
    let isOptional: Bool?
  }

  struct Text: Decodable {
    let name: String
    let sizeField: String
    let presentIf: String?
  }

  /// A field behind the texts: a text, or fields at offsets of the value.
  struct Tagged: Decodable {
    let tag: UInt8
    let text: String?
    let fields: [Field]?
    /// The name of a value that repeats the same parts.
    let name: String?
    let repeated: [Part]?
  }

  /// A number of some bytes, or as many bytes as a number before it says.
  struct Part: Decodable {
    let name: String
    let size: Int?
    let sizedBy: String?
    let isText: Bool?
    let enumeration: String?
  }

  struct Counts: Decodable {
    let name: String
    let number: Int
    let sizeField: String
    let namedUnless: String
  }

  struct Images: Decodable {
    let name: String
    let fields: [Field]
    let instantUnless: [String]
    let sizeIf: String
  }

  struct Record: Decodable {
    let headSize: Int
    let fields: [Field]
    let texts: [Text]
    let tagged: [Tagged]?
    let counts: Counts?
    let images: Images?
  }

  let majorFormat: Int
  let minorFormat: Int
  let types: [String: String]
  let enumerations: [String: [String: Int]]
  let optionalTables: [OptionalTable]
  let tables: [Table]
  let records: [String: Record]

  static func load() throws -> StorageSchema {
    let file = URL(fileURLWithPath: #filePath).appendingPathComponent("../../../../Schemas/storage-v2.json")
    return try JSONDecoder().decode(StorageSchema.self, from: Data(contentsOf: file.standardizedFileURL))
  }
}

/// The fields of a key or a record by name, as texts; those that are absent are left out.
typealias Row = [String: String]

/// Reads bytes by the schema alone, without Tally's code.
struct SchemaDecoder {
  let schema: StorageSchema

  struct Mismatch: Error {
    let description: String
  }

  func key(_ bytes: [UInt8], of table: StorageSchema.Table) throws -> Row {
    if let constant = table.key.constant {
      guard bytes == Array(constant.utf8) else { throw Mismatch(description: "the key of \(table.name)") }
      return [:]
    }
    if table.key.about != nil { return ["key": bytes.map { String(format: "%02x", $0) }.joined()] }
    guard bytes.count == table.key.size else { throw Mismatch(description: "the width of \(table.name)") }
    return try fields(table.key.fields ?? [], of: bytes)
  }

  func value(_ bytes: [UInt8], of table: StorageSchema.Table) throws -> Row {
    if table.value == "bytes" { return ["value": bytes.map { String(format: "%02x", $0) }.joined()] }
    if table.value == "text" { return ["text": String(decoding: bytes, as: UTF8.self)] }
    guard let record = schema.records[table.value] else {
      guard bytes.isEmpty, table.value == "empty" else { throw Mismatch(description: "a value in \(table.name)") }
      return [:]
    }
    guard bytes.count >= record.headSize else { throw Mismatch(description: "a short \(table.value)") }
    var row = try fields(record.fields, of: bytes)
    var offset = record.headSize
    for text in record.texts {
      guard let size = row.removeValue(forKey: text.sizeField).flatMap({ Int($0) }), offset + size <= bytes.count else {
        throw Mismatch(description: "the size of \(text.name)")
      }
      if isPresent(text.presentIf, in: row) {
        row[text.name] = String(validating: bytes[offset..<(offset + size)], as: UTF8.self)
      }
      offset += size
    }
    if let tagged = record.tagged { try read(tagged, from: bytes, at: &offset, into: &row) }
    if let counts = record.counts { offset += try read(counts, from: Array(bytes[offset...]), into: &row) }
    if let images = record.images {
      guard row.removeValue(forKey: "fieldsSize") == "0" else { throw Mismatch(description: "the fields of an entry") }
      row[images.name] = try self.images(images, of: Array(bytes[offset...]))
      offset = bytes.count
    }
    guard offset == bytes.count else { throw Mismatch(description: "bytes behind a \(table.value)") }
    return row
  }

  /// Reads fields in ascending order of their tags, up to the end.
  private func read(
    _ known: [StorageSchema.Tagged], from bytes: [UInt8], at offset: inout Int, into row: inout Row
  ) throws {
    var last: UInt8 = 0
    while offset < bytes.count {
      let (tag, size) = (bytes[offset], Int(bytes[offset + 1]))
      guard tag > last, size < 255, offset + 2 + size <= bytes.count else { throw Mismatch(description: "tag \(tag)") }
      guard let field = known.first(where: { $0.tag == tag }) else { throw Mismatch(description: "tag \(tag)") }
      let value = Array(bytes[(offset + 2)..<(offset + 2 + size)])
      if let name = field.name { row[name] = try repeated(field.repeated ?? [], in: value[...]) }
      if let name = field.text { row[name] = String(validating: value, as: UTF8.self) }
      row.merge(try fields(field.fields ?? [], of: value)) { first, _ in first }
      (last, offset) = (tag, offset + 2 + size)
    }
  }

  /// Reads parts that repeat: those of one element are joined by colons, the elements by blanks.
  private func repeated(_ parts: [StorageSchema.Part], in bytes: ArraySlice<UInt8>) throws -> String {
    var (rest, elements) = (bytes, [String]())
    while !rest.isEmpty {
      var (numbers, texts) = ([String: Int](), [String]())
      for part in parts {
        let size = part.size ?? part.sizedBy.flatMap { numbers[$0] } ?? 0
        guard rest.count >= size else { throw Mismatch(description: "the size of \(part.name)") }
        let value = rest.prefix(size)
        rest = rest.dropFirst(size)
        let isSize = parts.contains { $0.sizedBy == part.name }
        if isSize || part.enumeration != nil { numbers[part.name] = value.reduce(0) { $0 << 8 | Int($1) } }
        if let enumeration = part.enumeration, let number = numbers[part.name] {
          texts.append(schema.enumerations[enumeration]?.first { $0.value == number }?.key ?? "?")
        } else if part.isText == true {
          texts.append(String(decoding: value, as: UTF8.self))
        } else if !isSize {
          texts.append(value.map { String(format: "%02x", $0) }.joined())
        }
      }
      elements.append(texts.joined(separator: ":"))
    }
    return elements.joined(separator: " ")
  }

  /// Reads counts as `slot:count`, and returns their size in bytes.
  private func read(_ counts: StorageSchema.Counts, from bytes: [UInt8], into row: inout Row) throws -> Int {
    guard let size = row.removeValue(forKey: counts.sizeField).flatMap({ Int($0) }) else {
      throw Mismatch(description: "the size of \(counts.name)")
    }
    var offset = 0
    var indices = Array(0..<counts.number)
    if row.removeValue(forKey: counts.namedUnless) != "yes" {
      let number = bytes.count / (2 + size)
      offset = 2 * number
      indices = (0..<number).map { Int(bytes[2 * $0]) << 8 | Int(bytes[2 * $0 + 1]) }
    }
    row[counts.name] = indices.map { index in
      defer { offset += size }
      return "\(index):\(bytes[offset..<(offset + size)].reduce(0) { $0 << 8 | Int($1) })"
    }.joined(separator: " ")
    return offset
  }

  /// Reads images as `kind id`, with `@instant` and the number of bytes of the record where there are such.
  private func images(_ images: StorageSchema.Images, of bytes: [UInt8]) throws -> String {
    var texts: [String] = []
    var rest = bytes[...]
    while !rest.isEmpty {
      let row = try fields(images.fields, of: Array(rest))
      rest = rest.dropFirst(images.fields.reduce(0) { $0 + $1.size })
      var text = "\(row["kind"] ?? "") \(row["id"] ?? "")"
      if !images.instantUnless.contains(row["kind"] ?? "") {
        let unsigned = rest.prefix(8).reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
        text += " @\(Int64(truncatingIfNeeded: unsigned ^ (1 << 63)))"
        rest = rest.dropFirst(8)
      }
      if row[images.sizeIf] == "yes" {
        let size = rest.prefix(4).reduce(0) { $0 << 8 | Int($1) }
        text += " \(size)"
        guard rest.count >= 4 + size else { throw Mismatch(description: "the size of an image") }
        rest = rest.dropFirst(4 + size)
      }
      texts.append(text)
    }
    return texts.joined(separator: ", ")
  }

  private func fields(_ fields: [StorageSchema.Field], of bytes: [UInt8]) throws -> Row {
    var row: Row = [:]
    for field in fields where field.isOptional != true || field.offset + field.size <= bytes.count {
      row[field.name] = try text(of: field, bytes: Array(bytes[field.offset..<(field.offset + field.size)]))
    }
    // Absent values are zero.
    for field in fields where !isPresent(field.presentIf, in: row) || field.reserved == true {
      guard bytes[field.offset..<(field.offset + field.size)].allSatisfy({ $0 == 0 || $0 == 0x80 }) else {
        throw Mismatch(description: "the absent \(field.name) is not zero")
      }
      row[field.name] = nil
    }
    return row
  }

  /// Whether a presence bit, or a flag of that name, is set.
  private func isPresent(_ name: String?, in row: Row) -> Bool {
    guard let name else { return true }
    return row[name] == "yes" || row["presence"]?.split(separator: " ").contains(Substring(name)) ?? false
  }

  private func text(of field: StorageSchema.Field, bytes: [UInt8]) throws -> String {
    let unsigned = bytes.prefix(8).reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
    if let constant = field.constant, unsigned != UInt64(constant) {
      throw Mismatch(description: "\(field.name) is \(unsigned)")
    }
    if let enumeration = field.enumeration {
      guard let name = schema.enumerations[enumeration]?.first(where: { $0.value == Int(unsigned) })?.key else {
        throw Mismatch(description: "\(unsigned) is not a \(enumeration)")
      }
      return name
    }
    if let bits = field.bits {
      let names = schema.enumerations[bits, default: [:]].filter { unsigned & UInt64($0.value) != 0 }
      return names.sorted { $0.value < $1.value }.map(\.key).joined(separator: " ")
    }
    return try text(ofType: field.type, bytes: bytes, unsigned: unsigned)
  }

  private func text(ofType type: String, bytes: [UInt8], unsigned: UInt64) throws -> String {
    let hexadecimal = bytes.map { String(format: "%02x", $0) }.joined()
    return switch (type, bytes.count) {
    case ("uint8", 1), ("uint16", 2), ("uint32", 4), ("uint64", 8): "\(unsigned)"
    case ("int16", 2): "\(Int16(truncatingIfNeeded: unsigned))"
    case ("orderedInt32", 4): "\(Int64(unsigned) - (1 << 31))"
    case ("orderedInt64", 8): "\(Int64(truncatingIfNeeded: unsigned ^ (1 << 63)))"
    case ("flag", 1): unsigned == 0 ? "no" : "yes"
    case ("id", 16): hexadecimal
    case ("reversedID", 16): String(hexadecimal.reversed())
    case ("color", 3): hexadecimal.uppercased()
    default: throw Mismatch(description: "\(bytes.count) bytes are not a \(type)")
    }
  }
}
