import Foundation
import TallyTestSupport
import Testing

@testable import Tally

/// The documentation of the format, compared with the format.
struct ExportFormatTests {
  @Test func theExamplesAreWhatIsExported() throws {
    let document = try example("json")
    let clock = TestClock(try Timestamp(iso8601: "2026-11-21T12:00:00Z"))
    try withStore(.testing(clock: clock)) { (store: TaskStore) throws in
      try store.importText(document)
      #expect(try store.exportedText() == document)
      #expect(try store.exportedText(.ndjson) == example("ndjson"))
    }
  }

  @Test func everyKeyIsExplainedAndInTheSchemaInOrder() throws {
    let text = try contents(of: "Sources/Tally/Tally.docc/ExportFormat.md")
    let schema = try JSONSerialization.jsonObject(with: Data(try contents(of: "Schemas/export.schema.json").utf8))
    let definitions = (schema as? [String: Any])?["$defs"] as? [String: Any]
    let keys: [(definition: String, keys: [String])] = [
      ("task", TaskField.all.map(\.text)), ("list", ListDocument.Key.allCases.map(\.rawValue)),
      ("completion", CompletionDocument.Key.allCases.map(\.rawValue)),
      ("savedFilter", FilterDocument.Key.allCases.map(\.rawValue)),
    ]
    for (name, keys) in keys {
      let definition = try #require(definitions?[name] as? [String: Any])
      let required = keys.filter { key in TaskField.all.first { $0.text == key }?.isAlwaysWritten ?? true }
      #expect(definition["required"] as? [String] == required, "\(name)")
      #expect((definition["properties"] as? [String: Any])?.keys.sorted() == keys.sorted(), "\(name)")
      #expect(definition["additionalProperties"] as? Bool == false, "\(name)")
      for key in keys { #expect(text.contains("`\(key)`"), "\(name)") }
    }
  }

  /// The text of the fence with a language.
  private func example(_ language: String) throws -> String {
    let parts = try contents(of: "Sources/Tally/Tally.docc/ExportFormat.md").components(separatedBy: "```")
    let fence = try #require(parts.first { $0.hasPrefix(language + "\n") })
    return String(fence.dropFirst(language.count + 1))
  }

  private func contents(of path: String) throws -> String {
    let root = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../../..")
    return try String(contentsOf: root.appending(path: path), encoding: .utf8)
  }
}
