import Tally

/// The values of one namespace, for `tally values`.
struct NamespaceReport {
  static let columns = ["name", "count", "sizeInBytes"]
  static let valueColumns = ["key", "sizeInBytes", "text"]

  let name: String
  let values: [StoredValue]

  var facts: Facts {
    ["namespace": .text(name), "values": .array(values.map(\.facts))]
  }

  func text(painter: Painter, width: Int?) -> String {
    values.map { value in
      let key = value.key.shownText.escapedForDisplay()
      let size = Int64(value.bytes.count).inBytes
      let room = (width ?? .max) - key.count - 4
      let text = value.text.map { $0.escapedForDisplay().truncated(toWidth: max(8, room)) }
      return "  \(key)  \(text ?? painter.paint(size, .detail))\n"
    }.joined()
  }
}

extension ValueNamespace {
  var facts: Facts { ["name": .text(name), "count": .count(count), "sizeInBytes": .count(sizeInBytes)] }
}

extension StoredValue {
  /// The value, if it is text.
  var text: String? { String(validating: bytes, as: UTF8.self) }

  fileprivate var facts: Facts {
    [
      "key": .text(key.shownText), "isHexadecimal": .flag(!key.isText), "sizeInBytes": .count(bytes.count),
      "text": .text(text),
    ]
  }
}

extension ValueKey {
  /// Whether the key is text without control characters.
  var isText: Bool {
    String(validating: bytes, as: UTF8.self)?.unicodeScalars.contains { $0.properties.generalCategory == .control }
      == false
  }

  /// The key as text, or in hexadecimal.
  var shownText: String {
    isText
      ? String(decoding: bytes, as: UTF8.self) : bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
  }
}
