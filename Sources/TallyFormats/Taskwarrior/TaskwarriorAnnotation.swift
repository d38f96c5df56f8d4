internal import Tally

/// The annotations of a Taskwarrior task, which are its notes: an array of objects with an entry and a description.
enum TaskwarriorAnnotation {
  /// The descriptions, each on lines of its own; `nil` for JSON that is not an array of annotations, or an empty one.
  static func notes(_ array: String) -> String? {
    guard let all = read(array), !all.isEmpty else { return nil }
    return all.map(\.description).joined(separator: "\n")
  }

  /// Whether an array is what `array(_:at:)` makes, so that the notes alone bring it back.
  static func isPlain(_ array: String, at entry: String?) -> Bool {
    guard let all = read(array) else { return false }
    return all.count == 1 && all[0].entry == entry
  }

  /// One annotation with a text.
  static func array(_ notes: String, at entry: String?) -> String {
    var writer = JSONWriter(layout: .compact)
    writer.beginArray()
    writer.beginObject()
    writer.key("entry" as StaticString)
    writer.value(.text(entry ?? "19800101T000000Z"))
    writer.key("description" as StaticString)
    writer.value(.text(notes))
    writer.endObject()
    writer.endArray()
    return String(decoding: writer.takeBytes(), as: UTF8.self)
  }

  private static func read(_ array: String) -> [(entry: String, description: String)]? {
    var reader = JSONReader(JSONInput(text: array))
    var all: [(entry: String, description: String)] = []
    do {
      guard try reader.next() == .beginArray else { return nil }
      while try reader.next() == .beginObject {
        var values: [String: String] = [:]
        while try reader.next() == .key {
          let name = String(decoding: reader.text, as: UTF8.self)
          values[name] = try reader.readTaskwarriorValue()?.text
        }
        guard let entry = values["entry"], let description = values["description"] else { return nil }
        all.append((entry, description))
      }
      return all
    } catch {
      return nil
    }
  }
}
