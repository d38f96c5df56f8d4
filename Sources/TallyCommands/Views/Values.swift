import ArgumentParser
import Tally

/// `tally values`: the values that applications keep in the store.
struct ValuesCommand: SessionCommand {
  static let configuration = CommandConfiguration(
    "values", "Show the values that applications keep beside the tasks.", usage: "[<namespace>]",
    discussion: """
      Without a namespace, shows the namespaces with their number of values and their size. With one, shows its keys in \
      order, with their values where these are text. Keys that are not text are shown in hexadecimal.

      With --plain, a line has these columns: \(NamespaceReport.columns.joined(separator: ", ")); with a namespace \
      \(NamespaceReport.valueColumns.joined(separator: ", ")).
      """)

  @Argument(help: "The namespace whose values to show.")
  var namespace: String?

  func run(in session: Session) throws {
    guard let namespace else { return try showNamespaces(in: session) }
    let values = try session.read { try $0.values(in: namespace) }
    guard !values.isEmpty else {
      throw CommandFailure(
        .notFound, code: "namespaceNotFound", "There are no values in '\(namespace.escapedForDisplay())'",
        remedy: "List them with 'tally values'")
    }
    let report = NamespaceReport(name: namespace, values: values)
    try session.answer(report.facts, plain: .records([("values", NamespaceReport.valueColumns)])) {
      try session.output.write(report.text(painter: session.painter, width: session.width))
    }
  }

  private func showNamespaces(in session: Session) throws {
    let namespaces = try session.read { try $0.valueNamespaces() }
    try session.answer("namespaces", namespaces.map(\.facts), columns: NamespaceReport.columns) {
      for namespace in namespaces {
        let size = "\(namespace.count.counted("value")), \(Int64(namespace.sizeInBytes).inBytes)"
        try session.output.write("  \(namespace.name.escapedForDisplay())  \(session.painter.paint(size, .detail))\n")
      }
    }
    if namespaces.isEmpty { session.hint("No application keeps values in this store.") }
  }
}

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
