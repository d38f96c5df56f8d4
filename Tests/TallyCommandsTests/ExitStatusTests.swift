import Foundation
import Tally
import Testing

@testable import TallyCommands

struct ExitStatusTests {
  @Test func everyCodeOfTheLibraryHasItsStatus() throws {
    let source = URL(filePath: #filePath).deletingLastPathComponent()
      .appending(path: "../../Sources/Tally/Model/TallyError+Code.swift")
    let text = try String(contentsOf: source, encoding: .utf8)
    let names = text.matches(of: /public static let (\w+) = Code/).map { String($0.1) }
    #expect(names.count > 20)
    #expect(Set(names) == Set(ExitStatus.byCode.keys.map(\.description)))
  }

  @Test func errorWithAPositionIsAboutAFile() {
    let typed = TallyError(.blankTitle, "x", remedy: "y")
    let imported = TallyError(.blankTitle, "x", remedy: "y", at: TextPosition(line: 3, column: 7))
    #expect(ExitStatus(for: typed) == .usage)
    #expect(ExitStatus(for: imported) == .badData)
    #expect(CommandFailure(imported).message.contains("line 3, column 7"))
  }

  @Test func failureForAProgramIsOneObject() throws {
    let failure = CommandFailure.usage("No \"x\"\u{1B}", remedy: "Do y")
    let object = try #require(
      try JSONSerialization.jsonObject(with: Data(failure.json)) as? [String: [String: String]]
    )
    #expect(object == ["error": ["code": "usage", "message": "No \"x\"\u{1B}", "remedy": "Do y"]])
    #expect(!failure.json.contains(0x1B))
  }
}
