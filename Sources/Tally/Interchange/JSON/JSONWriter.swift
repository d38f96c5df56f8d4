package import Foundation
package import SystemPackage

/// Writes JSON value by value into bytes that can be passed on at any time.
///
/// Keys come in the order in which they are written, so equal input gives equal bytes. Nothing is allocated per value,
/// as an export writes millions. `JSONEncoder` was not taken: it holds the whole document, and its order of keys is
/// either alphabetical or not fixed.
///
/// The caller keeps the grammar: a key before each value of an object, and an end for each beginning.
package struct JSONWriter: ~Copyable {
  /// How the document looks.
  package enum Layout: Sendable {
    /// Two spaces a level, each value on its line.
    case pretty
    /// No white space at all.
    case compact
  }

  /// What has been written since the last flush.
  package private(set) var bytes: [UInt8] = []

  private let layout: Layout
  private var depth = 0
  /// Whether a comma must come before the next key or value.
  private var needsComma = false
  /// Whether the next value follows its key, on the same line.
  private var isAfterKey = false

  /// Makes a writer with nothing written.
  package init(layout: Layout) {
    self.layout = layout
  }

  /// Takes everything written so far out of the writer.
  package mutating func takeBytes() -> [UInt8] {
    defer { bytes = [] }
    return bytes
  }

  /// Writes everything so far to a file, and forgets it.
  package mutating func flush(to output: FileDescriptor) throws {
    try output.writeAll(bytes)
    bytes.removeAll(keepingCapacity: true)
  }

  /// Ends a line.
  package mutating func lineFeed() {
    bytes.append(UInt8(ascii: "\n"))
    needsComma = false
  }
}

extension JSONWriter {
  /// Begins an object.
  package mutating func beginObject() {
    begin(UInt8(ascii: "{"))
  }

  /// Ends an object.
  package mutating func endObject() {
    end(UInt8(ascii: "}"))
  }

  /// Begins an array.
  package mutating func beginArray() {
    begin(UInt8(ascii: "["))
  }

  /// Ends an array.
  package mutating func endArray() {
    end(UInt8(ascii: "]"))
  }

  /// Writes a key, which must not need escapes.
  package mutating func key(_ name: StaticString) {
    beginEntry()
    bytes.append(UInt8(ascii: "\""))
    append(name)
    append(layout == .pretty ? "\": " : "\":")
    isAfterKey = true
  }

  private mutating func begin(_ bracket: UInt8) {
    beginEntry()
    bytes.append(bracket)
    depth += 1
    needsComma = false
  }

  private mutating func end(_ bracket: UInt8) {
    depth -= 1
    // An empty container closes on its line.
    if needsComma { beginLine() }
    bytes.append(bracket)
    needsComma = true
  }

  /// Puts what must stand before a key or a value.
  private mutating func beginEntry() {
    if isAfterKey {
      isAfterKey = false
      return
    }
    if needsComma { bytes.append(UInt8(ascii: ",")) }
    if depth > 0 { beginLine() }
    needsComma = true
  }

  private mutating func beginLine() {
    guard layout == .pretty else { return }
    bytes.append(UInt8(ascii: "\n"))
    bytes.appendBlanks(2 * depth)
  }

  private mutating func append(_ text: StaticString) {
    // The pointer is used within the call only.
    text.withUTF8Buffer { unsafe bytes.append(contentsOf: $0) }
  }
}

extension JSONWriter {
  /// Writes a text, or `null`.
  package mutating func value(_ text: String?) {
    guard let text else { return null() }
    beginEntry()
    bytes.append(UInt8(ascii: "\""))
    appendEscaped(text.utf8.span)
    bytes.append(UInt8(ascii: "\""))
  }

  /// Writes an integer, or `null`.
  package mutating func value(_ number: Int64?) {
    guard let number else { return null() }
    beginEntry()
    bytes.append(decimal: number)
  }

  /// Writes `true` or `false`.
  package mutating func value(_ isTrue: Bool) {
    beginEntry()
    append(isTrue ? "true" : "false")
  }

  /// Writes a UUID in lower case, or `null`.
  package mutating func value(_ id: UUID?) {
    guard let id else { return null() }
    quoted { $0.append(id) }
  }

  /// Writes an instant in UTC, or `null`.
  package mutating func value(_ instant: Timestamp?) {
    guard let instant else { return null() }
    quoted { instant.append(to: &$0) }
  }

  /// Writes an instant with its offset, or `null`.
  package mutating func value(_ instant: OffsetTimestamp?) {
    guard let instant else { return null() }
    quoted { instant.append(to: &$0) }
  }

  /// Writes a day, or `null`.
  package mutating func value(_ day: CalendarDay?) {
    guard let day else { return null() }
    quoted { day.append(to: &$0) }
  }

  /// Writes `null`.
  package mutating func null() {
    beginEntry()
    append("null")
  }

  private mutating func quoted(_ write: (inout [UInt8]) -> Void) {
    beginEntry()
    bytes.append(UInt8(ascii: "\""))
    write(&bytes)
    bytes.append(UInt8(ascii: "\""))
  }

  /// Escapes what JSON demands and nothing else: quotes, backslashes and control characters.
  private mutating func appendEscaped(_ text: Span<UInt8>) {
    var start = 0
    for index in text.indices where Self.mustBeEscaped(text[index]) {
      append(text.extracting(start..<index))
      appendEscape(of: text[index])
      start = index + 1
    }
    append(text.extracting(start..<text.count))
  }

  private static func mustBeEscaped(_ byte: UInt8) -> Bool {
    byte < 0x20 || byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\")
  }

  private mutating func append(_ text: Span<UInt8>) {
    // The pointer is used within the call only; an array has no safe way to append a span.
    unsafe text.withUnsafeBufferPointer { unsafe bytes.append(contentsOf: $0) }
  }

  private mutating func appendEscape(of byte: UInt8) {
    bytes.append(UInt8(ascii: "\\"))
    switch byte {
    case UInt8(ascii: "\""), UInt8(ascii: "\\"): bytes.append(byte)
    case 0x08: bytes.append(UInt8(ascii: "b"))
    case 0x09: bytes.append(UInt8(ascii: "t"))
    case 0x0A: bytes.append(UInt8(ascii: "n"))
    case 0x0C: bytes.append(UInt8(ascii: "f"))
    case 0x0D: bytes.append(UInt8(ascii: "r"))
    default:
      append("u00")
      bytes.append(hex: byte)
    }
  }
}
