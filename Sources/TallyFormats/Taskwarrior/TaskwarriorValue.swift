internal import Tally

/// A value of a Taskwarrior task.
enum TaskwarriorValue: Equatable {
  case text(String)
  case integer(Int64)
  case real(Double)
  /// Any other JSON, such as the array of annotations, as compact text.
  case json(String)

  var text: String? { if case .text(let text) = self { text } else { nil } }
}

extension JSONReader {
  /// Reads a value; `nil` for `null`.
  mutating func readTaskwarriorValue() throws -> TaskwarriorValue? {
    switch try next() {
    case .string: return .text(String(decoding: text, as: UTF8.self))
    case .integer(let number): return .integer(number)
    case .double(let number): return .real(number)
    case .null: return nil
    case let token: return .json(try json(beginningWith: token))
    }
  }

  /// The value that begins with a token, as JSON.
  mutating func json(beginningWith token: Token) throws -> String {
    var writer = JSONWriter(layout: .compact)
    try copyValue(beginningWith: token, to: &writer)
    return String(decoding: writer.takeBytes(), as: UTF8.self)
  }

  /// Copies the value that begins with a token, however deep.
  private mutating func copyValue(beginningWith first: Token, to writer: inout JSONWriter) throws {
    var depth = 0
    var token = first
    while true {
      switch token {
      case .beginObject, .beginArray:
        depth += 1
        if token == .beginObject { writer.beginObject() } else { writer.beginArray() }
      case .endObject, .endArray:
        depth -= 1
        if token == .endObject { writer.endObject() } else { writer.endArray() }
      case .key: writer.key(String(decoding: text, as: UTF8.self))
      case .string: writer.value(.text(String(decoding: text, as: UTF8.self)))
      case .integer(let number): writer.value(.integer(number))
      case .double(let number): writer.value(real: number)
      case .boolean(let isTrue): writer.value(isTrue)
      case .null: writer.null()
      case .end: return
      }
      if depth == 0 { return }
      token = try next()
    }
  }
}
