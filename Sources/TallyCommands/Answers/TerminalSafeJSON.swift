import Tally

/// JSON in which nothing drives a terminal.
///
/// JSON allows DEL, the control characters from U+0080 on and those that turn the reading direction unescaped, and so
/// does the writer, whose exports go into files. Standard output may be read on a terminal. Outside texts a JSON document
/// is ASCII, so the characters can be escaped wherever they occur; a reader gets the same texts.
enum TerminalSafeJSON {
  /// Writes one JSON value on one line.
  static func line(_ write: (inout JSONWriter) throws -> Void) rethrows -> [UInt8] {
    var json = JSONWriter(layout: .compact)
    try write(&json)
    json.lineFeed()
    return bytes(json.takeBytes())
  }

  /// The document with such characters escaped.
  static func bytes(_ document: [UInt8]) -> [UInt8] {
    // Most documents are ASCII, and the largest byte is found many at a time.
    guard document.reduce(0, max) >= 0x7F else { return document }
    var result: [UInt8] = []
    result.reserveCapacity(document.count)
    for scalar in String(decoding: document, as: UTF8.self).unicodeScalars {
      if scalar.value >= 0x7F, scalar.drivesOrHides {
        for unit in String(scalar).utf16 {
          let digits = String(unit, radix: 16)
          result += "\\u\(String(repeating: "0", count: 4 - digits.count))\(digits)".utf8
        }
      } else {
        result += String(scalar).utf8
      }
    }
    return result
  }
}
