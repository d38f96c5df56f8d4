/// Writes JSON on one line with keys in the order of the calls.
///
/// `JSONEncoder` fixes no order but the alphabet's, and needs the whole value in memory.
struct JSONOutput {
  private var bytes: [UInt8] = []
  /// Whether the value to come is the first in its array or object.
  private var isFirst = true

  /// How much waits to be taken.
  var byteCount: Int { bytes.count }

  /// Takes what has been written since the last time, so that a long answer need not be kept whole.
  mutating func takeBytes() -> [UInt8] {
    defer { bytes.removeAll(keepingCapacity: true) }
    return bytes
  }

  /// Takes what has been written as a text.
  mutating func takeText() -> String {
    String(decoding: takeBytes(), as: UTF8.self)
  }
}

extension JSONOutput {
  mutating func object(_ body: (inout JSONOutput) throws -> Void) rethrows {
    try container("{", "}", body)
  }

  mutating func object(_ key: String, _ body: (inout JSONOutput) throws -> Void) rethrows {
    name(key)
    try container("{", "}", body)
  }

  mutating func array(_ key: String, _ body: (inout JSONOutput) throws -> Void) rethrows {
    name(key)
    try container("[", "]", body)
  }

  mutating func member(_ key: String, _ value: String?) {
    name(key)
    if let value { string(value) } else { raw("null") }
  }

  mutating func member(_ key: String, _ value: Int64?) {
    name(key)
    raw(value.map(String.init) ?? "null")
  }

  mutating func member(_ key: String, _ value: Int) {
    member(key, Int64(value))
  }

  mutating func member(_ key: String, _ value: Bool) {
    name(key)
    raw(value ? "true" : "false")
  }

  /// A text as an element of an array.
  mutating func element(_ value: String) {
    separate()
    string(value)
  }

  /// An object as an element of an array.
  mutating func element(_ body: (inout JSONOutput) throws -> Void) rethrows {
    separate()
    try container("{", "}", body)
  }
}

extension JSONOutput {
  /// Begins an object as an element of an array, for objects whose end is not known yet.
  mutating func beginObject() {
    separate()
    raw("{")
    isFirst = true
  }

  mutating func endObject() {
    raw("}")
    isFirst = false
  }

  mutating func beginArray(_ key: String) {
    name(key)
    raw("[")
    isFirst = true
  }

  mutating func endArray() {
    raw("]")
    isFirst = false
  }
}

extension JSONOutput {
  private mutating func raw(_ text: String) {
    bytes.append(contentsOf: text.utf8)
  }

  private mutating func separate() {
    if !isFirst { bytes.append(UInt8(ascii: ",")) }
    isFirst = false
  }

  private mutating func name(_ key: String) {
    separate()
    string(key)
    bytes.append(UInt8(ascii: ":"))
  }

  private mutating func container(
    _ opening: String,
    _ closing: String,
    _ body: (inout JSONOutput) throws -> Void
  ) rethrows {
    raw(opening)
    isFirst = true
    try body(&self)
    raw(closing)
    isFirst = false
  }

  private mutating func string(_ value: String) {
    bytes.append(UInt8(ascii: "\""))
    let isPlain = value.utf8.allSatisfy { byte in
      byte >= 0x20 && byte < 0x7F && byte != UInt8(ascii: "\"") && byte != UInt8(ascii: "\\")
    }
    if isPlain {
      bytes.append(contentsOf: value.utf8)
    } else {
      for scalar in value.unicodeScalars { append(scalar) }
    }
    bytes.append(UInt8(ascii: "\""))
  }

  /// Escapes also what JSON allows to stand but a terminal would obey; a reader gets the same text back.
  private mutating func append(_ scalar: Unicode.Scalar) {
    switch scalar {
    case "\"": raw("\\\"")
    case "\\": raw("\\\\")
    case "\n": raw("\\n")
    case "\r": raw("\\r")
    case "\t": raw("\\t")
    case _ where scalar.drivesOrHides:
      for unit in UTF16.encode(scalar).map(Array.init) ?? [] {
        let digits = String(unit, radix: 16)
        raw("\\u" + String(repeating: "0", count: 4 - digits.count) + digits)
      }
    default:
      for byte in UTF8.encode(scalar).map(Array.init) ?? [] { bytes.append(byte) }
    }
  }
}
