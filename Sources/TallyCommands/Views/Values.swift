import ArgumentParser
import Tally

/// `tally values`: the values that applications keep in the store.
struct ValuesCommand: SessionCommand {
  static let configuration = CommandConfiguration(
    "values", "Show the values that applications keep beside the tasks.", usage: "[<namespace>]",
    discussion: """
      Without a namespace, shows the namespaces with their number of values and their size. With one, shows its keys in \
      order, with their values where these are text. Keys that are not text are shown in hexadecimal.

      With --plain, a line has these columns: \(ValueNamespace.columns.joined(separator: ", ")); with a namespace \
      \(StoredValue.columns.joined(separator: ", ")).
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
    try session.answer(
      ["namespace": .text(namespace), "values": .array(values.map(\.facts))],
      plain: .records([("values", StoredValue.columns)])
    ) {
      for value in values { try session.output.write(value.line(session)) }
    }
  }

  private func showNamespaces(in session: Session) throws {
    let namespaces = try session.read { try $0.valueNamespaces() }
    try session.answer("namespaces", namespaces.map(\.facts), columns: ValueNamespace.columns) {
      for namespace in namespaces {
        let size = "\(namespace.count.counted("value")), \(Int64(namespace.sizeInBytes).inBytes)"
        try session.output.write("  \(namespace.name.escapedForDisplay())  \(session.painter.paint(size, .detail))\n")
      }
    }
    if namespaces.isEmpty { session.hint("No application keeps values in this store.") }
  }
}

extension ValueNamespace {
  static let columns = ["name", "count", "sizeInBytes"]

  var facts: Facts { ["name": .text(name), "count": .count(count), "sizeInBytes": .count(sizeInBytes)] }
}

extension StoredValue {
  static let columns = ["key", "sizeInBytes", "text"]

  /// The value, if it is text.
  var text: String? { String(validating: bytes, as: UTF8.self) }

  fileprivate var facts: Facts {
    [
      "key": .text(key.shownText), "isHexadecimal": .flag(!key.isText), "sizeInBytes": .count(bytes.count),
      "text": .text(text),
    ]
  }

  /// The key and the value, for people.
  fileprivate func line(_ session: Session) -> String {
    let key = key.shownText.escapedForDisplay()
    let room = (session.width ?? .max) - key.count - 4
    let text = text.map { $0.escapedForDisplay().truncated(toWidth: max(8, room)) }
    return "  \(key)  \(text ?? session.painter.paint(Int64(bytes.count).inBytes, .detail))\n"
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
