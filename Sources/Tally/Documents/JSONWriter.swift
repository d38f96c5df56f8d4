internal import Foundation
import TallyEngine

/// Writes JSON value by value into bytes that can be passed on at any time.
///
/// Keys appear in the order in which they are written, so equal input gives equal bytes. Nothing is allocated for each
/// value, because an export writes millions. `JSONEncoder` is not used because it holds the whole document, and its
/// order of keys is either alphabetical or undefined.
///
/// The caller must follow the grammar: a key before each value of an object, and an end for each beginning.
package struct JSONWriter: ~Copyable {
  /// The layout of the document.
  package enum Layout: Sendable {
    /// Indented by two spaces per level, with each value on its own line.
    case pretty
    /// Without any white space.
    case compact
  }

  /// The bytes written since the last flush.
  package internal(set) var bytes: [UInt8] = []

  private let layout: Layout
  private var depth = 0
  /// Whether the next key or value needs a comma before it.
  private var needsComma = false
  /// The key of the next value, which is written together with it.
  private var pendingKey: StaticString?
  /// Whether the key of the next value has been written already.
  private var isAfterKey = false

  /// Creates an empty writer.
  package init(layout: Layout) {
    self.layout = layout
  }

  /// Returns everything written so far, and empties the writer.
  package mutating func takeBytes() -> [UInt8] {
    defer { bytes = [] }
    return bytes
  }

  /// Ends a line.
  package mutating func lineFeed() {
    bytes.append(UInt8(ascii: "\n"))
    needsComma = false
  }
}

extension JSONWriter {
  /// Begins an object.
  package mutating func beginObject() { begin(UInt8(ascii: "{")) }

  /// Ends an object.
  package mutating func endObject() { end(UInt8(ascii: "}")) }

  /// Begins an array.
  package mutating func beginArray() { begin(UInt8(ascii: "[")) }

  /// Begins an array that has a key.
  package mutating func beginArray(_ name: StaticString) {
    key(name)
    beginArray()
  }

  /// Ends an array.
  package mutating func endArray() { end(UInt8(ascii: "]")) }

  /// Writes a key that needs no escapes.
  package mutating func key(_ name: StaticString) {
    assert(depth > 0 && pendingKey == nil, "a key outside an object, or two keys in a row")
    pendingKey = name
  }

  /// Writes a key that may need escapes.
  package mutating func key(_ name: String) {
    assert(depth > 0 && pendingKey == nil && !isAfterKey, "a key outside an object, or two keys in a row")
    value(name.utf8.span)
    bytes.append(UInt8(ascii: ":"))
    if layout == .pretty { bytes.append(UInt8(ascii: " ")) }
    isAfterKey = true
  }

  private mutating func begin(_ bracket: UInt8) {
    entry(ofAtMost: 1) { $0.append(bracket) }
    depth += 1
    needsComma = false
  }

  private mutating func end(_ bracket: UInt8) {
    assert(depth > 0 && pendingKey == nil, "an end without a beginning, or a key without a value")
    depth -= 1
    // The end of an empty container stays on the same line.
    let indent = needsComma ? lineIndent : nil
    bytes.append(addingCapacity: 2 + (indent ?? 0)) { output in
      if let indent { output.beginLine(indent: indent) }
      output.append(bracket)
    }
    needsComma = true
  }

  /// Writes a value, with its key and everything else before it, into memory that is reserved once.
  private mutating func entry(ofAtMost byteCount: Int, _ write: (inout OutputSpan<UInt8>) -> Void) {
    let (key, hasComma) = (pendingKey, needsComma && !isAfterKey)
    let indent = depth == 0 || isAfterKey ? nil : lineIndent
    let leadByteCount = 2 + (indent ?? 0) + (key.map { $0.utf8CodeUnitCount + 4 } ?? 0)
    bytes.append(addingCapacity: leadByteCount + byteCount) { output in
      if hasComma { output.append(UInt8(ascii: ",")) }
      if let indent { output.beginLine(indent: indent) }
      if let key { output.append(key: key, isSpaced: indent != nil) }
      write(&output)
    }
    pendingKey = nil
    isAfterKey = false
    needsComma = true
  }

  /// The indentation of a line; `nil` in the compact layout.
  private var lineIndent: Int? { layout == .pretty ? 2 * depth : nil }
}

extension OutputSpan<UInt8> {
  @_lifetime(self: copy self)
  fileprivate mutating func beginLine(indent: Int) {
    append(UInt8(ascii: "\n"))
    append(repeating: UInt8(ascii: " "), count: indent)
  }

  @_lifetime(self: copy self)
  fileprivate mutating func append(key: StaticString, isSpaced: Bool) {
    append(UInt8(ascii: "\""))
    append(key)
    append(UInt8(ascii: "\""))
    append(UInt8(ascii: ":"))
    if isSpaced { append(UInt8(ascii: " ")) }
  }
}

extension JSONWriter {
  /// Writes the value of a field, or `null`.
  package mutating func value(_ field: FieldValue?) {
    switch field {
    case .text(let text)?: value(text.utf8.span)
    case .state(let state)?: value(state.name.utf8.span)
    case .integer(let number)?: entry(ofAtMost: 20) { $0.append(decimal: number) }
    case .instant(let instant)?: quoted(Timestamp.textByteCount) { instant.append(to: &$0) }
    case .offsetInstant(let instant)?: quoted(OffsetTimestamp.textByteCount) { instant.append(to: &$0) }
    case .day(let day)?: quoted(CalendarDay.textByteCount) { day.append(to: &$0) }
    case .id(let id)?: quoted(UUID.textByteCount) { $0.append(id) }
    case .priority(let priority)?: value(priority.name.utf8.span)
    case .tags(let tags)?: value(tags)
    case .recurrence(let recurrence)?: value(recurrence.text.utf8.span)
    case .series(let series)?: value(series)
    case .attributes(let attributes)?: value(attributes)
    case .ids(let ids)?: value(ids)
    case .reminders(let reminders)?: value(reminders)
    case .flag(let isTrue)?: value(isTrue)
    case nil: null()
    }
  }

  /// Writes a text given as UTF-8.
  mutating func value(_ text: Span<UInt8>) {
    let plain = text.countOfPlainBytes(from: 0)
    entry(ofAtMost: plain + 2) { output in
      output.append(UInt8(ascii: "\""))
      output.append(copying: text.extracting(0..<plain))
      if plain == text.count { output.append(UInt8(ascii: "\"")) }
    }
    if plain < text.count { appendEscaped(text, from: plain) }
  }

  /// Writes a finite number with a fraction or an exponent.
  package mutating func value(real number: Double) {
    value(json: number.description)
  }

  /// Writes a value that is JSON already.
  package mutating func value(json text: String) {
    entry(ofAtMost: text.utf8.count) { output in
      for byte in text.utf8 { output.append(byte) }
    }
  }

  /// Writes `true` or `false`.
  package mutating func value(_ isTrue: Bool) {
    entry(ofAtMost: 5) { $0.append(isTrue ? "true" : "false") }
  }

  /// Writes `null`.
  package mutating func null() {
    entry(ofAtMost: 4) { $0.append("null") }
  }

  private mutating func quoted(_ byteCount: Int, _ write: (inout OutputSpan<UInt8>) -> Void) {
    entry(ofAtMost: byteCount + 2) { output in
      output.append(UInt8(ascii: "\""))
      write(&output)
      output.append(UInt8(ascii: "\""))
    }
  }

  /// Appends the rest of a text, beginning with a byte that needs an escape, and its closing quote.
  private mutating func appendEscaped(_ text: Span<UInt8>, from start: Int) {
    var index = start
    while index < text.count {
      let byte = text[index]
      let plain = text.countOfPlainBytes(from: index + 1)
      let range = index + 1..<index + 1 + plain
      bytes.append(addingCapacity: plain + 6) { output in
        output.append(escaped: byte)
        output.append(copying: text.extracting(range))
      }
      index = range.upperBound
    }
    bytes.append(UInt8(ascii: "\""))
  }
}
